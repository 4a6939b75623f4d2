//! A fault at every operation on the disk, the death of the process, and a loss of power: what
//! was acknowledged is there, a batch is there as a whole or not at all, and nothing twice.

use headroom_journal::disk::faulty::{Fault, FaultyDisk, Kept};
use headroom_journal::{JournalError, ReadStore};

use super::kit::{append, chain, open, recover, snapshot, stride};

/// What was seen of a piece of work that may have been cut short.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// The last record that was acknowledged.
    acknowledged: u64,
    /// The last record of each batch that was begun.
    batches: Vec<u64>,
    error: Option<String>,
}

/// Open, append batches, take snapshots and truncate, open again, and so on.
fn work(disk: &FaultyDisk) -> Seen {
    let mut seen = Seen { batches: vec![0], ..Seen::default() };
    let outcome = (|| {
        for round in 0..2 {
            let mut store = open(disk)?;
            for count in [1, 5, 3] {
                seen.batches.push(store.next() + count - 1);
                let outcome = append(&mut store, count);
                if outcome.is_err() {
                    let after = append(&mut store, 1).unwrap_err();
                    assert!(matches!(after, JournalError::Stopped { .. }), "{after}");
                }
                outcome?;
                seen.acknowledged = store.next() - 1;
                if count == 5 || round == 1 {
                    snapshot(&mut store)?;
                }
            }
        }
        Ok::<_, JournalError>(())
    })();
    seen.error = outcome.err().map(|error| chain(&error));
    seen
}

/// Open the disk as it is now, and check it against what was seen.
fn check(disk: &FaultyDisk, seen: &Seen, how: &str) {
    let mut store = open(disk).unwrap_or_else(|error| panic!("{how}: {}", chain(&error)));
    let last = recover(&store).unwrap_or_else(|error| panic!("{how}: {}", chain(&error)));
    assert!(last >= seen.acknowledged, "{how}: {last} are left of {seen:?}");
    assert!(seen.batches.contains(&last), "{how}: half a batch, {last} of {seen:?}");
    // And it goes on.
    append(&mut store, 2).unwrap_or_else(|error| panic!("{how}: {}", chain(&error)));
    drop(store);
    let store = open(disk).unwrap_or_else(|error| panic!("{how}: {}", chain(&error)));
    assert_eq!(recover(&store).unwrap(), last + 2, "{how}");
}

/// How many operations the work takes on a good disk.
fn operations() -> u64 {
    let disk = FaultyDisk::default();
    let seen = work(&disk);
    assert_eq!((seen.acknowledged, seen.error.as_deref()), (18, None));
    check(&disk.after_kill(), &seen, "no fault");
    disk.operations()
}

#[test]
fn a_fault_at_any_operation_loses_nothing_that_was_acknowledged() {
    let operations = operations();
    let mut told = std::collections::BTreeMap::<String, u64>::new();
    for (start, fault) in (0..).zip([Fault::Fails, Fault::Short, Fault::Full, Fault::Gone]) {
        for at in (start..operations).step_by(stride()) {
            let disk = FaultyDisk::default();
            disk.fail_at(at, fault);
            let seen = work(&disk);
            check(&disk.after_kill(), &seen, &format!("{fault:?} at {at}"));
            if let Some(error) = seen.error {
                let kind = error.split(['0', '/', ':']).next().unwrap_or_default();
                *told.entry(format!("{fault:?}: {kind}")).or_default() += 1;
            }
        }
    }
    println!("{operations} operations; {told:#?}");
    let full = told.keys().filter(|text| text.starts_with("Full: ")).count();
    assert!(told.keys().any(|text| text.starts_with("Full: the disk is full")), "{full}");
    for expected in ["Fails: cannot append", "Fails: cannot flush", "Short: cannot append"] {
        assert!(told.keys().any(|text| text.starts_with(expected)), "{expected} never happened");
    }
}

#[test]
fn a_loss_of_power_at_any_operation_loses_nothing_that_was_acknowledged() {
    let mut chance = 1_u64;
    let mut next = move || {
        chance =
            chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        chance >> 33
    };
    for at in (0..operations()).step_by(stride()) {
        let disk = FaultyDisk::default();
        disk.fail_at(at, Fault::Gone);
        let seen = work(&disk);
        for kept in [Some(Kept::Nothing), Some(Kept::All), None, None, None, None] {
            let kept = || {
                kept.unwrap_or_else(|| match next() % 3 {
                    0 => Kept::All,
                    1 => Kept::Half,
                    _ => Kept::Nothing,
                })
            };
            check(&disk.after_power_loss(kept), &seen, &format!("no power at {at}"));
        }
    }
}
