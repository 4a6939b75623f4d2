//! The codes under which an ask waits.

use crate::codes::codes;

codes! {
    /// Under which check an ask waits. A code does not change: it is what metrics, logs, programs
    /// and the pages of errors call the check.
    WaitCode {
        /// The absolute limit of a group.
        AbsGroupLimit = "ABS_GROUP_LIMIT",
        /// The absolute limit of a user.
        AbsUserLimit = "ABS_USER_LIMIT",
        /// The RM was asked about it, or has too much to answer.
        AwaitingRm = "AWAITING_RM",
        /// Too many asks of its application found no node.
        Backoff = "BACKOFF",
        /// The head of a line of which nobody may overtake.
        BehindHead = "BEHIND_HEAD",
        /// What the drivers of a leaf may have.
        DriverLimitQueue = "DRIVER_LIMIT_QUEUE",
        /// What the drivers of a user may have of a leaf.
        DriverLimitUser = "DRIVER_LIMIT_USER",
        /// Placeholders of its task group are left, and none is to be had now.
        GangIncomplete = "GANG_INCOMPLETE",
        /// How many applications a group may run.
        GroupApps = "GROUP_APPS",
        /// What is kept for the head of a line.
        HeldForHead = "HELD_FOR_HEAD",
        /// How many applications may run in a queue.
        MaxApps = "MAX_APPS",
        /// Nodes that it may not have.
        NodeBlocked = "NODE_BLOCKED",
        /// The RM refused it every node that has room.
        NodeConstraint = "NODE_CONSTRAINT",
        /// Every node with room is kept for others.
        NodeReserved = "NODE_RESERVED",
        /// The node that is kept for it has no room yet.
        NodeResources = "NODE_RESOURCES",
        /// No node has registered, or none has a size.
        NoNodes = "NO_NODES",
        /// No node in use has room.
        NoNodeFits = "NO_NODE_FITS",
        /// No node has the label that it wishes for.
        NoPartitionAccess = "NO_PARTITION_ACCESS",
        /// Nothing but that others are looked at first, for they come first in the order of their queue.
        OrderBehind = "ORDER_BEHIND",
        /// How many applications may have been activated.
        ParallelLimit = "PARALLEL_LIMIT",
        /// Others were asked to stop for it, and have not stopped yet.
        PreemptionPending = "PREEMPTION_PENDING",
        /// Nothing but that others are looked at first, for they are more urgent.
        PriorityBehind = "PRIORITY_BEHIND",
        /// The maximum of a queue.
        QueueMax = "QUEUE_MAX",
        /// A queue that offers no room.
        QueueState = "QUEUE_STATE",
        /// Not all nodes have reported since the start.
        Recovering = "RECOVERING",
        /// Its only node is not there.
        RequiredNodeAbsent = "REQUIRED_NODE_ABSENT",
        /// Its only node has no room.
        RequiredNodeFull = "REQUIRED_NODE_FULL",
        /// Its only node is too small, however empty.
        RequiredNodeSize = "REQUIRED_NODE_SIZE",
        /// The resource manager is away.
        RmAway = "RM_AWAY",
        /// The size of the cluster.
        RootCapacity = "ROOT_CAPACITY",
        /// Nothing but that others are looked at first, for they use less of their share.
        ShareBehind = "SHARE_BEHIND",
        /// A tenant that is suspended.
        TenantSuspended = "TENANT_SUSPENDED",
        /// How many applications a user may run.
        UserApps = "USER_APPS",
        /// The most that one user may have of a leaf.
        UserHardCap = "USER_HARD_CAP",
        /// A user's share of a leaf.
        UserShare = "USER_SHARE",
    }
}

/// How often asks came to wait under each code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitCounts([u64; WaitCode::ALL.len()]);

impl Default for WaitCounts {
    fn default() -> Self {
        Self([0; WaitCode::ALL.len()])
    }
}

impl WaitCounts {
    /// Under this one.
    pub const fn get(&self, code: WaitCode) -> u64 {
        self.0[code as usize]
    }

    /// Once more.
    pub const fn note(&mut self, code: WaitCode) {
        self.0[code as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::WaitCode;

    #[test]
    fn codes_are_in_the_order_of_what_is_shown() {
        assert!(WaitCode::ALL.is_sorted_by(|one, next| one.as_str() < next.as_str()));
        assert!(WaitCode::ALL.iter().enumerate().all(|(place, code)| *code as usize == place));
    }
}
