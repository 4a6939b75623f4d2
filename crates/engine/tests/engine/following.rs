//! Those who follow what happens.

use headroom_core::Millis;
use headroom_engine::{NoticeKind, TooOld};
use headroom_journal::MemoryJournal;

use crate::cluster::{Cluster, ask, release};

#[tokio::test]
async fn a_follower_gets_every_record_once_in_order_from_where_it_was() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    let mut follower = cluster.handle.feed().follow(2);
    let mut numbers = Vec::new();
    for round in 0..20 {
        let (key, vcores) = (format!("a{round}"), 1 + round % 3);
        cluster.accept(ask(&key, vcores)).await;
        cluster.turn(Millis::new(1)).await;
        if round % 4 == 1 {
            cluster.accept(release(&key)).await;
        }
        if round % 5 == 0 {
            let entries = follower.next().await.unwrap().unwrap();
            numbers.extend(entries.iter().map(|entry| entry.record.sequence));
        }
    }
    let newest = cluster.handle.feed().newest();
    while numbers.last() != Some(&newest) {
        let entries = follower.next().await.unwrap().unwrap();
        numbers.extend(entries.iter().map(|entry| entry.record.sequence));
    }
    assert_eq!(numbers, (2..=newest).collect::<Vec<_>>());
}

#[tokio::test]
async fn who_was_away_for_too_long_is_told_so() {
    let cluster = Cluster::with(&MemoryJournal::default(), |settings| {
        settings.retention.entries = 4;
        settings.pace = headroom_engine::Pace::ByHand;
    });
    cluster.furnish().await;
    let mut follower = cluster.handle.feed().follow(1);
    for round in 0..6 {
        cluster.accept(ask(&format!("a{round}"), 1)).await;
    }
    assert_eq!(follower.next().await, Err(TooOld { wanted: 1, oldest: 6 }));
    assert_eq!(cluster.handle.feed().follow(9).next().await.unwrap().unwrap().len(), 1);
}

#[tokio::test]
async fn followers_hear_of_the_end() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    let mut follower = cluster.handle.feed().follow(4);
    let Cluster { engine, handle, .. } = cluster;
    drop(handle);
    let waiting = tokio::spawn(async move { (follower.next().await, follower) });
    engine.stop().await.unwrap();
    let (heard, _) = waiting.await.unwrap();
    assert_eq!(heard, Ok(None));
}

#[tokio::test]
async fn what_is_told_of_objects_is_numbered_and_followed_too() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    let mut watcher = cluster.handle.watched().follow(1);
    let first = watcher.next().await.unwrap().unwrap();
    assert_eq!(first.len(), 1, "the newest one is sent again");
    cluster.accept(ask("a1", 1)).await;
    cluster.turn(Millis::new(1)).await;
    let told = watcher.next().await.unwrap().unwrap();
    assert!(told.iter().any(|record| record.object == "app"), "{told:?}");
    let all = cluster.handle.watched().query(0, usize::MAX);
    assert_eq!(all.highest + 1, all.records.len() as u64);
}

#[tokio::test]
async fn the_rm_is_told_in_names() {
    let cluster = Cluster::furnished(&MemoryJournal::default()).await;
    cluster.accept(ask("a1", 1)).await;
    cluster.turn(Millis::new(1)).await;
    cluster.accept(release("a1")).await;
    let entries = cluster.handle.feed().read(1, usize::MAX).unwrap();
    let news = entries.iter().flat_map(|entry| &entry.notices).map(|notice| match &notice.news {
        NoticeKind::ApplicationAccepted { application } => format!("{application} accepted"),
        NoticeKind::ApplicationMoved { application, state, .. } => format!("{application} {state}"),
        NoticeKind::NodeAccepted { node } => format!("{node} accepted"),
        NoticeKind::Allocated(one) => format!("{} on {}", one.key, one.node),
        NoticeKind::Released(one) => {
            format!("{} released, to confirm: {}", one.key, one.to_confirm)
        }
        other => format!("{other:?}"),
    });
    assert_eq!(
        news.collect::<Vec<_>>(),
        [
            "n1 accepted",
            "app accepted",
            "app Accepted",
            "a1 on n1",
            "app Running",
            "a1 released, to confirm: false",
            "app Completing"
        ]
    );
}
