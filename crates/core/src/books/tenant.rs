//! Tenants of a partition and their settings. Only their queues and limits count their usage. Source: tenants §1, §4,
//! decision page 28.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::config::tenant::{OnLower, Oversized, TenantMapping, TenantSubject, WaitingPolicy};
use crate::config::{TenantDefaults, TenantSettings};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::resource::Amounts;

use super::Meter;

/// One tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Tenant {
    /// Settings of the tenant.
    pub settings: Arc<TenantSettings>,
    /// Version of the settings. Every change of the settings raises it, and nothing else does.
    pub version: u64,
    /// Whether it accepts no tasks, and is removed after its last task ends.
    pub draining: bool,
}

/// Tenants of a partition.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Tenants {
    rows: OrderedMap<Name, Tenant>,
    defaults: Arc<TenantDefaults>,
    /// Number of changes of the defaults. 0 if they were never set.
    defaults_version: u64,
    /// Largest version of any removed tenant. A new tenant with the same name gets a larger version, so that clients do
    /// not confuse both.
    gone: u64,
    /// Tenants by parent and name. The parent is empty for a top tenant. Derived from the rows.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    below: OrderedMap<(Name, Name), ()>,
    /// Queues in which tenants are limits, with their number. Derived from the rows.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    shared: BTreeMap<Name, BTreeMap<TenantSubject, Name>>,
    /// Usage over time of the tasks of each tenant, without its descendants. Only for tenants with a task that ran.
    #[cfg_attr(feature = "snapshot", serde(default))]
    meters: OrderedMap<Name, Arc<Meter>>,
}

impl Tenants {
    /// Largest number of tenants of a partition, so that a client cannot exhaust memory with new tenants.
    pub const MAX: usize = 65_536;

    /// Largest number of levels of tenants. Each level adds a check to every start in its subtree.
    pub const LEVELS_MAX: usize = 8;

    /// Returns a tenant.
    pub fn get(&self, tenant: &str) -> Option<&Tenant> {
        self.rows.get(tenant)
    }

    /// Returns all tenants, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Tenant)> {
        self.rows.iter()
    }

    /// Returns the number of tenants.
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no tenants.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the defaults for tenants that do not set a value of their own.
    pub fn defaults(&self) -> &TenantDefaults {
        &self.defaults
    }

    /// Returns the number of changes of the defaults. 0 if they were never set.
    pub const fn defaults_version(&self) -> u64 {
        self.defaults_version
    }

    /// Returns the children of a tenant, in the order of their names. With `None`, returns the top tenants.
    pub fn below(&self, above: Option<&Name>) -> impl Iterator<Item = &Name> {
        let above = above.cloned().unwrap_or_default();
        let from = (above.clone(), Name::default());
        self.below
            .iter_from(&from)
            .map(|((of, name), ())| (of, name))
            .map_while(move |(of, name)| (*of == above).then_some(name))
    }

    /// Returns whether a tenant has children.
    pub fn has_below(&self, tenant: &Name) -> bool {
        self.below(Some(tenant)).next().is_some()
    }

    /// Returns a tenant and its ancestors.
    pub fn up<'all>(
        &'all self,
        tenant: &'all Name,
    ) -> impl Iterator<Item = (&'all Name, &'all Tenant)> {
        let mut next = Some(tenant);
        core::iter::from_fn(move || {
            let name = next?;
            let row = self.rows.get(&**name)?;
            next = row.settings.parent.as_ref();
            Some((name, row))
        })
    }

    /// Returns a tenant and its descendants, parents before children.
    pub fn with_below(&self, tenant: &Name) -> Vec<Name> {
        let mut all = alloc::vec![tenant.clone()];
        let mut at = 0;
        while let Some(name) = all.get(at).cloned() {
            all.extend(self.below(Some(&name)).cloned());
            at += 1;
        }
        all
    }

    /// Returns the path of the queue of a tenant, if it has one.
    pub fn path_of(&self, root: &Name, tenant: &Name) -> Option<Name> {
        let row = self.get(tenant)?;
        if row.settings.mapping != TenantMapping::Queue {
            return None;
        }
        let mut levels: Vec<&Name> = self.up(tenant).map(|(name, _)| name).collect();
        levels.reverse();
        let path = levels.iter().fold(format!("{root}"), |path, level| format!("{path}.{level}"));
        Some(Name::from(path))
    }

    /// Returns whether a tenant is a limit in the queue at this path.
    pub fn is_shared(&self, path: &str) -> bool {
        self.shared.contains_key(path)
    }

    /// Returns the tenants that are limits in the queue at this path, in the order of their names.
    pub fn limits_in(&self, path: &str) -> Vec<(&Name, &Tenant, &TenantSubject)> {
        let limits = self.shared.get(path).into_iter().flatten();
        let rows =
            limits.filter_map(|(subject, tenant)| Some((tenant, self.get(tenant)?, subject)));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_unstable_by_key(|(tenant, ..)| *tenant);
        rows
    }

    /// Returns the tenant that is the limit of this user or group in the queue at this path, if one is.
    pub fn limited(&self, path: &str, subject: &TenantSubject) -> Option<&Name> {
        self.shared.get(path)?.get(subject)
    }

    /// Returns the effective quota of a tenant.
    pub fn quota_of<'all>(&'all self, settings: &'all TenantSettings) -> &'all Amounts {
        settings.quota.as_ref().unwrap_or(&self.defaults.quota)
    }

    /// Returns the effective order in which the tasks of a tenant start.
    pub fn waiting_of<'all>(&'all self, settings: &'all TenantSettings) -> &'all WaitingPolicy {
        settings.waiting.as_ref().unwrap_or(&self.defaults.waiting)
    }

    /// Returns the effective behavior for running tasks after the quota of a tenant was lowered below its usage.
    pub fn on_lower_of(&self, settings: &TenantSettings) -> OnLower {
        settings.on_lower.unwrap_or(self.defaults.on_lower)
    }

    /// Returns the effective behavior for an ask that exceeds the quota of a tenant.
    pub fn oversized_of(&self, settings: &TenantSettings) -> Oversized {
        settings.oversized.unwrap_or(self.defaults.oversized)
    }

    /// Returns the effective limit on waiting tasks of a tenant. `None` is unlimited.
    pub fn max_waiting_of(&self, settings: &TenantSettings) -> Option<u64> {
        settings.max_waiting.or(self.defaults.max_waiting)
    }

    /// Returns the usage over time of the tasks of a tenant, without its descendants. `None` before its first task
    /// started.
    pub fn meter_of(&self, tenant: &str) -> Option<&Meter> {
        self.meters.get(tenant).map(Arc::as_ref)
    }

    /// Changes the usage over time of the tasks of a tenant. Ignores removed tenants.
    pub(super) fn meter(&mut self, tenant: &Name, change: impl FnOnce(&mut Meter)) {
        if self.rows.get(&**tenant).is_none() {
            return;
        }
        if self.meters.get(&**tenant).is_none() {
            self.meters.insert(tenant.clone(), Arc::default());
        }
        if let Some(meter) = self.meters.get_mut(&**tenant) {
            change(Arc::make_mut(meter));
        }
    }

    pub(crate) fn set(&mut self, tenant: &Name, settings: &TenantSettings) {
        let (version, draining) = match self.rows.get(&**tenant).cloned() {
            Some(known) => {
                self.unlist(tenant, &known.settings);
                (known.version, known.draining)
            }
            None => (self.gone, false),
        };
        let settings = Arc::new(settings.clone());
        self.list(tenant, &settings);
        let row = Tenant { settings, version: version + 1, draining };
        self.rows.insert(tenant.clone(), row);
    }

    pub(crate) fn drain(&mut self, tenant: &Name) {
        if let Some(row) = self.rows.get_mut(&**tenant) {
            row.draining = true;
            row.version += 1;
        }
    }

    pub(crate) fn remove(&mut self, tenant: &Name) {
        if let Some(row) = self.rows.remove(&**tenant) {
            self.unlist(tenant, &row.settings);
            self.gone = self.gone.max(row.version);
            self.meters.remove(&**tenant);
        }
    }

    pub(crate) fn set_defaults(&mut self, defaults: &TenantDefaults) {
        self.defaults = Arc::new(defaults.clone());
        self.defaults_version += 1;
    }

    fn list(&mut self, tenant: &Name, settings: &TenantSettings) {
        let above = settings.parent.clone().unwrap_or_default();
        self.below.insert((above, tenant.clone()), ());
        if let TenantMapping::Limit { queue, subject } = &settings.mapping {
            let limits = self.shared.entry(queue.clone()).or_default();
            limits.insert(subject.clone(), tenant.clone());
        }
    }

    fn unlist(&mut self, tenant: &Name, settings: &TenantSettings) {
        let above = settings.parent.clone().unwrap_or_default();
        self.below.remove(&(above, tenant.clone()));
        if let TenantMapping::Limit { queue, subject } = &settings.mapping
            && let Some(limits) = self.shared.get_mut(queue)
        {
            limits.remove(subject);
            if limits.is_empty() {
                self.shared.remove(queue);
            }
        }
    }

    /// Returns the usage over time of each tenant, with its name.
    pub(crate) fn meters(&self) -> impl Iterator<Item = (&Name, &Meter)> {
        self.meters.iter().map(|(name, meter)| (name, &**meter))
    }

    /// Returns whether every parent exists, and no tenant is its own ancestor.
    #[cfg(feature = "snapshot")]
    pub(super) fn has_tops(&self) -> bool {
        self.rows.iter().all(|(name, _)| {
            let last = self.up(name).take(Self::LEVELS_MAX).last();
            last.is_some_and(|(_, row)| row.settings.parent.is_none())
        })
    }

    /// Returns a copy with recomputed derived data.
    pub(crate) fn indexed_again(&self) -> Self {
        let mut rebuilt = self.clone();
        (rebuilt.below, rebuilt.shared) = (OrderedMap::default(), BTreeMap::new());
        for (name, row) in self.rows.iter() {
            rebuilt.list(name, &row.settings);
        }
        rebuilt
    }
}
