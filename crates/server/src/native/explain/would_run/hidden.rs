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
    let words = message.split(|letter: char| letter.is_whitespace() || ",;\"'()".contains(letter));
    let words = words.map(|word| word.trim_end_matches([':', '.', '…']).to_lowercase());
    let mut paths = words.filter(|word| word == "root" || word.starts_with("root."));
    if sight.is_all() || paths.all(|path| is_known(books, partition, &sight, &path)) {
        return (code.to_owned(), message.to_owned());
    }
    let message =
        "no placement rule takes it to a queue that you see; name a leaf to which you may submit";
    ("PL-REJECTED".to_owned(), message.to_owned())
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
