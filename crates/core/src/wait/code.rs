//! The table of codes under which an ask waits.
//!
//! A row has the letter of the check in the order of `CapacityScheduler`, and what a report says the ask waited for.
//! A new code is a row here, and a row in `wait/reason.rs` that names it.

use alloc::string::String;

/// Declares the codes: each with its doc, what is shown, its letter, and its phrases.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $letter:expr, $awaited:literal, $short:literal;)+) => {
        /// The check under which an ask waits. A code does not change: metrics, logs, programs, and the error pages
        /// use it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum WaitCode {
            $($(#[$doc])* $name,)+
        }

        impl WaitCode {
            /// All codes, in alphabetical order of what is shown.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$name),+];

            /// Returns what is shown.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// Returns where the check stands in the order in which `CapacityScheduler` checks an ask.
            ///
            /// (a) what a node is for, and nodes that the application refuses; (b) free capacity on nodes; (c) the
            /// maxima of queues; (d) what a user or group may have; (e) how many applications there may be, and what
            /// their drivers may have. Other checks have no letter.
            pub const fn letter(self) -> Option<char> {
                match self { $(Self::$name => $letter,)+ }
            }

            /// Returns what an ask waits for, as a phrase that follows "waited for".
            pub fn awaited(self, subject: &str) -> String {
                let phrase = match self { $(Self::$name => $awaited,)+ };
                phrase.replace("{}", subject)
            }

            /// Returns the same in a few words, for a narrow column.
            pub fn awaited_short(self, subject: &str) -> String {
                let phrase = match self { $(Self::$name => $short,)+ };
                phrase.replace("{}", subject)
            }

            /// Whether it is the quota of a tenant that holds the ask back.
            pub const fn is_quota(self) -> bool {
                matches!(
                    self,
                    Self::AncestorQuota
                        | Self::OverQuotaAfterLowering
                        | Self::TenantInstances
                        | Self::TenantQuota
                )
            }

            /// Returns the code with this text.
            pub fn of_text(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|code| code.as_str() == text)
            }
        }
    };
}

codes! {
    /// The absolute limit of a group.
    AbsGroupLimit = "ABS_GROUP_LIMIT", Some('d'), "capacity within the limit of {}", "limit of {}";
    /// The absolute limit of a user.
    AbsUserLimit = "ABS_USER_LIMIT", Some('d'), "capacity within the limit of {}", "limit of {}";
    /// The quota of a tenant above its own.
    AncestorQuota = "ANCESTOR_QUOTA", None, "capacity within the quota of {}, a tenant above", "quota of {}";
    /// The RM was asked about it, or has too many open questions.
    AwaitingRm = "AWAITING_RM", None, "an answer of the resource manager about nodes", "answer of the RM";
    /// Too many asks of its application found no node.
    Backoff = "BACKOFF", None, "another try: too many asks of {} found no node", "back-off";
    /// A gang that takes room as it comes.
    BehindGang = "BEHIND_GANG", None, "{} to be complete, or room for all of its own gang at once", "{}";
    /// The head of a line of which nobody may overtake.
    BehindHead = "BEHIND_HEAD", None, "the head of line of queue {} to start", "head of line of {}";
    /// What the drivers of a leaf may have.
    DriverLimitQueue = "DRIVER_LIMIT_QUEUE", Some('e'),
        "an application to end: the drivers of {} had reached their limit", "drivers of {}";
    /// What the drivers of a user may have of a leaf.
    DriverLimitUser = "DRIVER_LIMIT_USER", Some('e'),
        "an application to end: the drivers of {} had reached their limit", "drivers of {}";
    /// Placeholders of its task group are left, and none can be replaced now.
    GangIncomplete = "GANG_INCOMPLETE", None, "a placeholder of its gang ({})", "placeholder";
    /// How many applications a group may run.
    GroupApps = "GROUP_APPS", Some('e'), "an application of {} to end: the limit of running \
                                          applications was reached", "running jobs of {}";
    /// Room of a queue that is held for another ask.
    Held = "HELD", None, "the ask to start for which queue {} holds room", "room held by {}";
    /// What is reserved for the head of a line.
    HeldForHead = "HELD_FOR_HEAD", None, "the head of line of queue {} to start", "head of line of {}";
    /// Larger than a queue, a limit, or the nodes allow, whatever is released.
    Impossible = "IMPOSSIBLE", None, "a change of quotas, limits, or nodes: {} allows less than \
                                      the ask needs", "impossible: {}";
    /// How many applications may run in a queue.
    MaxApps = "MAX_APPS", Some('e'), "an application of queue {} to end: the limit of running \
                                      applications was reached", "running jobs of {}";
    /// Nodes that it may not have.
    NodeBlocked = "NODE_BLOCKED", Some('a'), "a node that is not on the block list of the ask", "blocked nodes";
    /// The RM refused it every node that has room.
    NodeConstraint = "NODE_CONSTRAINT", None, "a node that the resource manager accepts", "nodes rejected by the RM";
    /// Every node with room is reserved for others.
    NodeReserved = "NODE_RESERVED", Some('b'), "a node that is not reserved for another ask", "reserved nodes";
    /// The node that is reserved for it has no room yet.
    NodeResources = "NODE_RESOURCES", Some('b'), "free capacity on {}, which was reserved for the \
                                                  ask", "capacity on {}";
    /// No node has registered, or none has a size.
    NoNodes = "NO_NODES", None, "a node to register: the cluster had none", "cluster without nodes";
    /// No node in use has room.
    NoNodeFits = "NO_NODE_FITS", Some('b'), "a node with enough free capacity", "no node fits";
    /// No node has the label that it selects.
    NoPartitionAccess = "NO_PARTITION_ACCESS", Some('a'), "a node with the label of the ask", "nodes of other labels";
    /// Nothing but that others are looked at first, for they come first in the order of their queue.
    OrderBehind = "ORDER_BEHIND", None, "earlier asks at queue {}", "order of {}";
    /// A quota of a tenant that was lowered below what is used.
    OverQuotaAfterLowering = "OVER_QUOTA_AFTER_LOWERING", None,
        "the usage of {} to drop below its lowered quota", "lowered quota of {}";
    /// How many applications may have been activated.
    ParallelLimit = "PARALLEL_LIMIT", Some('e'),
        "an application to end: the limit of active applications of {} was reached", "active jobs of {}";
    /// Others were asked to stop for it, and have not stopped yet.
    PreemptionPending = "PREEMPTION_PENDING", None, "preempted allocations to stop on {}", "preemption on {}";
    /// Nothing but that others are looked at first, for they are more urgent.
    PriorityBehind = "PRIORITY_BEHIND", None, "asks with a higher priority at queue {}", "priority at {}";
    /// The maximum of a queue.
    QueueMax = "QUEUE_MAX", Some('c'), "capacity within the maximum of queue {}", "maximum of {}";
    /// A queue that accepts no allocations.
    QueueState = "QUEUE_STATE", Some('c'), "queue {} to accept work", "closed queue {}";
    /// Not all nodes have reported since the start.
    Recovering = "RECOVERING", None, "nodes to report after the restart", "nodes to report";
    /// Its only node is not there.
    RequiredNodeAbsent = "REQUIRED_NODE_ABSENT", None, "the required node to register", "required node";
    /// Its only node has no room.
    RequiredNodeFull = "REQUIRED_NODE_FULL", None, "free capacity on {}, the required node", "only {}";
    /// Its only node is too small, however empty.
    RequiredNodeSize = "REQUIRED_NODE_SIZE", None, "a larger {}, the required node", "only {}";
    /// The resource manager is away.
    RmAway = "RM_AWAY", None, "{} to return", "resource manager away";
    /// The size of the cluster.
    RootCapacity = "ROOT_CAPACITY", Some('c'), "free capacity in the cluster", "cluster full";
    /// Nothing but that others are looked at first, for they use less of their share.
    ShareBehind = "SHARE_BEHIND", None, "applications below their share at queue {}", "shares at {}";
    /// How many tasks a tenant may run.
    TenantInstances = "TENANT_INSTANCES", None, "a task of {} to end: the quota of instances was reached", "instances of {}";
    /// The quota of the tenant.
    TenantQuota = "TENANT_QUOTA", None, "capacity within the quota of {}", "quota of {}";
    /// A tenant that is suspended.
    TenantSuspended = "TENANT_SUSPENDED", None, "the tenant of queue {} to be resumed", "suspended tenant";
    /// How many applications a user may run.
    UserApps = "USER_APPS", Some('e'), "an application of {} to end: the limit of running \
                                        applications was reached", "running jobs of {}";
    /// The most that one user may have of a leaf.
    UserHardCap = "USER_HARD_CAP", Some('d'), "capacity within the limit of {}", "limit of {}";
    /// A user's share of a leaf.
    UserShare = "USER_SHARE", Some('d'), "capacity within the fair share of {}", "share of {}";
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
    /// Returns how often under this code.
    pub const fn get(&self, code: WaitCode) -> u64 {
        self.0[code as usize]
    }

    /// Counts one more.
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
