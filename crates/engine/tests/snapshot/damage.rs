//! Damaged bytes are refused, whatever is damaged: no panic, no end that does not come.

use std::fs;
use std::path::Path;

use headroom_core::Command;
use headroom_core::books::Books;
use headroom_core::config::RuleConfig;
use headroom_core::testkit::{World, leaf, parent, partition};
use headroom_engine::snapshot::{self, SnapshotError, exercise};
use proptest::prelude::*;
use proptest::sample::Index;

use super::{books, read, written};

/// The content of a snapshot of books, without what protects it.
fn content() -> Vec<u8> {
    rmp_serde::to_vec(&books()).expect("books can be written")
}

/// One change of bytes: where, and what.
#[derive(Clone, Debug)]
enum Edit {
    Flip(Index, u8),
    Set(Index, u8),
    Cut(Index),
    Repeat(Index, Index),
    Remove(Index, u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    let any_index = any::<Index>;
    prop_oneof![
        4 => (any_index(), 0_u8..8).prop_map(|(at, bit)| Edit::Flip(at, bit)),
        4 => (any_index(), marker()).prop_map(|(at, byte)| Edit::Set(at, byte)),
        1 => any_index().prop_map(Edit::Cut),
        1 => (any_index(), any_index()).prop_map(|(at, to)| Edit::Repeat(at, to)),
        1 => (any_index(), 1_u8..20).prop_map(|(at, count)| Edit::Remove(at, count)),
    ]
}

/// Bytes that say something in `MessagePack`: small numbers, lengths, kinds.
fn marker() -> impl Strategy<Value = u8> {
    prop_oneof![0_u8..8, 0x80_u8..0xa8, 0xc0_u8..=0xdf, any::<u8>()]
}

fn apply(bytes: &mut Vec<u8>, edit: &Edit) {
    if bytes.is_empty() {
        return;
    }
    match edit {
        Edit::Flip(at, bit) => *at.get_mut(bytes) ^= 1 << bit,
        Edit::Set(at, byte) => *at.get_mut(bytes) = *byte,
        Edit::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Edit::Repeat(at, to) => {
            let (at, to) = (at.index(bytes.len()), to.index(bytes.len()));
            let copy = bytes[at..bytes.len().min(at + 40)].to_vec();
            drop(bytes.splice(to..to, copy));
        }
        Edit::Remove(at, count) => {
            let at = at.index(bytes.len());
            drop(bytes.drain(at..bytes.len().min(at + usize::from(*count))));
        }
    }
}

/// A hundred times as many cases as other properties have, unless `PROPTEST_CASES` says how many.
fn many() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases * 100, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn damaged_content_is_refused_or_can_be_lived_with(
        edits in prop::collection::vec(edit(), 1..4)
    ) {
        thread_local! {
            static CONTENT: Vec<u8> = content();
        }
        let mut bytes = CONTENT.with(Clone::clone);
        for edit in &edits {
            apply(&mut bytes, edit);
        }
        exercise(&bytes);
    }

    #[test]
    fn a_damaged_file_is_refused(edits in prop::collection::vec(edit(), 1..4)) {
        thread_local! {
            static FILE: Vec<u8> = written(&books());
        }
        let mut bytes = FILE.with(Clone::clone);
        let whole = bytes.clone();
        for edit in &edits {
            apply(&mut bytes, edit);
        }
        let outcome = read::<Books>(&bytes);
        prop_assert!(bytes == whole || outcome.is_err(), "damage was not seen");
    }
}

#[test]
fn a_file_that_is_cut_short_is_refused_wherever_it_is_cut() {
    let whole = written(&books());
    for end in 0..whole.len() {
        let outcome = read::<Books>(&whole[..end]).unwrap_err();
        let of = whole.len();
        assert!(matches!(outcome, SnapshotError::Read { .. }), "cut at {end} of {of}: {outcome}");
    }
    let mut longer = whole;
    longer.push(0);
    assert!(matches!(read::<Books>(&longer), Err(SnapshotError::Trailing)));
}

#[test]
fn every_bit_of_a_file_counts() {
    let whole = written(&"a short text that is told again, a short text that is told again");
    for (at, bit) in (0..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << bit;
        let outcome = read::<String>(&bytes).unwrap_err();
        let is_right = match at {
            0..8 => matches!(outcome, SnapshotError::NoSnapshot { .. }),
            8..12 => matches!(outcome, SnapshotError::OtherFormat { .. }),
            // What is behind no longer has its checksum, or says another value or length.
            _ => matches!(
                outcome,
                SnapshotError::Read { .. }
                    | SnapshotError::Decode { .. }
                    | SnapshotError::Length { .. }
            ),
        };
        assert!(is_right, "bit {bit} of byte {at} is another: {outcome:?}");
    }
}

#[test]
fn amounts_of_a_type_that_is_not_listed_are_refused() {
    let (known, fewer) = (b"\x93\xa6memory\xa5vcore\xa3gpu", b"\x92\xa6memory\xa5vcore");
    let mut bytes = content();
    assert_eq!(bytes[1..=known.len()], *known, "the types come first");
    drop(bytes.splice(1..=known.len(), fewer.iter().copied()));
    let refusal = rmp_serde::from_slice::<Books>(&bytes).unwrap_err();
    assert!(refusal.to_string().contains("types"), "{refusal}");
}

#[test]
fn what_is_no_snapshot_of_ours_is_told_apart() {
    let mut bytes = written(&7_u8);
    bytes[8] = 2;
    assert!(matches!(read::<u8>(&bytes), Err(SnapshotError::OtherFormat { found: 2 })));
    bytes[0] = b'h';
    assert!(matches!(read::<u8>(&bytes), Err(SnapshotError::NoSnapshot { .. })));
    let two = written(&(7_u8, 8_u8));
    assert!(matches!(read::<u8>(&two), Err(SnapshotError::Decode { .. })));
    let mut source = &*written(&vec![7_u8; 1_000]);
    let outcome = snapshot::read::<Vec<u8>>(&mut source, 999);
    assert!(matches!(outcome, Err(SnapshotError::TooLarge { limit: 999 })));
}

/// Books with one placement rule, in a rule, in a rule.
fn nested(depth: usize) -> Books {
    let mut rule = RuleConfig { name: "fixed".into(), value: "a".into(), ..Default::default() };
    for _ in 1..depth {
        let parent = Some(Box::new(rule));
        rule = RuleConfig { name: "user".into(), parent, ..Default::default() };
    }
    let mut file = partition(parent("root", vec![leaf("a")]));
    file.partitions[0].placement_rules = vec![rule];
    let mut world = World::default();
    world.command(&Command::Configure(Box::new(file))).expect("the file is legal");
    world.books
}

#[test]
fn rules_may_nest_as_deep_as_a_queue_file_and_no_deeper() {
    let books = nested(500);
    assert_eq!(read::<Books>(&written(&books)).unwrap(), books);
    let refusal = read::<Books>(&written(&nested(1_000))).unwrap_err();
    assert!(matches!(refusal, SnapshotError::Decode { .. }), "{refusal}");
}

#[test]
fn content_that_nests_without_end_is_refused() {
    for marker in [0x91, 0x81, 0xdd, 0xde] {
        let bytes = vec![marker; 100_000];
        rmp_serde::from_slice::<Books>(&bytes).expect_err("these are no books");
        exercise(&bytes);
    }
}

#[test]
fn the_corpus_of_the_fuzzer_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/snapshot");
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 4, "{} files", files.len());
    for file in files {
        exercise(&fs::read(file).unwrap());
    }
}
