//! Restrictions on changes of user limits by a queue file. Source: user-headroom §2.6.

use crate::books::Books;
use crate::id::PartitionId;
use crate::rejection::Rejection;

use super::target::Target;

/// Rejects a file that lowers `maximumallocation` of an existing leaf, because accepted asks would exceed it. A type
/// that was not limited before can get any value.
pub(super) fn are_not_lowered(
    books: &Books,
    partition: PartitionId,
    targets: &[Target<'_>],
) -> Result<(), Rejection> {
    let queues = &books.partition(partition).queues;
    for target in targets.iter().filter(|target| target.is_leaf()) {
        let Some(row) = queues.get(&*target.path).map(|id| books.queue(*id)) else { continue };
        let known = row.settings.user_limits.as_ref();
        let known = known.and_then(|limits| limits.maximum_allocation.as_ref());
        let given = target.settings.user_limits.as_ref();
        let given = given.and_then(|limits| limits.maximum_allocation.as_ref());
        let (Some(known), Some(given)) = (known, given) else { continue };
        for (resource, known) in known.iter().filter(|_| row.leaf) {
            if let Some(given) = given.get(resource).filter(|given| *given < known) {
                let (queue, resource) = (target.path.clone(), resource.clone());
                return Err(Rejection::MaximumAllocationLowered { queue, resource, known, given });
            }
        }
    }
    Ok(())
}
