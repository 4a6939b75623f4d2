//! The tenants at one moment, and the rights of a caller on these tenants.
//!
//! A caller who reads or changes everything can also read or change all tenants. Tenant roles apply to the tenants of
//! the caller and their descendants. Requests for all other tenants, and for missing tenants, are rejected with the
//! same text. An ancestor of a tenant changes its settings, in particular its quota. The tenant itself sets its display
//! name, its labels, and the order of its tasks.

use headroom_api::headroomv1::{Code, Role};
use headroom_core::books::{Partition, Tenant, Tenants};
use headroom_core::config::tenant::TenantMapping;
use headroom_core::config::{TenantSettings, TenantsConfig};
use headroom_core::id::PartitionId;
use headroom_core::view;
use headroom_core::{Name, RefusalCode};
use headroom_engine::View;

use super::super::answer::{Refused, tag_of};
use super::super::request::{Expected, NativeRequest};
use crate::caller::Caller;

/// The tenants at one moment, from the view of a caller.
pub(super) struct TenantScope<'a> {
    pub(super) asked: &'a NativeRequest,
    pub(super) partition: PartitionId,
    pub(super) row: &'a Partition,
    pub(super) config: &'a TenantsConfig,
}

impl<'a> TenantScope<'a> {
    /// # Errors
    /// If no partition has tenants.
    pub(super) fn of(view: &'a View, asked: &'a NativeRequest) -> Result<Self, Refused> {
        let found = view::tenants(&view.books);
        let (partition, row, config) = found.ok_or_else(|| {
            let detail = "no partition has tenants. Enable tenants in the queue file with \
                          `tenants: {enabled: true}`.";
            Refused::new(asked, Code::Conflict, detail).by_rule(RefusalCode::TenantsOff)
        })?;
        Ok(Self { asked, partition, row, config })
    }

    pub(super) const fn tenants(&self) -> &'a Tenants {
        &self.row.tenants
    }

    /// Returns the tenant of the path.
    ///
    /// # Errors
    /// If the tenant does not exist, or the caller cannot see it.
    pub(super) fn tenant(&self) -> Result<(Name, &'a Tenant), Refused> {
        let name = self.named();
        match self.tenants().get(&name) {
            Some(row) if self.sees(&name) => Ok((name, row)),
            _ => Err(self.not_visible(&name)),
        }
    }

    /// Returns the tenant name in the path.
    pub(super) fn named(&self) -> Name {
        Name::new(self.asked.named("tenant").unwrap_or_default())
    }

    /// Returns whether the caller sees a tenant.
    pub(super) fn sees(&self, tenant: &Name) -> bool {
        let caller = &self.asked.caller;
        let reads_all = [Role::Admin, Role::Operator, Role::Viewer];
        reads_all.into_iter().any(|role| caller.is(role)) || self.is_own(caller, tenant)
    }

    /// Returns the refusal for a tenant that does not exist, or that the caller does not see.
    pub(super) fn not_visible(&self, tenant: &str) -> Refused {
        let caller = &self.asked.caller;
        if self.sees(&Name::default()) {
            let partition = &self.row.name;
            let detail = format!(
                "tenant {tenant:?} does not exist in partition {partition}. Check the name, or create the tenant."
            );
            return Refused::new(self.asked, Code::NotFound, detail)
                .by_rule(RefusalCode::UnknownTenant);
        }
        let own: Vec<&str> = caller.tenants.iter().map(Name::as_str).collect();
        let own = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
        let identity = &caller.identity;
        let detail = format!(
            "{identity} can act only for the tenants {own} and the tenants below them, not for {tenant:?}"
        );
        Refused::new(self.asked, Code::Forbidden, detail)
    }

    /// Returns whether a tenant belongs to the caller, or is a descendant of such a tenant.
    fn is_own(&self, caller: &Caller, tenant: &Name) -> bool {
        self.tenants().up(tenant).any(|(name, _)| caller.tenants.contains(name))
    }

    /// Checks that the caller is allowed to submit and change tasks of a visible tenant.
    ///
    /// # Errors
    /// If the caller can only read the tenant.
    pub(super) fn may_act(&self, tenant: &Name) -> Result<(), Refused> {
        let caller = &self.asked.caller;
        if caller.is(Role::Admin) || self.is_own(caller, tenant) {
            return Ok(());
        }
        let detail = format!(
            "{} can read tenant {tenant}, but cannot act for this tenant. Ask a tenant-admin of \
             the tenant, or a user with the role `admin`.",
            caller.identity
        );
        Err(Refused::new(self.asked, Code::Forbidden, detail))
    }

    /// Checks that the caller is allowed to change a tenant to these settings, or to create the tenant.
    ///
    /// # Errors
    /// If the caller is not allowed to do so.
    pub(super) fn may_set(&self, tenant: &Name, after: &TenantSettings) -> Result<(), Refused> {
        let caller = &self.asked.caller;
        if caller.is(Role::Admin) {
            return Ok(());
        }
        let forbidden = |why: &str| {
            let identity = &caller.identity;
            let detail = format!("{identity} has the role `tenant-admin`, but not `admin`: {why}");
            Err(Refused::new(self.asked, Code::Forbidden, detail))
        };
        let is_below = |parent: Option<&Name>| parent.is_some_and(|one| self.is_own(caller, one));
        let before = match self.tenants().get(tenant) {
            Some(known) if self.is_own(caller, tenant) => Some(&*known.settings),
            // A caller who cannot create the tenant cannot distinguish a hidden tenant from a missing one.
            hidden => {
                if hidden.is_some() || !is_below(after.parent.as_ref()) {
                    return Err(self.not_visible(tenant));
                }
                None
            }
        };
        if before.is_none_or(|before| is_below(before.parent.as_ref())) {
            if !is_below(after.parent.as_ref()) {
                return forbidden(
                    "the parent must be a tenant of the caller, or below such a tenant",
                );
            }
            if after.mapping != TenantMapping::Queue
                && before.is_none_or(|one| one.mapping != after.mapping)
            {
                return forbidden("only the role `admin` can set a limit in a shared queue");
            }
            return Ok(());
        }
        let own = TenantSettings {
            display_name: after.display_name.clone(),
            labels: after.labels.clone(),
            waiting: after.waiting.clone(),
            ..before.cloned().unwrap_or_default()
        };
        if own == *after {
            return Ok(());
        }
        forbidden(
            "of their own tenant, they can change only `displayName`, `labels`, and `waiting`; ask an admin of the parent tenant for other changes",
        )
    }

    /// Checks that the caller is allowed to delete a tenant.
    ///
    /// # Errors
    /// If the caller is not allowed to.
    pub(super) fn may_remove(&self, row: &Tenant) -> Result<(), Refused> {
        let caller = &self.asked.caller;
        let parent = row.settings.parent.as_ref();
        if caller.is(Role::Admin) || parent.is_some_and(|one| self.is_own(caller, one)) {
            return Ok(());
        }
        let detail = format!(
            "{} cannot delete their own tenant; ask an admin of the parent tenant, or a user with the role `admin`",
            caller.identity
        );
        Err(Refused::new(self.asked, Code::Forbidden, detail))
    }

    /// Returns the version that a change expects, or 0 if the object must not exist. `known` is the current version.
    ///
    /// # Errors
    /// If the request has no version, or another version.
    pub(super) fn expected(&self, what: &str, known: Option<u64>) -> Result<u64, Refused> {
        let tag = known.map(tag_of);
        let is = tag
            .as_ref()
            .map_or_else(|| "does not exist".to_owned(), |tag| format!("is at version {tag}"));
        let stale = |detail: String| {
            Refused::new(self.asked, Code::PreconditionFailed, detail).with_tag(tag.clone())
        };
        match (self.asked.expected(), known) {
            (None, _) => {
                let detail = format!(
                    "a change of {what} must state the expected version. Send `If-Match` with the \
                     `ETag` of that version."
                );
                Err(Refused::new(self.asked, Code::PreconditionRequired, detail))
            }
            (Some(Expected::Any), _) if !self.asked.caller.is(Role::Admin) => {
                let detail = "only the role `admin` can send `If-Match: *`. Send the `ETag` that you have read.";
                Err(Refused::new(self.asked, Code::Forbidden, detail))
            }
            (Some(Expected::Any), Some(version)) => Ok(version),
            (Some(Expected::Nothing), None) => Ok(0),
            (Some(Expected::OneOf(tags)), Some(version)) if tags.contains(&tag_of(version)) => {
                Ok(version)
            }
            (Some(expected), _) => Err(stale(format!(
                "{what} {is}, but the request expects {}. Read the current version, and retry with \
                 this version.",
                match expected {
                    Expected::Nothing => "that it does not exist".to_owned(),
                    Expected::Any => "that it exists".to_owned(),
                    Expected::OneOf(tags) => format!("version {}", tags.join(", ")),
                }
            ))),
        }
    }
}
