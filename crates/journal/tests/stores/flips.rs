//! One flipped bit anywhere: it is found and told where, or makes no difference.

use std::collections::BTreeMap;

use headroom_journal::disk::faulty::FaultyDisk;
use headroom_journal::{JournalError, Store};

use super::kit::{append, chain, open, recover, snapshot};

/// A journal with two snapshots and records before, between and after them; closed, or as the
/// death of its process leaves it.
fn journal(closed: bool) -> FaultyDisk {
    let disk = FaultyDisk::default();
    let mut store = open(&disk).unwrap();
    for count in [4, 2, 3] {
        append(&mut store, count).unwrap();
        snapshot(&mut store).unwrap();
    }
    for count in [1, 3, 2] {
        append(&mut store, count).unwrap();
    }
    let dead = disk.after_kill();
    drop(store);
    if closed { disk.after_kill() } else { dead }
}

/// Flip bits of one file, `step` bytes apart; how often what happened.
fn flip(disk: &FaultyDisk, name: &str, step: usize, counts: &mut BTreeMap<String, u64>) {
    let good = disk.bytes(name).unwrap();
    for at in (0..good.len()).step_by(step) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at / step % 8);
        let disk = disk.after_kill();
        disk.set_bytes(name, bytes.clone());
        let how = format!("{name} byte {at}");
        let outcome = open(&disk).and_then(|store| recover(&store));
        let what = match outcome {
            Ok(last) => {
                assert_eq!(last, 15, "{how}: records are missing");
                "no difference".to_owned()
            }
            Err(error @ JournalError::Damaged { .. }) => {
                let text = chain(&error);
                assert!(text.contains(name), "{how}: {text}");
                if !name.starts_with("snapshot") {
                    let there = disk.bytes(name).unwrap();
                    assert!(there == bytes, "{how}: a damaged file must stay as it was found");
                }
                let plain = text.split(" is damaged").nth(1).unwrap_or_default();
                plain.chars().filter(|one| !one.is_ascii_digit()).take(60).collect()
            }
            Err(other) => chain(&other).split(':').next().unwrap_or_default().to_owned(),
        };
        let kind = name.split(['-', '.']).next().unwrap_or_default();
        *counts.entry(format!("{kind}: {what}")).or_default() += 1;
    }
}

#[test]
fn a_flipped_bit_is_found_or_makes_no_difference() {
    let mut counts = BTreeMap::new();
    for closed in [true, false] {
        let disk = journal(closed);
        for name in headroom_journal::disk::Disk::list(&disk).unwrap() {
            let length = disk.bytes(&name).unwrap().len();
            // A file of the library has pages for much more than there is.
            let step = if length > 100_000 { 61 } else { 1 };
            println!("{name}: {length} bytes");
            flip(&disk, &name, step, &mut counts);
        }
    }
    println!("{counts:#?}");
}
