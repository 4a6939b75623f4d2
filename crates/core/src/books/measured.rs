//! What tasks really use, as measured by the client that runs them. It is stored next to what is
//! charged, and no decision looks at it. Source: tenants TR-17, decision page 38.

use alloc::collections::BTreeMap;

use crate::id::ApplicationId;
use crate::name::Name;
use crate::resource::{ResourceType, Resources};
use crate::time::Timestamp;

use super::Books;

/// What was measured of a task last, since it last got its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Measured {
    /// When it was reported.
    pub at: Timestamp,
    /// What all of its members use together.
    pub resources: Resources,
}

/// What was measured of the tasks of a tenant that have their nodes, those of tenants below it not included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeasuredSum {
    /// How many tasks were measured.
    tasks: u64,
    /// What they use together, exact: a client may report anything that an amount can be.
    sums: BTreeMap<ResourceType, i128>,
}

impl MeasuredSum {
    /// How many tasks were measured.
    pub const fn tasks(&self) -> u64 {
        self.tasks
    }

    /// What they use together, of each type that was measured.
    pub fn sums(&self) -> impl Iterator<Item = (ResourceType, i128)> {
        self.sums.iter().map(|(resource, sum)| (*resource, *sum))
    }

    pub(super) fn add(&mut self, measured: &Measured) {
        self.tasks += 1;
        for (resource, amount) in measured.resources.iter() {
            *self.sums.entry(resource).or_default() += i128::from(amount.get());
        }
    }

    pub(super) fn subtract(&mut self, measured: &Measured) {
        self.tasks -= 1;
        for (resource, amount) in measured.resources.iter() {
            let sum = self.sums.entry(resource).or_default();
            *sum -= i128::from(amount.get());
            if *sum == 0 {
                self.sums.remove(&resource);
            }
        }
    }
}

impl Books {
    /// This is measured of a task from now on; nothing where it has no nodes any more.
    pub(super) fn set_measured(&mut self, application: ApplicationId, measured: Option<Measured>) {
        let row = &mut self.applications[application];
        let partition = row.partition;
        let Some(task) = row.task.as_deref_mut() else { return };
        let tenant: Name = task.settings.tenant.clone();
        let before = core::mem::replace(&mut task.measured, measured);
        let measured = task.measured.clone();
        if before.is_some() || measured.is_some() {
            self.partition_mut(partition).tasks.measure(
                &tenant,
                before.as_ref(),
                measured.as_ref(),
            );
        }
    }
}
