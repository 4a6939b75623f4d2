//! What a journal gives back is what was there.

use std::path::PathBuf;

use headroom_core::books::Books;
use headroom_core::{AskEvent, Event, Millis, Termination};
use headroom_engine::{
    Engine, EngineError, HandClock, Handle, Pace, Recovered, Recovering, Settings, recover,
};
use headroom_journal::{FileStore, MemoryJournal, Record, Store as _};

use crate::cluster::{Cluster, START, ask, from, release};

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

/// A folder of its own, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("headroom-engine-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// An engine on the journal in it, which takes a snapshot every five records.
    fn open(&self) -> Cluster {
        let clock = HandClock::at(START);
        let mut settings = Settings::with(clock.clone());
        settings.retention.snapshot_every = 5;
        let store = FileStore::open_folder(&self.0).unwrap();
        let engine = Engine::start(Box::new(store), settings).unwrap();
        Cluster { handle: engine.handle(), engine, clock }
    }

    fn snapshots(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(&self.0).unwrap().map(|file| file.unwrap().path());
        let is_snapshot = |file: &PathBuf| file.to_string_lossy().contains("snapshot-");
        let mut found: Vec<PathBuf> = files.filter(is_snapshot).collect();
        found.sort();
        found
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn a_restart_begins_with_the_newest_snapshot_that_can_be_read() {
    let folder = Folder::new("snapshots");
    let cluster = folder.open();
    cluster.furnish().await;
    for round in 0..200 {
        cluster.accept(from("ann", &round.to_string(), ask(&format!("a{round}"), 1))).await;
    }
    let (books, last) = (books_of(&cluster.handle).await, cluster.handle.feed().newest());
    cluster.engine.stop().await.unwrap();
    assert_eq!(folder.snapshots().len(), 2, "older ones are dropped");

    let cluster = folder.open();
    let begin = cluster.engine.begin().clone();
    assert_eq!((begin.sequence, begin.replayed, begin.warnings.len()), (last, 0, 0));
    assert_eq!(books_of(&cluster.handle).await, books);
    let repeated = cluster.accept(from("ann", "7", ask("a7", 1))).await;
    assert!(repeated.repeated, "ids of senders are in it");
    cluster.handle.inspect(|books, _| books.check().unwrap()).await.unwrap();
    cluster.engine.stop().await.unwrap();

    let newest = folder.snapshots().pop().unwrap();
    let mut bytes = std::fs::read(&newest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&newest, bytes).unwrap();
    let cluster = folder.open();
    let begin = cluster.engine.begin();
    assert!(begin.replayed > 0 && begin.warnings.len() == 1, "{begin:?}");
    assert_eq!(begin.sequence, last);
    assert_eq!(books_of(&cluster.handle).await, books);
}

#[tokio::test]
async fn a_recovery_tells_how_far_it_is() {
    let journal = MemoryJournal::default();
    let cluster = Cluster::furnished(&journal).await;
    cluster.accept(ask("a1", 1)).await;
    drop(cluster); // It takes no last snapshot.
    let mut told = Vec::new();
    let mut settings = Settings::with(HandClock::at(START));
    settings.pace = Pace::ByHand;
    let engine =
        Engine::start_telling(Box::new(journal.open()), settings, &mut |far| told.push(far));
    let begin = engine.unwrap().begin().clone();
    assert_eq!(begin.replayed, 4);
    let far = |replayed| Recovering { replayed, records: 4 };
    assert_eq!(told, [far(0), far(4)]);
}

/// Records that nobody has written but a mistake.
fn recovered_of(records: &[(u64, Record)]) -> Result<Recovered, EngineError> {
    let mut store = MemoryJournal::default().open();
    for (sequence, record) in records {
        let (lease, bytes) = (store.lease(), record.encode().unwrap());
        store.append(lease, *sequence, &[bytes]).unwrap();
    }
    recover(&store)
}

fn record(sequence: u64, events: Vec<Event>) -> Record {
    Record { sequence, time: START, origin: None, command: None, events }
}

#[test]
fn a_record_that_cannot_have_happened_is_an_error_that_names_it() {
    let ask = Books::default().allocations().next_id();
    let lost = Event::Ask(AskEvent::Removed { ask, termination: Termination::Timeout });
    let records = [(1, record(1, Vec::new())), (2, record(2, vec![lost]))];
    let error = recovered_of(&records).unwrap_err();
    let EngineError::Impossible(impossible) = &error else { panic!("{error}") };
    assert_eq!(impossible.sequence, 2);
    let expected = "To keep the previous records, run `headroom journal repair --to 1`";
    assert!(error.to_string().contains(expected), "{error}");
    let error = recovered_of(&[(1, record(7, Vec::new()))]).unwrap_err();
    let text = "memory is damaged at record 1: the number in the record does not match its \
                position in the journal";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn files_hold_it_too() {
    let folder = Folder::new("files");
    let cluster = folder.open();
    cluster.furnish().await;
    for round in 0..20 {
        cluster.accept(ask(&format!("a{round}"), 1)).await;
    }
    let before = books_of(&cluster.handle).await;
    cluster.engine.stop().await.unwrap();
    let cluster = folder.open();
    assert_eq!(books_of(&cluster.handle).await, before);
    cluster.engine.stop().await.unwrap();
}
