//! Commands in, outcomes and news out.

use headroom_core::{Millis, Rejection, Step};
use headroom_engine::{Pace, SCAN_EVERY, Unavailable};
use headroom_journal::MemoryJournal;

use crate::cluster::{Cluster, ask, from, release};

#[tokio::test]
async fn what_fits_is_placed_in_order_and_what_does_not_waits_until_it_does() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    for key in ["a1", "a2", "a3", "a4"] {
        cluster.accept(ask(key, 2)).await;
    }
    assert_eq!(cluster.placed(), [""; 0], "by hand nothing moves by itself");
    cluster.turn(Millis::new(1)).await;
    assert_eq!(cluster.placed(), ["a1", "a2", "a3"]);
    let waits = cluster.handle.inspect(|books, scheduler| {
        let pending = books.allocations().iter().filter(|(_, row)| row.is_pending());
        let waits =
            pending.map(|(id, _)| scheduler.wait_of(books, id).unwrap().code(books, id).as_str());
        waits.collect::<Vec<_>>()
    });
    assert_eq!(waits.await.unwrap(), ["QUEUE_MAX"]);
    cluster.accept(release("a2")).await;
    cluster.turn(Millis::new(1)).await;
    assert_eq!(cluster.placed(), ["a1", "a2", "a3", "a4"]);
    cluster.engine.stop().await.unwrap();
}

#[tokio::test]
async fn a_refusal_says_which_rule_and_leaves_no_record() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    let before = cluster.handle.feed().newest();
    let outcome = cluster.handle.submit(ask("big", 0)).await.unwrap();
    assert!(matches!(outcome, Err(Rejection::AskSize { .. })), "{outcome:?}");
    assert_eq!(cluster.handle.feed().newest(), before);
}

#[tokio::test]
async fn a_repeat_gets_the_first_answer_and_ids_are_of_one_sender() {
    let journal = MemoryJournal::default();
    let cluster = Cluster::furnished(&journal).await;
    let first = cluster.accept(from("ann", "7", ask("a1", 1))).await;
    let again = cluster.accept(from("ann", "7", ask("a1", 1))).await;
    assert_eq!((again.sequence, again.repeated), (first.sequence, true));
    assert_eq!(again.entry, first.entry);
    let other = cluster.accept(from("bob", "7", ask("a2", 1))).await;
    assert!(!other.repeated && other.sequence > first.sequence);
    cluster.engine.stop().await.unwrap();

    let cluster = Cluster::on(&journal);
    let later = cluster.accept(from("ann", "7", ask("a1", 1))).await;
    assert_eq!((later.sequence, later.repeated), (first.sequence, true), "after a restart too");
}

#[tokio::test]
async fn a_repeat_in_the_same_batch_gets_the_same_answer() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    let twice = vec![from("ann", "7", ask("a1", 1)), from("ann", "7", ask("a1", 1))];
    let outcomes = cluster.handle.submit_all(twice).await.unwrap();
    let [Ok(first), Ok(again)] = &*outcomes else { panic!("{outcomes:?}") };
    assert!(again.repeated && first.entry.is_some());
    assert_eq!((again.sequence, &again.entry), (first.sequence, &first.entry));
}

#[tokio::test]
async fn commands_of_one_call_are_judged_one_right_after_the_other() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    let all = vec![ask("a1", 1).into(), ask("a1", 0).into(), ask("a2", 1).into()];
    let outcomes = cluster.handle.submit_all(all).await.unwrap();
    let sequences: Vec<Option<u64>> =
        outcomes.iter().map(|one| one.as_ref().ok().map(|one| one.sequence)).collect();
    assert_eq!(sequences, [Some(4), None, Some(5)]);
}

#[tokio::test]
async fn a_reader_sees_what_was_answered_before() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    for count in 1..=50_usize {
        let accepted = cluster.accept(ask(&format!("a{count}"), 1)).await;
        let view = cluster.handle.views().at_least(0).await;
        assert!(view.sequence >= accepted.sequence);
        assert_eq!(view.books.allocations().iter().count(), count);
    }
    let at = cluster.handle.feed().newest() + 1;
    let views = cluster.handle.views().clone();
    let later = tokio::spawn(async move { views.at_least(at).await.sequence });
    tokio::task::yield_now().await;
    cluster.accept(ask("next", 1)).await;
    assert_eq!(later.await.unwrap(), at, "who wants more waits for it");
}

#[tokio::test]
async fn nobody_waits_without_bound() {
    let cluster = Cluster::with(&MemoryJournal::default(), |settings| {
        settings.commands_waiting = 2;
        settings.pace = Pace::ByHand;
    });
    let (release, released) = std::sync::mpsc::channel::<()>();
    let (began, begins) = tokio::sync::oneshot::channel();
    let handle = cluster.handle.clone();
    let held = tokio::spawn(async move {
        handle
            .inspect(move |_, _| {
                began.send(()).unwrap();
                released.recv().unwrap();
            })
            .await
    });
    begins.await.unwrap();
    let mut waiting = Vec::new();
    let busy = loop {
        let handle = cluster.handle.clone();
        let submitted =
            tokio::spawn(async move { handle.try_submit_all(vec![ask("x", 1).into()]).await });
        tokio::task::yield_now().await;
        if submitted.is_finished() {
            break submitted.await.unwrap();
        }
        waiting.push(submitted);
        assert!(waiting.len() <= 2, "no more wait than may");
    };
    assert_eq!(busy, Err(Unavailable::Busy { waiting: 2 }));
    release.send(()).unwrap();
    held.await.unwrap().unwrap();
    for one in waiting {
        one.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn by_itself_it_goes_with_the_clock() {
    let cluster = Cluster::with(&MemoryJournal::default(), |_| {});
    cluster.furnish().await;
    for key in ["a1", "a2", "a3", "a4"] {
        cluster.accept(ask(key, 2)).await;
    }
    let view = cluster.handle.views().at_least(0).await;
    let placed = view.books.allocations().iter().filter(|(_, row)| row.is_allocated()).count();
    assert_eq!(placed, 3, "whatever the last answer stands on is done");
    cluster.engine.stop().await.unwrap();
}

#[tokio::test]
async fn an_empty_scan_leaves_no_record() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    let before = cluster.handle.feed().newest();
    for _ in 0..10 {
        assert_eq!(cluster.turn(SCAN_EVERY).await, 0);
    }
    assert_eq!(cluster.handle.feed().newest(), before);
    let idle = cluster.handle.inspect(|books, _| {
        let mut scheduler = headroom_core::Scheduler::new(books);
        scheduler.next(books, crate::cluster::START, &mut Vec::new())
    });
    assert!(matches!(idle.await.unwrap(), Step::Idle { .. }));
}

#[tokio::test]
async fn a_command_on_a_condition_is_judged_right_after_the_look_or_not_at_all() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    let before = cluster.handle.feed().newest();
    let look = move |moment: &headroom_engine::WriterState<'_>| {
        if moment.sequence == before { Ok(()) } else { Err(moment.sequence) }
    };
    let judged = cluster.handle.submit_if(ask("a1", 1).into(), look).await.unwrap();
    let accepted = judged.unwrap().unwrap();
    assert_eq!(accepted.sequence, before + 1);
    let objected = cluster.handle.submit_if(ask("a2", 1).into(), look).await.unwrap();
    assert_eq!(objected.unwrap_err(), before + 1);
    assert_eq!(cluster.handle.feed().newest(), before + 1, "it was not judged");
    let refused = cluster.handle.submit_if(ask("a3", 0).into(), |_| Ok::<_, ()>(())).await.unwrap();
    assert!(matches!(refused.unwrap(), Err(Rejection::AskSize { .. })));
    cluster.engine.stop().await.unwrap();
    let gone = cluster.handle.submit_if(ask("a4", 1).into(), |_| Ok::<_, ()>(())).await;
    assert!(matches!(gone, Err(Unavailable::Stopped { .. })));
}
