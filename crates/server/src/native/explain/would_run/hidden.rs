//! Reasons for a rejection, without facts that are hidden from the caller.

use headroom_core::books::Books;
use headroom_core::id::PartitionId;

use crate::caller::Caller;
use crate::rest::{Extent, Visibility};

/// Returns the rule and the sentence. The sentence is the same for a hidden queue and for a missing queue that might be
/// hidden.
pub(super) fn unless_seen(
    (books, partition): (&Books, PartitionId),
    caller: &Caller,
    (code, message): (&str, &str),
) -> (String, String) {
    let sight = Visibility::of(caller);
    let is_known = |part: &str| sight.is_all() || names_known(books, partition, &sight, part);
    // The fallback after the last rule is in every sentence, although the caller did not request its queue.
    let parts = message.split("; ").filter(|part| !part.starts_with("at last: ") || is_known(part));
    let message = parts.collect::<Vec<_>>().join("; ");
    if is_known(&message) {
        return (code.to_owned(), message);
    }
    let message = "no placement rule selects a queue that you can see. Set `queue` to a leaf to \
                   which you can submit.";
    ("PL-REJECTED".to_owned(), message.to_owned())
}

/// Returns whether the caller can know whether all queues in a text exist.
fn names_known(books: &Books, partition: PartitionId, sight: &Visibility, text: &str) -> bool {
    let words = text.split(|letter: char| letter.is_whitespace() || ",;\"'()".contains(letter));
    let words = words.map(|word| word.trim_end_matches([':', '.', '…']).to_lowercase());
    let mut paths = words.filter(|word| word == "root" || word.starts_with("root."));
    paths.all(|path| is_known(books, partition, sight, &path))
}

/// Returns whether the caller can know whether a path exists.
fn is_known(books: &Books, partition: PartitionId, sight: &Visibility, path: &str) -> bool {
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
