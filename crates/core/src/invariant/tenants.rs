//! Checks that tenants have exactly the configured queues and limits, and that their usage is the sum of their tasks.
//! Source: tenants §5, decision page 28.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;

use crate::books::{Books, LimitSubject, Partition, Queue, QueueState, Tenant, Timer};
use crate::config::TenantsConfig;
use crate::config::property::SORT_POLICY;
use crate::config::tenant::{INSTANCES, OWN_LEAF, TenantMapping, TenantSubject, WaitingStrategy};
use crate::id::{PartitionId, QueueId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, Resources};

use super::{Outcome, equal};

impl Books {
    /// Checks what must hold after every event: derived records of tenants are correct, and nodes count all types of an
    /// allocation except the type that counts tasks.
    pub(super) fn check_tenants(&self) -> Outcome {
        let (mut tasks, mut ended) = (self.tasks_rebuilt(), self.ended_rebuilt());
        for (id, row) in self.partitions() {
            let rebuilt = ended.remove(id).unwrap_or_default();
            equal(&row.name, "applications that have ended", &row.ended, &rebuilt)?;
            let rebuilt = tasks.remove(id).unwrap_or_default();
            equal(&row.name, "tasks as they are found", &row.tasks, &rebuilt)?;
            equal(
                &row.name,
                "tenants by the one above",
                &row.tenants,
                &row.tenants.indexed_again(),
            )?;
        }
        for (id, row) in self.applications().iter() {
            let until = row.task.as_ref().and_then(|task| task.waits_until);
            let timed = until.is_none_or(|at| self.has_timer(at, Timer::Wait(id)));
            equal(&row.name, "timer of the time that its task may wait", &timed, &true)?;
        }
        self.check_meters()?;
        let tasks = self.types().find(INSTANCES);
        for (id, row) in self.allocations().iter() {
            let partition = self.partition(self.application(row.application).partition);
            let size = self.resources_of(id).iter();
            let on_node: Resources = match partition.settings.tenants {
                Some(_) => size.filter(|(of, _)| Some(*of) != tasks).collect(),
                None => size.collect(),
            };
            equal(&row.key, "what counts for nodes", self.node_request(id), &on_node)?;
        }
        Ok(())
    }

    /// Checks that the meters of tenants and their tasks have the current usage as their rate.
    fn check_meters(&self) -> Outcome {
        let mut rates: BTreeMap<(PartitionId, &Name), Resources> = BTreeMap::new();
        for (_, row) in self.applications().iter() {
            let Some(metered) = row.metered.as_deref() else { continue };
            equal(&row.name, "rate of its use over time", metered.meter.rate(), &row.allocated)?;
            if !row.allocated.is_empty() {
                let rate = rates.entry((row.partition, &metered.tenant)).or_default();
                rate.add(&row.allocated);
            }
        }
        for (id, row) in self.partitions() {
            for (name, meter) in row.tenants.meters() {
                let rate = rates.remove(&(*id, name)).unwrap_or_default();
                equal(name, "rate of its use over time", meter.rate(), &rate)?;
            }
        }
        Ok(())
    }

    /// Checks what must hold after all events of a command.
    pub(super) fn check_settled_tenants(&self) -> Outcome {
        for (id, row) in self.partitions() {
            let Some(config) = row.settings.tenants.as_deref() else {
                equal(&row.name, "tenants where there are none", &row.tenants.len(), &0)?;
                continue;
            };
            let used = self.used_by_tenants(*id);
            let mut queues = 0;
            for (name, tenant) in row.tenants.iter() {
                match &tenant.settings.mapping {
                    TenantMapping::Queue => {
                        queues += self.check_tenant((row, config), name, tenant, &used)?;
                    }
                    TenantMapping::Limit { queue, subject } => {
                        Self::check_limit((row, config), name, tenant, (queue, subject))?;
                    }
                }
            }
            let mine = self.queues().iter().filter(|(_, queue)| queue.partition == *id);
            let marked = mine.filter(|(_, queue)| queue.settings.tenant.is_some()).count();
            equal(&row.name, "queues of tenants", &marked, &queues)?;
            self.check_instances(*id, row)?;
        }
        Ok(())
    }

    /// Returns the usage of each tenant with its descendants.
    fn used_by_tenants(&self, partition: PartitionId) -> BTreeMap<Name, Resources> {
        let tenants = &self.partition(partition).tenants;
        let mut used: BTreeMap<Name, Resources> = BTreeMap::new();
        for (id, row) in self.allocations().iter().filter(|(_, row)| row.is_allocated()) {
            let application = self.application(row.application);
            let mark = self.queue(application.queue).settings.tenant.as_ref();
            for (name, _) in mark.iter().flat_map(|mark| tenants.up(&mark.tenant)) {
                used.entry(name.clone()).or_default().add(self.resources_of(id));
            }
        }
        used
    }

    /// Checks a tenant with its own queue. Returns the number of its queues.
    fn check_tenant(
        &self,
        (row, config): (&Partition, &TenantsConfig),
        name: &Name,
        tenant: &Tenant,
        used: &BTreeMap<Name, Resources>,
    ) -> Result<usize, super::Violation> {
        let mut path = format!("{name}");
        let mut above = tenant.settings.parent.clone();
        while let Some(next) = above {
            let parent = row.tenants.get(&next);
            equal(name, "whether the tenant above it is there", &parent.is_some(), &true)?;
            path = format!("{next}.{path}");
            above = parent.and_then(|parent| parent.settings.parent.clone());
        }
        let path = format!("{}.{path}", config.root);
        let at = |path: &str| row.queues.get(path).map(|id| (*id, self.queue(*id)));
        let Some((id, queue)) = at(&path) else {
            equal(name, "whether it has a queue", &false, &true)?;
            return Ok(0);
        };
        let below =
            row.tenants.iter().filter(|(_, one)| one.settings.parent.as_ref() == Some(name));
        let own = at(&format!("{path}.{OWN_LEAF}"));
        equal(name, "a leaf of its own tasks if it is none", &own.is_some(), &!queue.leaf)?;
        let children = below.count() + usize::from(own.is_some());
        equal(name, "queues below", &(queue.child_count as usize), &children)?;
        let max = bound((row, config), name, tenant);
        equal(name, "quota of its queue", &queue.settings.max, &max)?;
        let granted = &tenant.settings.guaranteed;
        let granted = granted.is_strictly_positive().then(|| granted.clone());
        equal(name, "guarantee of its queue", &queue.settings.guaranteed, &granted)?;
        let apps = tenant.settings.max_applications;
        equal(name, "applications of its queue", &queue.settings.max_applications, &apps)?;
        for (_, queue) in [Some((id, queue)), own].into_iter().flatten() {
            Self::check_queue_of_tenant((row, name, tenant), queue)?;
        }
        let nothing = Resources::new();
        let used = used.get(name).unwrap_or(&nothing).pruned();
        equal(name, "used by its tasks and of those below", &queue.allocated, &used)?;
        Ok(1 + usize::from(own.is_some()))
    }

    /// Checks a queue of a tenant: the one for everything, or the leaf for its own tasks.
    fn check_queue_of_tenant(
        (row, name, tenant): (&Partition, &Name, &Tenant),
        queue: &Queue,
    ) -> Outcome {
        let mark = queue.settings.tenant.as_ref().map(|mark| (&mark.tenant, mark.suspended));
        equal(name, "mark of its queue", &mark, &Some((name, tenant.settings.suspended)))?;
        equal(name, "whether its queue is managed", &queue.managed, &true)?;
        let goes = queue.state == QueueState::Draining;
        let stopped = queue.settings.stopped;
        equal(name, "whether it goes", &(goes || stopped), &(tenant.draining || stopped))?;
        if queue.leaf {
            let strategy = row.tenants.waiting_of(&tenant.settings).strategy;
            let word = match strategy {
                WaitingStrategy::Fifo => "fifo-strict",
                WaitingStrategy::FifoBackfill => "fifo-backfill",
                WaitingStrategy::Priority => "priority",
                WaitingStrategy::Urgency => "urgency",
            };
            let stored = queue.settings.properties.get(SORT_POLICY).map(Name::as_str);
            equal(name, "order of its tasks", &stored, &Some(word))?;
        }
        Ok(())
    }

    /// Checks a tenant that is a limit in a shared queue.
    fn check_limit(
        (row, config): (&Partition, &TenantsConfig),
        name: &Name,
        tenant: &Tenant,
        (queue, subject): (&Name, &TenantSubject),
    ) -> Outcome {
        let subject = match subject {
            TenantSubject::User(name) => LimitSubject::User(name.clone()),
            TenantSubject::Group(name) => LimitSubject::Group(name.clone()),
        };
        let limits = row.queues.get(&**queue).map(|id| row.trackers.limits_at(*id));
        let mine: Vec<(Amounts, u64)> = limits
            .into_iter()
            .flatten()
            .filter(|limit| limit.subject == subject)
            .map(|limit| (limit.max.clone(), limit.max_applications))
            .collect();
        let max = bound((row, config), name, tenant).unwrap_or_default();
        let all = [(max, tenant.settings.max_applications)];
        let all = all.into_iter().filter(|(max, count)| !max.is_empty() || *count > 0);
        equal(name, "its limit", &mine, &all.collect())
    }

    /// Checks that each ask of a tenant counts once in the type that counts tasks, and that no other ask and no node
    /// does.
    fn check_instances(&self, id: PartitionId, row: &Partition) -> Outcome {
        let Some(tasks) = self.types().find(INSTANCES) else { return Ok(()) };
        let limited = |path: &Name| {
            let mut all = row.tenants.iter().map(|(_, one)| &one.settings.mapping);
            all.any(|one| matches!(one, TenantMapping::Limit { queue, .. } if queue == path))
        };
        let counts = |leaf: QueueId| {
            let mark = self.queue(leaf).settings.tenant.is_some();
            mark || self.up(leaf).any(|(_, queue)| limited(&queue.path))
        };
        for (_, one) in row.allocations.iter() {
            let ask = self.allocation(*one);
            let leaf = self.application(ask.application).queue;
            let stored = self.resources_of(*one).get(tasks);
            let counted = counts(leaf).then_some(Quantity::of(1));
            equal(&ask.key, "how many tasks it is", &stored, &counted)?;
        }
        for (_, node) in self.nodes().iter().filter(|(_, node)| node.partition == id) {
            let has = [&node.capacity, &node.allocated, &node.occupied];
            let has = has.into_iter().any(|amounts| amounts.get(tasks).is_some());
            equal(&node.name, "whether it has the type that counts tasks", &has, &false)?;
        }
        Ok(())
    }
}

/// Returns the maximum for the quota of a tenant: the named types, plus an unlimited amount of another type if all
/// named types are forbidden.
fn bound(
    (row, config): (&Partition, &TenantsConfig),
    name: &Name,
    tenant: &Tenant,
) -> Option<Amounts> {
    let quota = match &tenant.settings.quota {
        Some(quota) => quota,
        None => &row.tenants.defaults().quota,
    };
    if quota.is_empty() || config.exempt.contains(name) {
        return None;
    }
    let mut max = quota.clone();
    if quota.iter().all(|(_, amount)| amount == Quantity::ZERO) {
        let all = [INSTANCES, "vcore", "memory", "unlimited"];
        let free = all.into_iter().find(|free| quota.get(free).is_none())?;
        max.set(free, Quantity::MAX);
    }
    Some(max)
}
