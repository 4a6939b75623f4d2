//! A scan for asks that more nodes would help does not cost each ask. An ask and its checks do not cost the others.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use headroom_core::books::{NodeVerdict, Questions};
use headroom_core::config::QueueConfig;
use headroom_core::explain::{Explainer, Verdict};
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{AddNode, Ask, Command, Name, Submit, Verdicts};

/// So many questions at once that the RM is asked about each ask.
const QUESTIONS: Questions = Questions { victims: false, at_once: NonZeroU16::MAX };

fn default() -> Name {
    Name::new("default")
}

/// A cluster of one core and so many asks, more than the queue admits, each of its own application. With `questions`, the
/// asks are of one application, and the RM refuses the node for each about which it is asked.
fn waiting(asks: usize, questions: Option<Questions>) -> World {
    let mut world = World::default();
    let max = amounts([("vcore", 10)]);
    let queue = QueueConfig { max, ..leaf("a") };
    let file = partition(parent("root", vec![queue]));
    world.command(&Command::Configure(Box::new(file))).unwrap();
    world.command(&Command::SetQuestions { partition: default(), questions }).unwrap();
    let add = AddNode {
        partition: default(),
        node: Name::new("n1"),
        capacity: amounts([("vcore", 1)]),
        schedulable: true,
        ..AddNode::default()
    };
    world.command(&Command::AddNode(add)).unwrap();
    for number in 0..asks {
        let application = Name::new(format!("app{}", if questions.is_some() { 0 } else { number }));
        if questions.is_none() || number == 0 {
            let submit = Submit {
                partition: default(),
                application: application.clone(),
                queue: Name::new("root.a"),
                user: Name::new("ann"),
                ..Submit::default()
            };
            world.command(&Command::Submit(submit)).unwrap();
        }
        let ask = Ask {
            partition: default(),
            key: Name::new(format!("ask{number}")),
            application,
            resources: amounts([("vcore", 1)]),
            ..Ask::default()
        };
        world.command(&Command::Ask(ask)).unwrap();
    }
    world.settle();
    while refuse_all(&mut world) {
        world.settle();
    }
    world
}

/// Answers all open questions. Returns whether there were any.
fn refuse_all(world: &mut World) -> bool {
    let all = world.books.allocations().iter();
    let open = all.filter_map(|(id, row)| Some((row.key.clone(), world.books.question_of(id)?)));
    let refused = || vec![(Name::new("n1"), NodeVerdict::Refused(Name::new("no")))];
    let answers: Vec<Verdicts> = open
        .map(|(key, question)| Verdicts {
            partition: default(),
            key,
            question: question.number,
            verdicts: refused(),
        })
        .collect();
    for answer in &answers {
        world.command(&Command::Verdicts(answer.clone())).unwrap();
    }
    !answers.is_empty()
}

/// Returns how many asks are reported at first, and how long a thousand scans take from then on.
fn scans(asks: usize, questions: Option<Questions>) -> (usize, Duration) {
    let mut world = waiting(asks, questions);
    let id = world.books.partition_named(&default()).unwrap();
    let first = world.scheduler.outstanding(&world.books, id);
    for event in &first {
        world.apply(event);
    }
    let since = Instant::now();
    for _ in 0..1_000 {
        assert_eq!(world.scheduler.outstanding(&world.books, id), []);
    }
    (first.len(), since.elapsed())
}

#[test]
fn a_scan_does_not_cost_what_waits() {
    // One of ten runs, so nine more would be admitted, however many wait.
    costs_the_same(None, 9);
}

#[test]
fn a_scan_does_not_cost_what_waits_for_verdicts() {
    costs_the_same(Some(QUESTIONS), 10);
}

fn costs_the_same(questions: Option<Questions>, reported: usize) {
    let (few_reported, few) = scans(100, questions);
    let (many_reported, many) = scans(20_000, questions);
    assert_eq!((few_reported, many_reported), (reported, reported));
    is_not_more("1,000 scans", few, many);
}

#[test]
fn an_ask_does_not_cost_the_others_of_its_application() {
    let asks = |others: usize| {
        let mut world = waiting(others, Some(QUESTIONS));
        let begun = Instant::now();
        for number in 0..1_000 {
            let ask = Ask {
                partition: default(),
                key: Name::new(format!("more{number}")),
                application: Name::new("app0"),
                resources: amounts([("vcore", 1)]),
                ..Ask::default()
            };
            world.command(&Command::Ask(ask)).unwrap();
            world.settle();
        }
        begun.elapsed()
    };
    is_not_more("1,000 more asks", asks(100), asks(20_000));
}

#[test]
fn the_checks_of_an_ask_do_not_cost_the_applications() {
    let explanations = |asks: usize| {
        let world = waiting(asks, None);
        let all = world.books.allocations();
        let ask = all.iter().find(|(_, row)| row.is_pending()).map(|(id, _)| id).unwrap();
        let begun = Instant::now();
        for _ in 0..1_000 {
            let found = Explainer::new(&world.books, &world.scheduler).checks(ask).unwrap();
            assert_eq!(found.verdict, Verdict::Waiting);
        }
        begun.elapsed()
    };
    is_not_more("1,000 explanations", explanations(100), explanations(20_000));
}

fn is_not_more(what: &str, few: Duration, many: Duration) {
    let most = few * 20 + Duration::from_millis(50);
    assert!(many < most, "{what} took {few:?} with 100 asks and {many:?} with 20,000");
}
