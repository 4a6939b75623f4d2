//! Remedies that resume suspended tenants.

use alloc::vec::Vec;

use crate::name::Name;
use crate::wait::Blocker;

use super::edit::Edit;
use super::trial::Trial;
use super::{Remedy, RemedyKind, raise};

/// Returns the remedy that resumes the tenants of the queues of the ask, if that is sufficient.
pub(super) fn find(trial: &mut Trial) -> Option<Remedy> {
    let edits = edits(trial);
    if edits.is_empty() {
        return None;
    }
    raise::confirmed(trial, RemedyKind::Resume, edits)
}

/// Returns the edits that resume the tenants that block the ask. No remedy is complete without them.
pub(super) fn edits(trial: &Trial) -> Vec<Edit> {
    let books = trial.books();
    let mut edits: Vec<Edit> = Vec::new();
    let mut known: Option<&Name> = None;
    for check in trial.explanation().blocked_by() {
        let Blocker::QueueState(queue) = check.blocker else { continue };
        let row = books.queue(queue);
        let tenant = row.settings.tenant.as_ref().filter(|tenant| tenant.suspended);
        // A tenant with children has a separate leaf for its own tasks, directly under its queue.
        let Some(tenant) = tenant.map(|one| &one.tenant).filter(|one| known != Some(one)) else {
            continue;
        };
        known = Some(tenant);
        edits.push(Edit::Resume { partition: row.partition, tenant: tenant.clone(), queue });
    }
    edits
}
