//! When the journal fails, nothing is answered or shown that is not in it.

use headroom_core::Millis;
use headroom_engine::{EngineError, Unavailable};
use headroom_journal::MemoryJournal;

use crate::cluster::{Cluster, ask};

#[tokio::test]
async fn after_a_failed_flush_nothing_is_taken_and_reads_go_on() {
    let journal = MemoryJournal::default();
    let cluster = Cluster::furnished(&journal).await;
    cluster.accept(ask("a1", 1)).await;
    let newest = cluster.handle.feed().newest();
    journal.set_failing(true);
    let lost = cluster.handle.submit(ask("a2", 1)).await;
    assert!(matches!(lost, Err(Unavailable::Stopped { .. })), "{lost:?}");
    let refused = cluster.handle.submit(ask("a3", 1)).await;
    let Err(Unavailable::Stopped { reason }) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("cannot"), "the reason is that of the journal: {reason}");
    assert_eq!(cluster.handle.stopped(), Some(reason.as_str()));
    let view = cluster.handle.views().at_least(0).await;
    assert_eq!((view.sequence, view.books.allocations().iter().count()), (newest, 1));
    assert_eq!(cluster.handle.feed().newest(), newest);
    let ended = cluster.engine.stop().await;
    assert!(matches!(ended, Err(EngineError::Journal(_))), "{ended:?}");

    journal.set_failing(false);
    let cluster = Cluster::on(&journal);
    let view = cluster.handle.views().latest();
    assert_eq!(view.sequence, newest, "what was not answered is not there");
    cluster.accept(ask("a2", 1)).await;
}

#[tokio::test]
async fn one_that_was_replaced_can_write_no_more() {
    let journal = MemoryJournal::default();
    let before = Cluster::furnished(&journal).await;
    let after = Cluster::on(&journal);
    let late = before.handle.submit(ask("late", 1)).await;
    assert!(matches!(late, Err(Unavailable::Stopped { .. })), "{late:?}");
    after.accept(ask("a1", 1)).await;
    assert_eq!(after.turn(Millis::new(1)).await, 2, "one step ties the user, one places");
}
