//! What is not submitted is explained as it would be if it were.

use std::collections::BTreeMap;

use headroom_core::books::Books;
use headroom_core::explain::{
    Explanation, Hypothetical, Verdict, WHAT_IF_STEPS, WhatIfAccepted, WhatIfOutcome, explain,
    first_of, unused_name, what_if,
};
use headroom_core::resource::Amounts;
use headroom_core::testkit::{World, tell_world};
use headroom_core::{
    ApplicationEvent, Ask, Command, Event, Name, Scheduler, Submit, Timestamp, member_key,
};

use crate::shown::shown;

/// An application of one user with so many asks.
fn wanted(
    books: &Books,
    (queue, user): (&str, &str),
    resources: &Amounts,
    members: u32,
) -> Hypothetical {
    let partition = *books.partitions().keys().next().expect("there is a partition");
    let name = unused_name(books, partition, members);
    let partition = books.partition(partition).name.clone();
    let ask = Ask {
        partition: partition.clone(),
        application: name.clone(),
        resources: resources.clone(),
        ..Ask::default()
    };
    let submit = Submit {
        partition,
        application: name,
        queue: Name::new(queue),
        user: Name::new(user),
        ..Submit::default()
    };
    Hypothetical::Application(submit, ask, members)
}

fn imagined(world: &World, who: (&str, &str), vcores: i64, members: u32) -> WhatIfOutcome {
    let amounts = Amounts::from([("vcore", vcores)]);
    let before = world.books.clone();
    let wanted = wanted(&world.books, who, &amounts, members);
    let imagined = what_if(&world.books, world.now, &wanted, WHAT_IF_STEPS);
    assert_eq!(world.books, before, "nothing is changed");
    imagined
}

fn taken_in(imagined: WhatIfOutcome) -> WhatIfAccepted {
    match imagined {
        WhatIfOutcome::TakenIn(taken) => *taken,
        WhatIfOutcome::Rejected { code, message } => panic!("{code}: {message}"),
    }
}

const SCENE: &str = "
    queue root submit ann
    queue root.a max vcore=4
    queue root.b submit bob
    node n1 vcore=8
    app app1 root.a ann
    ask a1 app1 vcore=3
    ";

#[test]
fn what_would_start_starts_next_and_what_would_wait_says_why() {
    let world = tell_world(SCENE);
    let starts = taken_in(imagined(&world, ("root.a", "ann"), 1_000, 1));
    assert_eq!(starts.explanation.verdict, Verdict::StartsNext);
    assert_eq!((starts.starts, starts.asks, starts.ran_out), (1, 1, false));
    assert_eq!(starts.explanation.blocked_by().count(), 0);
    assert!(!starts.explanation.checks.is_empty());
    let waits = taken_in(imagined(&world, ("root.a", "ann"), 2_000, 1));
    assert_eq!(waits.explanation.verdict, Verdict::Waiting);
    let line = waits.explanation.line(&waits.books);
    assert_eq!(line, "waiting: QUEUE_MAX root.a: 3 of 4 vcore used, needs 2");
    let never = taken_in(imagined(&world, ("root.a", "ann"), 5_000, 1));
    assert_eq!(never.explanation.verdict, Verdict::Impossible);
}

#[test]
fn of_several_the_first_that_waits_is_explained_and_who_starts_is_counted() {
    let world = tell_world(SCENE);
    let some = taken_in(imagined(&world, ("root.a", "ann"), 500, 5));
    assert_eq!((some.starts, some.asks), (2, 5));
    assert_eq!(some.explanation.verdict, Verdict::Waiting);
    let all = taken_in(imagined(&world, ("root.a", "ann"), 500, 2));
    assert_eq!((all.starts, all.explanation.verdict), (2, Verdict::StartsNext));
}

#[test]
fn what_would_be_rejected_is_told_with_its_rule() {
    let world = tell_world(SCENE);
    let WhatIfOutcome::Rejected { code, message } = imagined(&world, ("root.a", "cid"), 1_000, 1)
    else {
        panic!("the user may not submit")
    };
    assert_eq!(code, "PL-REJECTED");
    assert!(message.contains("cid"), "{message}");
    let WhatIfOutcome::Rejected { code, .. } = imagined(&world, ("root.a", "ann"), 0, 1) else {
        panic!("it asks for nothing")
    };
    assert_eq!(code, "ASK_SIZE");
}

/// What is supposed, and what becomes of it when it is submitted, on states of random histories in which nothing
/// moves.
pub(crate) fn is_what_follows(
    books: &Books,
    now: Timestamp,
    counts: &mut BTreeMap<&'static str, u64>,
) {
    let like: Vec<_> =
        books.applications().iter().filter(|(_, row)| row.state.is_active()).collect();
    let sizes: Vec<Amounts> =
        books.allocations().iter().map(|(id, _)| books.plain_size_of(id)).take(2).collect();
    let Some(first) = books.partitions().keys().next() else { return };
    let like = like.into_iter().filter(|(_, row)| row.partition == *first && row.task.is_none());
    for (_, row) in like.take(3) {
        for (resources, members) in sizes.iter().zip([1, 3]) {
            let wanted = wanted(books, (&row.queue_path, &row.user), resources, members);
            let imagined = what_if(books, now, &wanted, WHAT_IF_STEPS);
            let real = submitted(books, now, &wanted);
            is_same(imagined, real, counts);
        }
    }
}

/// The books and the explanation after a submission, or the rule that declines it.
type Real = Result<(Books, Explanation), String>;

fn submitted(books: &Books, now: Timestamp, wanted: &Hypothetical) -> Real {
    let Hypothetical::Application(submit, ask, members) = wanted else { panic!("no task") };
    let mut world =
        World { books: books.clone(), scheduler: Scheduler::new(books), now, ..World::default() };
    world.scheduler.next(&world.books, now, &mut Vec::new());
    let mut commands = vec![Command::Submit(submit.clone())];
    let key = |number| member_key(&submit.application, number);
    let asks = (1..=*members).map(|number| Ask { key: key(number), ..ask.clone() });
    commands.extend(asks.map(Command::Ask));
    for command in &commands {
        let events = world.command(command).map_err(|why| why.code().as_str().to_owned())?;
        if let Some(Event::Application(ApplicationEvent::Rejected { code, .. })) = events.last() {
            return Err(code.to_string());
        }
    }
    world.settle();
    let partition = world.books.partition_named(&submit.partition).expect("it is there");
    let application = *world
        .books
        .partition(partition)
        .applications
        .get(&*submit.application)
        .expect("it is taken in");
    let ask = first_of(&world.books, application).expect("it asks for something");
    let explanation = explain(&world.books, &world.scheduler, ask).expect("it is there");
    Ok((world.books, explanation))
}

fn is_same(imagined: WhatIfOutcome, real: Real, counts: &mut BTreeMap<&'static str, u64>) {
    match (imagined, real) {
        (WhatIfOutcome::Rejected { code, .. }, Err(real)) => {
            *counts.entry("rejected").or_default() += 1;
            assert_eq!(code, *real);
        }
        (WhatIfOutcome::TakenIn(taken), Ok((books, real))) => {
            let told = shown(&taken.books, &taken.explanation);
            assert!(!taken.ran_out, "{told}");
            *counts.entry(taken.explanation.verdict.word()).or_default() += 1;
            if real.verdict == Verdict::Allocated {
                assert_eq!(taken.explanation.verdict, Verdict::StartsNext, "{told}");
                assert_eq!(taken.explanation.blocked_by().count(), 0, "{told}");
                return;
            }
            assert_eq!(told, shown(&books, &real));
        }
        (imagined, real) => panic!("{imagined:?} is not {real:?}"),
    }
}
