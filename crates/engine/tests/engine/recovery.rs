//! What a journal gives back is what was there.

use headroom_core::Millis;
use headroom_core::books::Books;
use headroom_engine::{Engine, HandClock, Handle, Settings, recover};
use headroom_journal::{FileStore, MemoryJournal};

use crate::cluster::{Cluster, START, ask, release};

/// The books, to compare. Their text has every row and index.
fn text(books: &Books) -> String {
    format!("{books:?}")
}

async fn books_of(handle: &Handle) -> String {
    handle.inspect(|books, _| text(books)).await.unwrap()
}

#[tokio::test]
async fn a_restart_gives_the_same_books_and_goes_on() {
    let journal = MemoryJournal::default();
    let cluster = Cluster::furnished(&journal).await;
    for round in 0..30 {
        cluster.accept(ask(&format!("a{round}"), 1 + round % 4)).await;
        cluster.turn(Millis::from_secs(1)).await;
        if round % 3 == 2 {
            cluster.accept(release(&format!("a{}", round - 1))).await;
        }
    }
    let (books, newest) = (books_of(&cluster.handle).await, cluster.handle.feed().newest());
    cluster.engine.stop().await.unwrap();

    let recovered = recover(&journal.open()).unwrap();
    assert_eq!((text(&recovered.books), recovered.sequence), (books.clone(), newest));
    let cluster = Cluster::on(&journal);
    assert_eq!(books_of(&cluster.handle).await, books);
    let accepted = cluster.accept(ask("later", 1)).await;
    assert_eq!(accepted.sequence, newest + 1);
    cluster.handle.inspect(|books, _| books.check().unwrap()).await.unwrap();
}

#[tokio::test]
async fn time_does_not_step_back_with_the_clock() {
    let journal = MemoryJournal::default();
    let cluster = Cluster::furnished(&journal).await;
    cluster.clock.advance(Millis::from_secs(60));
    let late = cluster.accept(ask("a1", 1)).await.entry.unwrap().record.time;
    cluster.engine.stop().await.unwrap();
    let cluster = Cluster::on(&journal); // Its clock begins at the start again.
    let next = cluster.accept(ask("a2", 1)).await.entry.unwrap().record.time;
    assert_eq!((late, next), (START + Millis::from_secs(60), late));
}

#[tokio::test]
async fn files_hold_it_too() {
    let folder = std::env::temp_dir().join(format!("headroom-engine-{}", std::process::id()));
    let open = || {
        let store = FileStore::open_folder(&folder).unwrap();
        Engine::start(Box::new(store), Settings::with(HandClock::at(START))).unwrap()
    };
    let engine = open();
    let handle = engine.handle();
    let cluster = Cluster { engine, handle, clock: HandClock::at(START) };
    cluster.furnish().await;
    for round in 0..20 {
        cluster.accept(ask(&format!("a{round}"), 1)).await;
    }
    let Cluster { engine, handle, .. } = cluster;
    let before = books_of(&handle).await;
    engine.stop().await.unwrap();
    let engine = open();
    assert_eq!(books_of(&engine.handle()).await, before);
    engine.stop().await.unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}
