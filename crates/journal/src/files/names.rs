//! Which file is what.

/// A file that is being made; it counts for nothing before it has its name.
const NEW: &str = ".new";

/// Held by the process that writes.
pub(super) const LOCK: &str = "lock";

/// The records from `first` on.
pub(super) fn log(first: u64) -> String {
    format!("log-{first:020}.redb")
}

/// The books after record `sequence`.
pub(super) fn snapshot(sequence: u64) -> String {
    format!("snapshot-{sequence:020}")
}

/// A file while it is being made.
pub(super) fn new(name: &str) -> String {
    format!("{name}{NEW}")
}

pub(super) fn is_new(name: &str) -> bool {
    (name.starts_with("log-") || name.starts_with("snapshot-") || name.starts_with("mark"))
        && name.ends_with(NEW)
}

/// The first records of the logs, in order.
pub(super) fn logs(names: &[String]) -> Vec<u64> {
    let number = |name: &String| {
        let number = name.strip_prefix("log-")?.strip_suffix(".redb")?.parse().ok()?;
        (log(number) == *name).then_some(number)
    };
    sorted(names.iter().filter_map(number))
}

/// After which records there are snapshots, in order.
pub(super) fn snapshots(names: &[String]) -> Vec<u64> {
    let number = |name: &String| {
        let number = name.strip_prefix("snapshot-")?.parse().ok()?;
        (snapshot(number) == *name).then_some(number)
    };
    sorted(names.iter().filter_map(number))
}

fn sorted(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    numbers
}
