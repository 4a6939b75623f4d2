//! Measured usage of tasks, as the client reports it. It is stored next to the charged usage and does not affect
//! decisions. Source: tenants TR-17, decision page 38.

use alloc::collections::BTreeMap;

use crate::id::ApplicationId;
use crate::name::Name;
use crate::resource::{ResourceType, Resources};
use crate::time::Timestamp;

use super::Books;

/// Last measured usage of a task since its last placement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Measured {
    /// Time of the report.
    pub at: Timestamp,
    /// Usage of all its members together.
    pub resources: Resources,
}

/// Sum of the measured usage of the placed tasks of a tenant, without its descendants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeasuredSum {
    /// Number of measured tasks.
    tasks: u64,
    /// Exact sums by type. A client can report any amount, so the sums can exceed 64 bits.
    sums: BTreeMap<ResourceType, i128>,
}

impl MeasuredSum {
    /// Returns the number of measured tasks.
    pub const fn tasks(&self) -> u64 {
        self.tasks
    }

    /// Returns the sums of the measured types.
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
    /// Sets the measured usage of a task. `None` if it has no nodes any more.
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
