//! One flipped bit anywhere: it is found and reported with its place, or makes no difference.

use std::collections::BTreeMap;

use headroom_journal::JournalError;
use headroom_journal::disk::faulty::FaultyDisk;

use super::kit::{append, chain, open, recover, snapshot, stride};

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

/// The size of a page of the database library.
const PAGE: usize = 4_096;

/// Where bits are flipped in a file: everywhere in a small one; in one of the library, in all of
/// its head, in each page, and closely where there is something.
fn places(bytes: &[u8]) -> Vec<usize> {
    if bytes.len() < 4 * PAGE {
        return (0..bytes.len()).collect();
    }
    let mut places: Vec<usize> = (0..320).collect();
    for (page, bytes) in bytes.chunks(PAGE).enumerate() {
        let used = bytes.iter().filter(|byte| **byte != 0).count();
        let step = if used == 0 { PAGE } else { 53 };
        places.extend((0..bytes.len()).step_by(step).map(|at| page * PAGE + at));
    }
    places
}

/// Flip bits of one file; how often what happened.
fn flip(disk: &FaultyDisk, name: &str, counts: &mut BTreeMap<String, u64>) {
    let good = disk.bytes(name).unwrap();
    for at in places(&good).into_iter().step_by(stride()) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
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
                let plain = plain.split(" 0x").next().unwrap_or_default();
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
            flip(&disk, &name, &mut counts);
        }
    }
    println!("{counts:#?}");
}
