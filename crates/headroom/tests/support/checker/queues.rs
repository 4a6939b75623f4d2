//! The queue file as a stranger reads it: maxima and limits, nothing else.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Amounts;

/// One queue, by path.
pub(super) struct Queue {
    pub(super) max: Option<Amounts>,
    pub(super) applications: Option<u64>,
    pub(super) limits: Vec<Limit>,
}

/// One entry of `limits`.
pub(super) struct Limit {
    pub(super) users: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) max: Option<Amounts>,
    pub(super) applications: Option<u64>,
}

#[derive(Deserialize)]
struct File {
    partitions: Vec<Partition>,
}

#[derive(Deserialize)]
struct Partition {
    queues: Vec<Written>,
    #[serde(default)]
    limits: Vec<WrittenLimit>,
}

#[derive(Deserialize)]
struct Written {
    name: String,
    #[serde(default)]
    queues: Vec<Written>,
    #[serde(default)]
    resources: WrittenResources,
    #[serde(default)]
    maxapplications: u64,
    #[serde(default)]
    limits: Vec<WrittenLimit>,
}

#[derive(Default, Deserialize)]
struct WrittenResources {
    #[serde(default)]
    max: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct WrittenLimit {
    #[serde(default)]
    users: Vec<String>,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    maxresources: BTreeMap<String, String>,
    #[serde(default)]
    maxapplications: u64,
}

/// All queues of the first partition, by path.
pub(super) fn read(text: &str) -> BTreeMap<String, Queue> {
    let file: File = serde_saphyr::from_str(text).unwrap();
    let partition = file.partitions.into_iter().next().unwrap();
    assert!(partition.limits.is_empty(), "limits of a partition are not checked");
    // The root may be left out; then the queues named are its children.
    let mut open: Vec<(String, Written)> = partition
        .queues
        .into_iter()
        .map(|queue| match queue.name.as_str() {
            "root" => ("root".to_owned(), queue),
            name => (format!("root.{name}"), queue),
        })
        .collect();
    let mut queues = BTreeMap::new();
    while let Some((path, queue)) = open.pop() {
        let below = queue.queues.into_iter();
        open.extend(below.map(|child| (format!("{path}.{}", child.name), child)));
        let limits = queue.limits.into_iter().map(|limit| Limit {
            users: limit.users,
            groups: limit.groups,
            max: bound(&limit.maxresources),
            applications: (limit.maxapplications > 0).then_some(limit.maxapplications),
        });
        let row = Queue {
            max: bound(&queue.resources.max),
            applications: (queue.maxapplications > 0).then_some(queue.maxapplications),
            limits: limits.collect(),
        };
        queues.insert(path, row);
    }
    queues
}

/// Types that are named; nothing but zeros, or nothing at all, is no bound.
fn bound(written: &BTreeMap<String, String>) -> Option<Amounts> {
    let amounts: Amounts =
        written.iter().map(|(name, text)| (name.clone(), quantity(name, text))).collect();
    amounts.values().any(|amount| *amount > 0).then_some(amounts)
}

/// Thousandths of `vcore`, whole units of everything else.
fn quantity(name: &str, text: &str) -> i128 {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = text.split_at(digits);
    let number: i128 = number.parse().unwrap_or_else(|_| panic!("{name} is {text}"));
    let vcore = name == "vcore";
    let power = |base: i128, exponent| base.pow(exponent) * if vcore { 1_000 } else { 1 };
    number
        * match suffix {
            "" => power(1, 1),
            "m" if vcore => 1,
            "k" => power(1_000, 1),
            "M" => power(1_000, 2),
            "G" => power(1_000, 3),
            "T" => power(1_000, 4),
            "Ki" => power(1_024, 1),
            "Mi" => power(1_024, 2),
            "Gi" => power(1_024, 3),
            "Ti" => power(1_024, 4),
            other => panic!("{name} is {text}: no suffix {other}"),
        }
}
