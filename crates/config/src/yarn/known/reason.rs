//! Why Headroom has nothing like a property, where more than one property has the reason.

pub(super) const LOCALITY: &str =
    "the scheduler uses any node that fits, and ignores data locality";
pub(super) const BEATS: &str =
    "nodes do not ask for work one by one; whatever fits is placed at once";
pub(super) const RESERVE: &str = "there are no plans of capacity for later";
pub(super) const NODES: &str = "nodes are ordered by one policy for all queues";
pub(super) const RATE: &str = "no allocation is stopped before a complete plan makes space for a waiting ask, so there \
                    are no rounds with shares";
pub(super) const SORT: &str = "write `nodesortpolicy` in the partition";
pub(super) const DEPTH: &str = "placement rules create queues of any depth, and no key limits it";
pub(super) const ZEROS: &str = "percentages of 0 for all queues are always legal";
pub(super) const REFRESH: &str = "a server looks at its queue file every few seconds";
pub(super) const PRIORITY: &str = "an application has the priority that it is submitted with";
pub(super) const BELOW: &str =
    "preemption takes no queue below its guarantee, whatever the priority of the waiting ask";
pub(super) const TYPES: &str = "no queue falls below its guarantee in a type that the ask needs";

// From user to user within a leaf. Source: docs/preemption.md, "Where users share a leaf".
pub(super) const FROM_HALF: &str =
    "users preempt each other once their leaf uses half of its guarantee, and no key changes that";
pub(super) const A_FIFTH: &str = "at most a fifth of the guarantee of a leaf moves between \
                                  users at a time, and no key changes that";
pub(super) const BY_SHARES: &str = "work of users above their share stops for users below theirs, at the same or \
                                    a lower priority; there is no other order";
pub(super) const KEEPS: &str = "each victim's user keeps their share plus one `minimumallocation`";
pub(super) const INTRA: &str = "`intraqueueenabled` in `preemption` of the partition switches it on, and \
                                `intraqueuedisabled` in that of a queue off";
