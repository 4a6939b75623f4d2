//! Tenants of the demo: projects that submit tasks over REST within their quotas, and run these tasks.
//!
//! `TenantPlay` has no clock: `beat` receives the time. Invariant: a tenant has at most [`TenantKind::live_max`]
//! unfinished tasks. A few of these wait for its quota, and no backlog grows. Its tasks are not preempted, so the state
//! of a task cannot change between two requests about this task, and no request is rejected.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use headroom_api::client::{Client, TenantFilter};
use headroom_api::headroomv1::{
    Amount, Amounts, ReleaseOutcome, Task, TaskRelease, TaskState, TaskSubmission, Tenant,
    TenantQuota,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::scene::{TENANTS, TenantKind};

/// Interval between two calls of `beat`, in milliseconds.
pub(super) const BEAT: u64 = 1_000;

/// One in this many tasks fails.
const FAILS: u32 = 20;

/// The tenants and the runner of their tasks.
#[derive(Debug)]
pub(super) struct TenantPlay {
    client: Client,
    random: Pcg64Mcg,
    /// End time of each running task, in milliseconds.
    ends: BTreeMap<String, u64>,
    /// Submission time of the next task of each tenant, in milliseconds.
    next: [u64; TENANTS.len()],
}

impl TenantPlay {
    /// Creates the tenants that do not exist yet.
    pub(super) async fn begin(client: Client, seed: u64) -> Result<Self> {
        let there = client.list_tenants(&TenantFilter::default(), None).await?;
        for kind in TENANTS {
            if there.items.iter().all(|one| one.id != kind.name) {
                client.create_tenant(&tenant(&kind)).await.context("cannot create a tenant")?;
            }
        }
        let random = Pcg64Mcg::seed_from_u64(seed);
        Ok(Self { client, random, ends: BTreeMap::new(), next: [0; TENANTS.len()] })
    }

    /// Sends all requests that are due at `now`, in milliseconds since the start.
    pub(super) async fn beat(&mut self, now: u64) -> Result<()> {
        for (place, kind) in TENANTS.iter().enumerate() {
            let mut live = self.tasks(kind, TaskState::Waiting).await?.len();
            for task in self.tasks(kind, TaskState::Starting).await? {
                self.client.confirm_task(&task.id).await?;
            }
            for task in self.tasks(kind, TaskState::Running).await? {
                live += usize::from(!self.go_on(now, kind, task).await?);
            }
            if self.next[place] > now || live >= kind.live_max {
                continue;
            }
            let user = kind.users[self.random.random_range(0..kind.users.len())];
            let task = TaskSubmission {
                user: Some(user.to_owned()),
                resources: amounts(kind.vcore, kind.memory),
                members: 1,
                preemptible: false,
                ..TaskSubmission::default()
            };
            self.client.submit_task(kind.name, &task, None).await?;
            self.next[place] = now + self.random.random_range(kind.every.0..=kind.every.1);
        }
        Ok(())
    }

    /// Ends a running task when its time is over. Returns whether it has ended.
    async fn go_on(&mut self, now: u64, kind: &TenantKind, task: Task) -> Result<bool> {
        let (least, most) = kind.runs;
        let ends = match self.ends.get(&task.id) {
            Some(ends) => *ends,
            None => now + self.random.random_range(least..=most),
        };
        if ends > now {
            self.ends.insert(task.id, ends);
            return Ok(false);
        }
        self.ends.remove(&task.id);
        let fails = self.random.random_range(0..FAILS) == 0;
        let outcome = if fails { ReleaseOutcome::Failed } else { ReleaseOutcome::Succeeded };
        self.client.release_task(&task.id, &TaskRelease { outcome }, None).await?;
        Ok(true)
    }

    async fn tasks(&self, kind: &TenantKind, state: TaskState) -> Result<Vec<Task>> {
        Ok(self.client.list_tasks(kind.name, Some(state), None).await?.items)
    }
}

fn amounts(vcore: &str, memory: &str) -> Amounts {
    let text = |amount: &str| Amount::Text(amount.to_owned());
    Amounts::from([("vcore".to_owned(), text(vcore)), ("memory".to_owned(), text(memory))])
}

fn tenant(kind: &TenantKind) -> Tenant {
    let quota = amounts(kind.quota.0, kind.quota.1);
    Tenant {
        id: kind.name.to_owned(),
        display_name: kind.title.to_owned(),
        guaranteed: quota.clone(),
        quota: Some(TenantQuota { resources: Some(quota), ..TenantQuota::default() }),
        ..Tenant::default()
    }
}
