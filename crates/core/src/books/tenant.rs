//! Tenants of a partition and their settings. Their queues and limits count what they use; nothing
//! else does. Source: tenants §1, §4, decision page 28.

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
    /// Its settings.
    pub settings: Arc<TenantSettings>,
    /// The version of the settings: every change to them raises it, and nothing else does.
    pub version: u64,
    /// Whether it takes in nothing any more, and goes with its last task.
    pub draining: bool,
}

/// The tenants of a partition.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Tenants {
    rows: OrderedMap<Name, Tenant>,
    defaults: Arc<TenantDefaults>,
    /// How often the defaults were set; 0 while nobody has set them.
    defaults_version: u64,
    /// The highest version of any tenant that is gone: one of the same name starts above it, so that
    /// nobody takes it for the other.
    gone: u64,
    /// Each tenant behind the one above it, behind no name if there is none; follows from the rows.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    below: OrderedMap<(Name, Name), ()>,
    /// The tenants that are limits, by the path of the queue and their user or group; follows from the rows.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    shared: BTreeMap<Name, BTreeMap<TenantSubject, Name>>,
    /// What the tasks of each tenant used over time, those of tenants below it not included; of those of
    /// which something ever ran.
    #[cfg_attr(feature = "snapshot", serde(default))]
    meters: OrderedMap<Name, Arc<Meter>>,
}

impl Tenants {
    /// How many tenants a partition can have, so that a client that creates ever new ones cannot
    /// take all memory.
    pub const MAX: usize = 65_536;

    /// How many levels of tenants there can be: each costs every start below it a look.
    pub const LEVELS_MAX: usize = 8;

    /// One tenant.
    pub fn get(&self, tenant: &str) -> Option<&Tenant> {
        self.rows.get(tenant)
    }

    /// All tenants, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Tenant)> {
        self.rows.iter()
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What holds for those that do not say otherwise.
    pub fn defaults(&self) -> &TenantDefaults {
        &self.defaults
    }

    /// How often the defaults were set; 0 while nobody has set them.
    pub const fn defaults_version(&self) -> u64 {
        self.defaults_version
    }

    /// The tenants right below one, in the order of their names; below none, those on top.
    pub fn below(&self, above: Option<&Name>) -> impl Iterator<Item = &Name> {
        let above = above.cloned().unwrap_or_default();
        let from = (above.clone(), Name::default());
        self.below
            .iter_from(&from)
            .map(|((of, name), ())| (of, name))
            .map_while(move |(of, name)| (*of == above).then_some(name))
    }

    /// Whether there are tenants below one.
    pub fn has_below(&self, tenant: &Name) -> bool {
        self.below(Some(tenant)).next().is_some()
    }

    /// A tenant and those above it.
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

    /// A tenant and all below it, each behind the one above it.
    pub fn with_below(&self, tenant: &Name) -> Vec<Name> {
        let mut all = alloc::vec![tenant.clone()];
        let mut at = 0;
        while let Some(name) = all.get(at).cloned() {
            all.extend(self.below(Some(&name)).cloned());
            at += 1;
        }
        all
    }

    /// The path of the queue of a tenant, if it has one.
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

    /// Whether any tenant is a limit in the queue at this path.
    pub fn is_shared(&self, path: &str) -> bool {
        self.shared.contains_key(path)
    }

    /// The tenant that is the limit of this user or group in the queue at this path, if one is.
    pub fn limited(&self, path: &str, subject: &TenantSubject) -> Option<&Name> {
        self.shared.get(path)?.get(subject)
    }

    /// What a tenant may use at once.
    pub fn quota_of<'all>(&'all self, settings: &'all TenantSettings) -> &'all Amounts {
        settings.quota.as_ref().unwrap_or(&self.defaults.quota)
    }

    /// In which order its tasks start.
    pub fn waiting_of<'all>(&'all self, settings: &'all TenantSettings) -> &'all WaitingPolicy {
        settings.waiting.as_ref().unwrap_or(&self.defaults.waiting)
    }

    /// What becomes of tasks that run when its quota is lowered below its use.
    pub fn on_lower_of(&self, settings: &TenantSettings) -> OnLower {
        settings.on_lower.unwrap_or(self.defaults.on_lower)
    }

    /// What becomes of an ask that is larger than its quota.
    pub fn oversized_of(&self, settings: &TenantSettings) -> Oversized {
        settings.oversized.unwrap_or(self.defaults.oversized)
    }

    /// How many of its tasks may wait; none is unlimited.
    pub fn max_waiting_of(&self, settings: &TenantSettings) -> Option<u64> {
        settings.max_waiting.or(self.defaults.max_waiting)
    }

    /// What the tasks of a tenant used over time, those of tenants below it not included; none before the
    /// first of them started.
    pub fn meter_of(&self, tenant: &str) -> Option<&Meter> {
        self.meters.get(tenant).map(Arc::as_ref)
    }

    /// Count what the tasks of a tenant use. Of one that is gone nothing is counted.
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

    /// What each tenant used over time, with its name.
    pub(crate) fn meters(&self) -> impl Iterator<Item = (&Name, &Meter)> {
        self.meters.iter().map(|(name, meter)| (name, &**meter))
    }

    /// Whether every tenant above another is there, and none above itself.
    #[cfg(feature = "snapshot")]
    pub(super) fn has_tops(&self) -> bool {
        self.rows.iter().all(|(name, _)| {
            let last = self.up(name).take(Self::LEVELS_MAX).last();
            last.is_some_and(|(_, row)| row.settings.parent.is_none())
        })
    }

    /// The same, with everything that follows from the rows recomputed.
    pub(crate) fn indexed_again(&self) -> Self {
        let mut rebuilt = self.clone();
        (rebuilt.below, rebuilt.shared) = (OrderedMap::default(), BTreeMap::new());
        for (name, row) in self.rows.iter() {
            rebuilt.list(name, &row.settings);
        }
        rebuilt
    }
}
