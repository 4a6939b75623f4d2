//! Arbitrary bytes as a snapshot, for the fuzzer and the tests.

use headroom_core::books::Books;
use headroom_core::view::{
    self, ApplicationView, Counters, NodeView, PartitionView, QueueView, RejectedView, health,
};
use headroom_core::{Scheduler, Timestamp};

use super::stream::Bounded;
use super::{decode, read, write};

/// Content limit, larger than the input of a fuzzer.
const LIMIT: u64 = 1 << 22;

/// Number of scheduler steps with books that were read.
const STEPS: usize = 8;

/// Reads bytes as a snapshot of books, and again as the content of one without checksums. Books that were read can be
/// shown, whatever their content, and are unchanged after they are written and read again. If they are consistent, a
/// scheduler continues with them.
///
/// # Panics
/// If any of this does not hold.
pub fn exercise(bytes: &[u8]) {
    let mut source = bytes;
    if let Ok(books) = read::<Books>(&mut source, LIMIT) {
        go_on(books);
    }
    if let Ok((books, _)) = decode::<Books, _>(Bounded::new(bytes, LIMIT)) {
        go_on(books);
    }
}

/// Computes all views of the books.
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
