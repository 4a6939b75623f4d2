//! Whatever happens in random histories survives the way into bytes and out of them.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

use std::sync::Arc;

use headroom_core::books::Books;
use headroom_core::testkit::{Counts, World, history, play, tree};
use headroom_journal::{Origin, Record};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How many histories to play: a fifth of `HEADROOM_HISTORIES`, or enough for every day.
fn histories() -> u32 {
    let wanted = std::env::var("HEADROOM_HISTORIES").ok().and_then(|text| text.parse::<u32>().ok());
    wanted.map_or(500, |count| count / 5)
}

/// Into bytes and out of them again.
fn there_and_back(record: &Record) -> Record {
    let bytes = record.encode().unwrap();
    let read = Record::decode(&bytes).unwrap_or_else(|error| panic!("{record:?}: {error}"));
    assert_eq!(read.encode().as_ref(), Ok(&bytes), "equal records have equal bytes");
    read
}

fn check(world: &World) {
    let mut books = Books::default();
    for (sequence, (time, event)) in (1..).zip(&world.journal) {
        let record = Record {
            sequence,
            time: *time,
            origin: None,
            command: None,
            events: vec![event.clone()],
        };
        let read = there_and_back(&record);
        assert_eq!(read, record);
        for event in &read.events {
            books.apply(read.time, event);
        }
    }
    assert_eq!(books, world.books, "decoded events rebuild the books");
    for (sequence, command) in (1..).zip(&world.commands) {
        let origin = Origin {
            identity: "ann".into(),
            command_id: sequence.to_string(),
            any_version: sequence % 2 == 0,
            ..Origin::default()
        };
        let record = Record {
            sequence,
            time: world.now,
            origin: Some(Arc::new(origin)),
            command: Some(command.clone()),
            events: Vec::new(),
        };
        assert_eq!(there_and_back(&record), record);
    }
}

#[test]
fn what_happens_in_random_histories_is_read_as_it_was_written() {
    let config = Config { cases: histories(), failure_persistence: None, ..Config::default() };
    let chance = TestRng::from_seed(RngAlgorithm::ChaCha, &[0; 32]);
    let mut counts = Counts::new();
    let counts = std::cell::RefCell::new(&mut counts);
    TestRunner::new_with_rng(config, chance)
        .run(&(tree(), history(60)), |(tree, ops)| {
            check(&play(&tree, &ops, &mut counts.borrow_mut()));
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}
