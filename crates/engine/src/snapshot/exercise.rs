//! Any bytes as a snapshot, for the fuzzer and the tests.

use headroom_core::books::Books;
use headroom_core::view::{
    self, ApplicationView, Counters, NodeView, PartitionView, QueueView, RejectedView, health,
};
use headroom_core::{Scheduler, Timestamp};

use super::stream::Bounded;
use super::{decode, read, write};

/// More content than a fuzzer makes.
const LIMIT: u64 = 1 << 22;

/// Steps of a scheduler over books that were read.
const STEPS: usize = 8;

/// Read bytes as a snapshot of books, and once more as the content of one, which no checksum
/// keeps from being damaged. What is read must be readable, whatever it says, and survive being
/// written and read again; if it balances, a scheduler goes on from it.
///
/// # Panics
/// When anything is wrong.
pub fn exercise(bytes: &[u8]) {
    let mut source = bytes;
    if let Ok(books) = read::<Books>(&mut source, LIMIT) {
        go_on(books);
    }
    if let Ok((books, _)) = decode::<Books, _>(Bounded::new(bytes, LIMIT)) {
        go_on(books);
    }
}

/// Look at everything that may be asked for.
fn show(books: &Books) {
    let _ = health(books, Counters::default());
    for (id, partition) in books.partitions() {
        let _ = PartitionView::of(books, *id);
        let _ = (view::users(books, *id), view::groups(books, *id));
        let _ = (NodeView::all(books, *id), view::usage_bands(books, *id));
        let _ = (ApplicationView::active(books, *id), ApplicationView::completed(books, *id));
        let _ = (RejectedView::all(books, *id), QueueView::tree(books, partition.root));
    }
}

fn go_on(mut books: Books) {
    let mut again = Vec::new();
    write(&books, &mut again).expect("books can be written to memory");
    let read_again: Books = read(&mut &*again, u64::MAX).expect("what was written can be read");
    assert_eq!(read_again, books, "what was read is the same after another time");
    show(&books);
    if books.check().is_err() {
        return; // Readable, and known to be wrong.
    }
    let now = books.next_deadline().unwrap_or(Timestamp::ZERO);
    let mut scheduler = Scheduler::new(&books);
    for _ in 0..STEPS {
        let mut events = Vec::new();
        scheduler.next(&books, now, &mut events);
        for event in &events {
            scheduler.apply(&mut books, now, event);
        }
    }
}
