//! What a partition knows of its tasks, so that they are found by id, key, tenant and end.

use alloc::vec::Vec;

use crate::id::ApplicationId;
use crate::name::Name;
use crate::ordered::OrderedMap;

use super::task::{Task, TaskSettings};
use super::{Measured, MeasuredSum};

/// What a partition knows of its tasks in addition to the applications. All of it follows from
/// them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tasks {
    /// Those that have ended, by their ids.
    ended: OrderedMap<Name, ApplicationId>,
    /// The numbers of their ends.
    numbers: OrderedMap<u64, ()>,
    /// The same by tenant and the number of their end.
    ends: OrderedMap<(Name, u64), ApplicationId>,
    /// How many of each tenant are among them, and the tenants in the order of that.
    ended_of: OrderedMap<Name, u64>,
    by_ended: OrderedMap<(u64, Name), ()>,
    /// Those that were submitted with a key, by tenant and key; of several the newest, which alone has it.
    keys: OrderedMap<(Name, Name), ApplicationId>,
    /// All that are remembered, by tenant and the number of their submission.
    all: OrderedMap<(Name, u64), ApplicationId>,
    /// What was measured of those of each tenant, of tenants with any that was.
    measured: OrderedMap<Name, MeasuredSum>,
}

impl Tasks {
    /// How many tasks that have ended are remembered.
    pub const REMEMBERED: usize = 65_536;

    /// The task of this id, if it has ended and is remembered.
    pub fn ended(&self, task: &Name) -> Option<ApplicationId> {
        self.ended.get(task).copied()
    }

    /// The task that was submitted for a tenant under this key last.
    pub fn submitted(&self, tenant: &Name, key: &Name) -> Option<ApplicationId> {
        self.keys.get(&(tenant.clone(), key.clone())).copied()
    }

    /// Those to forget when `more` have ended: the first that ended of the tenant that has most. So a tenant whose
    /// tasks come and go quickly pushes out its own, and nobody else's.
    pub(crate) fn beyond(&self, more: usize) -> Vec<ApplicationId> {
        let surplus = (self.ends.len() + more).saturating_sub(Self::REMEMBERED);
        let Some(((_, tenant), ())) = self.by_ended.last() else { return Vec::new() };
        let first = (tenant.clone(), 0);
        let own = self.ends.iter_from(&first).take_while(|((of, _), _)| of == tenant);
        own.take(surplus).map(|(_, task)| *task).collect()
    }

    /// A task of a tenant has ended.
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

    /// A task that has ended is forgotten.
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

    /// The tasks of a tenant that were submitted behind this number, in order of submission.
    pub fn of_tenant(
        &self,
        tenant: &Name,
        behind: u64,
    ) -> impl Iterator<Item = (u64, ApplicationId)> {
        let from = (tenant.clone(), behind.saturating_add(1));
        let all = self.all.iter_from(&from).map(|(key, task)| (key, *task));
        all.take_while(move |((of, _), _)| *of == from.0).map(|((_, number), task)| (*number, task))
    }

    /// What was measured of the tasks of a tenant, those of tenants below it not included; none if nothing was.
    pub fn measured_of(&self, tenant: &str) -> Option<&MeasuredSum> {
        self.measured.get(tenant)
    }

    /// Of a task of a tenant something else is measured than before.
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
