//! Reasons for missing equivalents that several properties share.

pub(super) const LOCALITY: &str =
    "the scheduler uses any node that fits, and ignores data locality";
pub(super) const BEATS: &str =
    "the scheduler places every ask that fits immediately, and does not wait for node heartbeats";
pub(super) const RESERVE: &str = "capacity cannot be reserved for a later time";
pub(super) const NODES: &str = "one node sorting policy applies to all queues";
pub(super) const RATE: &str = "preemption stops only the allocations that a waiting ask needs, and \
                               does not run in rounds";
pub(super) const SORT: &str = "set `nodesortpolicy` in the partition";
pub(super) const DEPTH: &str = "placement rules create queues of any depth, and no key limits it";
pub(super) const ZEROS: &str = "percentages of 0 for all queues are always valid";
pub(super) const REFRESH: &str = "the server checks its queue file every few seconds";
pub(super) const PRIORITY: &str = "the submission sets the priority of an application";
pub(super) const BELOW: &str =
    "preemption takes no queue below its guarantee, whatever the priority of the waiting ask";
pub(super) const TYPES: &str = "no queue falls below its guarantee in a type that the ask needs";

// Preemption between users of a leaf. Source: docs/preemption.md, "Where users share a leaf".
pub(super) const FROM_HALF: &str = "users of a leaf preempt each other if the leaf uses half of \
                                    its guarantee, and no key changes this threshold";
pub(super) const A_FIFTH: &str = "at most a fifth of the guarantee of a leaf moves between users \
                                  at a time, and no key changes this limit";
pub(super) const BY_SHARES: &str = "preemption stops work of users above their share for users \
                                    below their share, at the same or a lower priority; no key \
                                    changes this order";
pub(super) const KEEPS: &str =
    "preemption leaves the user of each victim at least their share plus one `minimumallocation`";
pub(super) const INTRA: &str = "set `intraqueueenabled` in `preemption` of the partition to enable \
                                preemption between users, and `intraqueuedisabled` in `preemption` \
                                of a queue to disable it";
