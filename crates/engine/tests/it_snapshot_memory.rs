//! A length that damaged bytes only claim reserves nothing. In a process of its own: what it
//! reserved at most is counted by the system.
#![cfg(target_os = "linux")]

use std::fs;

use headroom_core::Command;
use headroom_core::testkit::tell_world;
use headroom_engine::snapshot::exercise;

/// The most memory that this process ever had reserved, in bytes, used or not.
fn reserved() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.expect("Linux says it in kibibytes") << 10
}

#[test]
fn a_length_that_nothing_follows_reserves_no_memory() {
    let mut world = tell_world(
        "queue root.a max vcore=8
         limit root.a user * vcore=8
         node n1 vcore=4 type m5
         app a root.a ann groups dev gang vcore=1
         ask p a vcore=1 placeholder group w
         ask k a vcore=1
         app r root.b ann",
    );
    world.command(&Command::Tick).unwrap();
    let content = rmp_serde::to_vec(&world.books).unwrap();
    exercise(&content);
    let before = reserved();
    let mut claims = 0;
    for at in 0..content.len() {
        // An array, a map, a text and bytes, of 67 million elements each: as many as the system
        // would give room for.
        for marker in [0xdd, 0xdf, 0xdb, 0xc6] {
            let mut bytes = content[..at].to_vec();
            bytes.extend([marker, 0x04, 0, 0, 0]);
            bytes.extend(&content[at..]);
            exercise(&bytes);
            claims += 1;
        }
    }
    let more = reserved() - before;
    assert!(claims > 2_000 && more < 32 << 20, "{claims} claims reserved {more} bytes");
}
