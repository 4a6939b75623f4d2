//! The ledger of a tenant, computed again only from what the audit log contains for each task.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::reader::{Read, Seen};

/// What happened to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Submitted,
    Started,
    Ended,
}

/// What happened, by the versions of the ledger.
pub(crate) struct Ledger {
    steps: BTreeMap<u64, Vec<(Step, String)>>,
}

/// Where it stands.
#[derive(Default)]
struct Standing {
    waiting: VecDeque<String>,
    running: BTreeSet<String>,
    started: usize,
    ended: BTreeSet<String>,
    most: usize,
}

impl Standing {
    fn take(&mut self, version: u64, step: &Step, task: &str) {
        match step {
            Step::Submitted => self.waiting.push_back(task.to_owned()),
            Step::Started => {
                let first = self.waiting.pop_front();
                assert_eq!(first.as_deref(), Some(task), "at {version}: the oldest starts");
                self.started += 1;
                assert!(self.running.insert(task.to_owned()), "at {version}: {task} starts twice");
            }
            Step::Ended => {
                assert!(self.running.remove(task), "at {version}: {task} ends and does not run");
                assert!(self.ended.insert(task.to_owned()), "at {version}: {task} ends twice");
            }
        }
        self.most = self.most.max(self.running.len());
    }
}

impl Ledger {
    pub(crate) fn of(audit: &[Value]) -> Self {
        let (mut steps, mut last) = (BTreeMap::<u64, Vec<(Step, String)>>::new(), 0);
        for record in audit {
            let version = record["ledgerVersion"].as_u64().unwrap();
            assert!(version >= last, "the audit is in order: {record}");
            last = version;
            let (step, side) = match record["type"].as_str().unwrap() {
                "TASK_SUBMITTED" => (Step::Submitted, None),
                "TASK_STARTED" => (Step::Started, Some("after")),
                "TASK_ENDED" => (Step::Ended, Some("before")),
                "TENANT_CREATED" | "TASK_THROTTLED" => continue,
                other => panic!("nobody asked for {other}: {record}"),
            };
            if let Some(side) = side {
                assert_eq!(record[side]["resources"]["vcore"], 1_000, "{record}");
            }
            let task = record["task"].as_str().unwrap().to_owned();
            steps.entry(version).or_default().push((step, task));
        }
        Self { steps }
    }

    /// At every version no more run than the quota allows; at the end each task has started once and ended once.
    pub(crate) fn judge(&self, quota: usize, tasks: usize) {
        let mut standing = Standing::default();
        for (version, steps) in &self.steps {
            for (step, task) in steps {
                standing.take(*version, step, task);
                let running = standing.running.len();
                assert!(running <= quota, "at {version}: {running} run");
            }
        }
        let Standing { waiting, running, started, ended, most } = standing;
        assert_eq!((waiting.len(), running.len()), (0, 0), "left");
        assert_eq!((started, ended.len(), most), (tasks, tasks, quota), "started, ended, at most");
    }

    /// Whatever was read is what the ledger was at that version.
    pub(crate) fn agrees_with(&self, reads: &[Read]) {
        let mut standing = Standing::default();
        let mut steps = self.steps.iter().peekable();
        for Read { version, seen } in reads {
            while let Some((at, steps)) = steps.next_if(|(at, _)| **at <= *version) {
                for (step, task) in steps {
                    standing.take(*at, step, task);
                }
            }
            let (running, waits) = (standing.running.len(), standing.waiting.len());
            match seen {
                Seen::Usage { used, waiting } => {
                    assert_eq!((*used, *waiting), (running, waits), "usage at {version}");
                }
                Seen::Waiting(tasks) => {
                    assert_eq!(standing.waiting, *tasks, "the waiting list at {version}");
                }
            }
        }
    }
}
