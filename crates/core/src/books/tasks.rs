//! Indexes of the tasks of a partition, by ID, key, tenant, and end.

use alloc::vec::Vec;

use crate::id::ApplicationId;
use crate::name::Name;
use crate::ordered::OrderedMap;

use super::task::{Task, TaskSettings};
use super::{Measured, MeasuredSum};

/// Indexes of the tasks of a partition. Derived from the applications.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tasks {
    /// Ended tasks by ID.
    ended: OrderedMap<Name, ApplicationId>,
    /// Numbers of the ends.
    numbers: OrderedMap<u64, ()>,
    /// Ended tasks by tenant and the number of their end.
    ends: OrderedMap<(Name, u64), ApplicationId>,
    /// Number of ended tasks by tenant, and the tenants in the order of that number.
    ended_of: OrderedMap<Name, u64>,
    by_ended: OrderedMap<(u64, Name), ()>,
    /// Tasks with an idempotency key, by tenant and key. Only the newest task with a key has it.
    keys: OrderedMap<(Name, Name), ApplicationId>,
    /// All stored tasks, by tenant and the number of their submission.
    all: OrderedMap<(Name, u64), ApplicationId>,
    /// Sum of the measured usage by tenant, for tenants with measured tasks.
    measured: OrderedMap<Name, MeasuredSum>,
}

impl Tasks {
    /// Largest number of stored ended tasks.
    pub const REMEMBERED: usize = 65_536;

    /// Returns the ended task with this ID, if it is stored.
    pub fn ended(&self, task: &Name) -> Option<ApplicationId> {
        self.ended.get(task).copied()
    }

    /// Returns the last task that was submitted for a tenant with this key.
    pub fn submitted(&self, tenant: &Name, key: &Name) -> Option<ApplicationId> {
        self.keys.get(&(tenant.clone(), key.clone())).copied()
    }

    /// Returns the tasks to drop when `more` have ended: the oldest ended tasks of the tenant with the largest number.
    /// So a tenant with many short tasks pushes out only its own tasks.
    pub(crate) fn beyond(&self, more: usize) -> Vec<ApplicationId> {
        let surplus = (self.ends.len() + more).saturating_sub(Self::REMEMBERED);
        let Some(((_, tenant), ())) = self.by_ended.last() else { return Vec::new() };
        let first = (tenant.clone(), 0);
        let own = self.ends.iter_from(&first).take_while(|((of, _), _)| of == tenant);
        own.take(surplus).map(|(_, task)| *task).collect()
    }

    /// Adds a task of a tenant that ended.
    pub(super) fn add_end(
        &mut self,
        id: ApplicationId,
        (name, tenant): (&Name, &Name),
        number: u64,
    ) {
        self.ended.insert(name.clone(), id);
        self.numbers.insert(number, ());
        self.ends.insert((tenant.clone(), number), id);
        self.count_ended(tenant, |count| count + 1);
    }

    /// Removes an ended task that is dropped.
    pub(super) fn remove_end(&mut self, (name, tenant): (&Name, &Name), number: u64) {
        self.ended.remove(name);
        self.numbers.remove(&number);
        self.ends.remove(&(tenant.clone(), number));
        self.count_ended(tenant, |count| count - 1);
    }

    fn count_ended(&mut self, tenant: &Name, change: impl FnOnce(u64) -> u64) {
        let before = self.ended_of.remove(tenant).unwrap_or_default();
        self.by_ended.remove(&(before, tenant.clone()));
        let after = change(before);
        if after > 0 {
            self.ended_of.insert(tenant.clone(), after);
            self.by_ended.insert((after, tenant.clone()), ());
        }
    }

    /// Returns the tasks of a tenant after this submission number, in order of submission.
    pub fn of_tenant(
        &self,
        tenant: &Name,
        behind: u64,
    ) -> impl Iterator<Item = (u64, ApplicationId)> {
        let from = (tenant.clone(), behind.saturating_add(1));
        let all = self.all.iter_from(&from).map(|(key, task)| (key, *task));
        all.take_while(move |((of, _), _)| *of == from.0).map(|((_, number), task)| (*number, task))
    }

    /// Returns the sum of the measured usage of the tasks of a tenant, without its descendants. `None` without measured
    /// tasks.
    pub fn measured_of(&self, tenant: &str) -> Option<&MeasuredSum> {
        self.measured.get(tenant)
    }

    /// Replaces the measured usage of a task of a tenant.
    pub(super) fn measure(
        &mut self,
        tenant: &Name,
        before: Option<&Measured>,
        after: Option<&Measured>,
    ) {
        let mut sum = self.measured.get(&**tenant).cloned().unwrap_or_default();
        if let Some(before) = before {
            sum.subtract(before);
        }
        if let Some(after) = after {
            sum.add(after);
        }
        if sum.tasks() == 0 {
            self.measured.remove(&**tenant);
        } else {
            self.measured.insert(tenant.clone(), sum);
        }
    }

    pub(super) fn next_number(&self) -> u64 {
        self.numbers.last().map_or(0, |(number, ())| *number) + 1
    }

    pub(super) fn add(&mut self, id: ApplicationId, (name, number): (&Name, u64), task: &Task) {
        self.all.insert((task.settings.tenant.clone(), number), id);
        let TaskSettings { tenant, request, .. } = &task.settings;
        if !request.key.is_empty() {
            self.keys.insert((tenant.clone(), request.key.clone()), id);
        }
        if let Some(end) = &task.end {
            self.add_end(id, (name, tenant), end.number);
        }
        if task.measured.is_some() {
            self.measure(&task.settings.tenant, None, task.measured.as_ref());
        }
    }

    pub(super) fn forget(&mut self, id: ApplicationId, (name, number): (&Name, u64), task: &Task) {
        self.all.remove(&(task.settings.tenant.clone(), number));
        let TaskSettings { tenant, request, .. } = &task.settings;
        if self.submitted(tenant, &request.key) == Some(id) {
            self.keys.remove(&(tenant.clone(), request.key.clone()));
        }
        if let Some(end) = &task.end {
            self.remove_end((name, tenant), end.number);
        }
        if task.measured.is_some() {
            self.measure(&task.settings.tenant, task.measured.as_ref(), None);
        }
    }
}
