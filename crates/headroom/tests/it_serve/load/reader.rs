//! A reader of the usage and the waiting list of a tenant, as fast as it gets answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::place::Place;

/// What was read: at which version, how much is used, and what waits.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) version: u64,
    pub(crate) seen: Seen,
}

#[derive(Debug)]
pub(crate) enum Seen {
    /// How many run, and how many wait.
    Usage { used: usize, waiting: usize },
    /// The tasks that wait, in order.
    Waiting(Vec<String>),
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))).unwrap()
}

fn cores(amounts: &Value) -> usize {
    number(amounts.get("vcore").unwrap_or(&Value::from(0))) / 1_000
}

/// Read until it is over. Each answer is of one moment, and none of an earlier one than the last.
pub(crate) async fn read(place: Arc<Place>, over: Arc<AtomicBool>) -> Vec<Read> {
    let mut reads: Vec<Read> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let usage = place.get("/headroom/v1/tenants/a/usage").await;
        let (used, free) = (cores(&usage["used"]), cores(&usage["free"]));
        assert_eq!(used + free, cores(&usage["quota"]), "{usage}");
        assert_eq!(number(usage["used"].get("instances").unwrap_or(&Value::from(0))), used);
        assert_eq!(usage["overQuota"], false, "{usage}");
        let waiting = number(&usage["waiting"]["tasks"]);
        assert_eq!(cores(&usage["waiting"]["resources"]), waiting, "{usage}");
        note(&mut reads, &usage, Seen::Usage { used, waiting });

        let list = place.get("/headroom/v1/tenants/a/waiting?limit=1000").await;
        let items = list["items"].as_array().unwrap();
        assert_eq!(number(&list["total"]), items.len(), "how many wait, and the list");
        for (at, one) in items.iter().enumerate() {
            assert_eq!((number(&one["position"]), number(&one["of"])), (at + 1, items.len()));
        }
        let tasks = items.iter().map(|one| one["task"].as_str().unwrap().to_owned());
        let tasks = tasks.collect();
        note(&mut reads, &list, Seen::Waiting(tasks));
    }
    reads
}

fn note(reads: &mut Vec<Read>, answer: &Value, seen: Seen) {
    let version = answer["ledgerVersion"].as_u64().unwrap();
    let last = reads.last().map_or(0, |read| read.version);
    assert!(version >= last, "an answer at {version}, after one at {last}");
    reads.push(Read { version, seen });
}
