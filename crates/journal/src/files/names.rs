//! File names of the journal.

/// Suffix of a file that is being written. The file has no meaning before it gets its final name.
const NEW: &str = ".new";

/// Name of the file that the writing process locks.
pub(super) const LOCK: &str = "lock";

/// Returns the name of the file with the records from `first` on.
pub(super) fn log(first: u64) -> String {
    format!("log-{first:020}.redb")
}

/// Returns the name of the snapshot of the books after record `sequence`.
pub(super) fn snapshot(sequence: u64) -> String {
    format!("snapshot-{sequence:020}")
}

/// Returns the name of a file while it is being written.
pub(super) fn new(name: &str) -> String {
    format!("{name}{NEW}")
}

pub(super) fn is_new(name: &str) -> bool {
    (name.starts_with("log-") || name.starts_with("snapshot-") || name.starts_with("mark"))
        && name.ends_with(NEW)
}

/// Returns the first records of the logs, in order.
pub(super) fn logs(names: &[String]) -> Vec<u64> {
    let number = |name: &String| {
        let number = name.strip_prefix("log-")?.strip_suffix(".redb")?.parse().ok()?;
        (log(number) == *name).then_some(number)
    };
    sorted(names.iter().filter_map(number))
}

/// Returns the numbers of the records with a snapshot, in order.
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
