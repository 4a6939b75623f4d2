//! Journals that a test writes, as a server would have.

use std::sync::Arc;

use std::path::Path;

use headroom_core::books::Books;
use headroom_core::testkit::Move;
use headroom_core::{Command, Scheduler, Step, Timestamp, decide};
use headroom_journal::{FileStore, Journal, Record};

/// What these commands lead to, each at its time: itself and what the scheduler does then, until nothing moves.
pub(crate) fn moves(commands: impl IntoIterator<Item = (Timestamp, Command)>) -> Vec<Move> {
    let (mut books, mut scheduler) = (Books::default(), Scheduler::default());
    let mut all = Vec::new();
    for (at, command) in commands {
        let mut events = decide(&books, at, &command).unwrap();
        let mut command = Some(command);
        loop {
            for event in &events {
                scheduler.apply(&mut books, at, event);
            }
            all.push(Move { at, command: command.take(), events });
            events = Vec::new();
            if scheduler.next(&books, at, &mut events) != Step::Moved {
                break;
            }
        }
    }
    all
}

/// Write down what moved something.
pub(crate) fn write_journal(folder: &Path, moves: impl IntoIterator<Item = Move>) {
    let mut journal = Journal::new(Box::new(FileStore::open_folder(folder).unwrap()));
    for Move { at: time, command, events } in moves {
        let origin = command.is_some().then(Arc::default);
        let record = Record { sequence: journal.next(), time, origin, command, events };
        let bytes = journal.encode(&record).unwrap();
        journal.add(&record, bytes);
    }
    journal.sync().unwrap();
}
