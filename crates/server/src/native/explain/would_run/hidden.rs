//! Why something is declined, without what the caller may not know.

use headroom_core::books::Books;
use headroom_core::id::PartitionId;

use crate::caller::Caller;
use crate::rest::{Extent, Sight};

/// The rule and the sentence; where it names a queue that he does not see, or one that is not there and might be
/// such a queue, the same for all of these.
pub(super) fn unless_seen(
    (books, partition): (&Books, PartitionId),
    caller: &Caller,
    (code, message): (&str, &str),
) -> (String, String) {
    let sight = Sight::of(caller);
    let is_known = |part: &str| sight.is_all() || names_known(books, partition, &sight, part);
    // What is tried when no rule has matched is named every time, and he has not asked for it.
    let parts = message.split("; ").filter(|part| !part.starts_with("at last: ") || is_known(part));
    let message = parts.collect::<Vec<_>>().join("; ");
    if is_known(&message) {
        return (code.to_owned(), message);
    }
    let message =
        "no placement rule takes it to a queue that you see; name a leaf to which you may submit";
    ("PL-REJECTED".to_owned(), message.to_owned())
}

/// Whether he may know of all queues that a text names.
fn names_known(books: &Books, partition: PartitionId, sight: &Sight, text: &str) -> bool {
    let words = text.split(|letter: char| letter.is_whitespace() || ",;\"'()".contains(letter));
    let words = words.map(|word| word.trim_end_matches([':', '.', '…']).to_lowercase());
    let mut paths = words.filter(|word| word == "root" || word.starts_with("root."));
    paths.all(|path| is_known(books, partition, sight, &path))
}

/// Whether he may know of a path whether it is there.
fn is_known(books: &Books, partition: PartitionId, sight: &Sight, path: &str) -> bool {
    let queues = &books.partition(partition).queues;
    if let Some(queue) = queues.get(path) {
        return sight.sees_queue(books, *queue);
    }
    let mut above = path;
    while let Some((shorter, _)) = above.rsplit_once('.') {
        above = shorter;
        if let Some(queue) = queues.get(above) {
            return sight.extent(books, *queue) >= Extent::Figures;
        }
    }
    false
}
