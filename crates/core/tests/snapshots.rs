//! Books that were written and read back are the same books: equal, of the same bytes, and what
//! happens next is the same.

use headroom_core::books::Books;
use headroom_core::testkit::{Counts, history, play, tree};
use headroom_core::{Event, Scheduler, Timestamp};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// How many histories to play: `HEADROOM_HISTORIES`, or enough for every day.
fn histories() -> u32 {
    let wanted = std::env::var("HEADROOM_HISTORIES").ok().and_then(|text| text.parse().ok());
    wanted.unwrap_or(500)
}

fn written(books: &Books) -> Vec<u8> {
    rmp_serde::to_vec(books).expect("books can be written")
}

fn read(bytes: &[u8]) -> Books {
    rmp_serde::from_slice(bytes).unwrap_or_else(|error| panic!("books can be read back: {error}"))
}

/// What a scheduler that knows nothing but the books does first.
fn first_step(books: &Books, now: Timestamp) -> Vec<Event> {
    let mut events = Vec::new();
    Scheduler::new(books).next(books, now, &mut events);
    events
}

/// Follows a history. Now and then the books are written and read, and continue in parallel with the ones that never
/// were.
fn follow(journal: &[(Timestamp, Event)], apart: usize) {
    let (mut books, mut copies) = (Books::default(), Vec::new());
    for (number, (now, event)) in journal.iter().enumerate() {
        books.apply(*now, event);
        for copy in &mut copies {
            Books::apply(copy, *now, event);
        }
        if number % apart == apart - 1 || number + 1 == journal.len() {
            let bytes = written(&books);
            let copy = read(&bytes);
            assert_eq!(copy, books, "after {} events", number + 1);
            assert_eq!(written(&copy), bytes, "the same books have the same bytes");
            copies.push(copy);
            for copy in &copies {
                assert_eq!(*copy, books, "books that were read back go on as the others");
                copy.check().unwrap_or_else(|wrong| panic!("{wrong}"));
                assert_eq!(first_step(copy, *now), first_step(&books, *now));
            }
        }
    }
}

#[test]
fn books_that_were_read_back_are_the_same_and_go_on_alike() {
    let config = Config { cases: histories(), failure_persistence: None, ..Config::default() };
    let chance = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, chance);
    let histories = (tree(), history(60), 20_usize..120);
    let outcome = runner.run(&histories, |(tree, ops, apart)| {
        follow(&play(&tree, &ops, &mut Counts::new()).journal, apart);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn empty_books_are_read_back() {
    assert_eq!(read(&written(&Books::default())), Books::default());
}

#[test]
fn sums_of_asks_beyond_64_bits_are_exact_after_a_snapshot_too() {
    let mut world = headroom_core::testkit::tell_world(
        "
        queue root.a
        queue root.b
        app app1 root.a ann
        app app2 root.b bob
        ask a1 app1 memory=9223372036854775807
        ask b1 app2 memory=9223372036854775807
        ask b2 app2 vcore=1
        ",
    );
    let copy = read(&written(&world.books));
    assert_eq!(copy, world.books);
    copy.check().unwrap_or_else(|wrong| panic!("{wrong}"));
    world.books = copy;
    for (application, key) in [("app1", "a1"), ("app2", "b1")] {
        let release = headroom_core::Command::Release {
            partition: "default".into(),
            application: application.into(),
            key: Some(key.into()),
            termination: headroom_core::Termination::StoppedByRm,
        };
        world.command(&release).expect("it is there");
        world.books.check().unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    let root = world.books.queues().iter().next().expect("the root queue").1;
    assert_eq!(world.books.types().amounts(&root.pending).to_string(), "{vcore: 1000 m}");
}
