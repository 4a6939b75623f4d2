//! Table of wait codes.
//!
//! A row has the letter of the check in the order of `CapacityScheduler` and the phrases for reports. A new code needs
//! a row here and a row in `wait/reason.rs` that names it.

use alloc::string::String;

/// Declares the codes: doc comment, text, letter, long phrase, and short phrase.
macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $letter:expr, $awaited:literal, $short:literal;)+) => {
        /// Code of the check that an ask fails. Codes are stable: metrics, logs, programs, and the error pages use
        /// them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum WaitCode {
            $($(#[$doc])* $name,)+
        }

        impl WaitCode {
            /// All codes in alphabetical order of their text.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$name),+];

            /// Returns the text of the code.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// Returns the letter of the check in the order of `CapacityScheduler`.
            ///
            /// (a) node labels and the block list of the ask; (b) free capacity of nodes; (c) queue maxima; (d) amounts
            /// of a user or group; (e) numbers of applications and amounts of drivers.
            ///
            /// `None` for every other check.
            pub const fn letter(self) -> Option<char> {
                match self { $(Self::$name => $letter,)+ }
            }

            /// Returns the phrase that follows "waited for" in a report. `subject` replaces `{}`.
            pub fn awaited(self, subject: &str) -> String {
                let phrase = match self { $(Self::$name => $awaited,)+ };
                phrase.replace("{}", subject)
            }

            /// Returns a shorter phrase for a narrow column. `subject` replaces `{}`.
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

            /// Returns the code with this text. `None` if no code has it.
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
    /// The RM has not answered the question about the ask, or it has too many open questions.
    AwaitingRm = "AWAITING_RM", None, "the check of predicates of nodes", "check of predicates";
    /// Too many asks of the application found no node.
    Backoff = "BACKOFF", None, "another try: too many asks of {} found no node", "back-off";
    /// A gang that reserves capacity until it is complete.
    BehindGang = "BEHIND_GANG", None, "{} to be complete, or capacity for all of its own gang at once", "{}";
    /// The head of line of a leaf in strict FIFO order.
    BehindHead = "BEHIND_HEAD", None, "the head of line of queue {} to start", "head of line of {}";
    /// The limit on the drivers of a leaf.
    DriverLimitQueue = "DRIVER_LIMIT_QUEUE", Some('e'),
        "an application to end: the drivers of {} had reached their limit", "drivers of {}";
    /// The limit on the drivers of a user in a leaf.
    DriverLimitUser = "DRIVER_LIMIT_USER", Some('e'),
        "an application to end: the drivers of {} had reached their limit", "drivers of {}";
    /// The task group of the ask has placeholders left, and the ask can replace none of them now.
    GangIncomplete = "GANG_INCOMPLETE", None, "a placeholder of its gang ({})", "placeholder";
    /// The limit on running applications of a group.
    GroupApps = "GROUP_APPS", Some('e'), "an application of {} to end: the limit of running \
                                          applications was reached", "running jobs of {}";
    /// Capacity of a queue that is held for another ask.
    Held = "HELD", None, "the ask to start for which queue {} holds capacity", "capacity held by {}";
    /// Capacity that is reserved for the head of line of a leaf.
    HeldForHead = "HELD_FOR_HEAD", None, "the head of line of queue {} to start", "head of line of {}";
    /// The ask exceeds what a queue, a limit, or the nodes allow even after every release.
    Impossible = "IMPOSSIBLE", None, "a change of quotas, limits, or nodes: {} allows less than \
                                      the ask needs", "impossible: {}";
    /// The limit on running applications of a queue.
    MaxApps = "MAX_APPS", Some('e'), "an application of queue {} to end: the limit of running \
                                      applications was reached", "running jobs of {}";
    /// The block list of the ask.
    NodeBlocked = "NODE_BLOCKED", Some('a'), "a node that is not on the block list of the ask", "blocked nodes";
    /// The RM rejects every node with enough free capacity.
    NodeConstraint = "NODE_CONSTRAINT", None, "a node that passes the predicates of the ask", "nodes rejected by predicates";
    /// Every node with enough free capacity is reserved for other asks.
    NodeReserved = "NODE_RESERVED", Some('b'), "a node that is not reserved for another ask", "reserved nodes";
    /// The reserved node does not have enough free capacity yet.
    NodeResources = "NODE_RESOURCES", Some('b'), "free capacity on {}, which was reserved for the \
                                                  ask", "capacity on {}";
    /// No node has registered, or no node has reported a size.
    NoNodes = "NO_NODES", None, "a node to register: the cluster had none", "cluster without nodes";
    /// No node in use has enough free capacity.
    NoNodeFits = "NO_NODE_FITS", Some('b'), "a node with enough free capacity", "no node fits";
    /// No node has the label that the ask selects.
    NoPartitionAccess = "NO_PARTITION_ACCESS", Some('a'), "a node with the label of the ask", "nodes of other labels";
    /// The order of the queue: earlier asks are checked first.
    OrderBehind = "ORDER_BEHIND", None, "earlier asks at queue {}", "order of {}";
    /// A quota of a tenant that was lowered below what is used.
    OverQuotaAfterLowering = "OVER_QUOTA_AFTER_LOWERING", None,
        "the usage of {} to drop below its lowered quota", "lowered quota of {}";
    /// The limit on active applications.
    ParallelLimit = "PARALLEL_LIMIT", Some('e'),
        "an application to end: the limit of active applications of {} was reached", "active jobs of {}";
    /// The scheduler preempted allocations for the ask, and they have not stopped yet.
    PreemptionPending = "PREEMPTION_PENDING", None, "preempted allocations to stop on {}", "preemption on {}";
    /// Asks with a higher priority are checked first.
    PriorityBehind = "PRIORITY_BEHIND", None, "asks with a higher priority at queue {}", "priority at {}";
    /// The maximum of a queue.
    QueueMax = "QUEUE_MAX", Some('c'), "capacity within the maximum of queue {}", "maximum of {}";
    /// A queue that accepts no allocations.
    QueueState = "QUEUE_STATE", Some('c'), "queue {} to accept work", "closed queue {}";
    /// Not all nodes have reported since the restart.
    Recovering = "RECOVERING", None, "nodes to report after the restart", "nodes to report";
    /// The required node is not registered.
    RequiredNodeAbsent = "REQUIRED_NODE_ABSENT", None, "the required node to register", "required node";
    /// The required node does not have enough free capacity.
    RequiredNodeFull = "REQUIRED_NODE_FULL", None, "free capacity on {}, the required node", "only {}";
    /// The required node is too small even when it is empty.
    RequiredNodeSize = "REQUIRED_NODE_SIZE", None, "a larger {}, the required node", "only {}";
    /// The resource manager is disconnected.
    RmAway = "RM_AWAY", None, "{} to return", "resource manager away";
    /// The capacity of the cluster.
    RootCapacity = "ROOT_CAPACITY", Some('c'), "free capacity in the cluster", "cluster full";
    /// Applications that use less of their share are checked first.
    ShareBehind = "SHARE_BEHIND", None, "applications below their share at queue {}", "shares at {}";
    /// Number of tasks that the tenant can run.
    TenantInstances = "TENANT_INSTANCES", None, "a task of {} to end: the quota of instances was reached", "instances of {}";
    /// The quota of the tenant.
    TenantQuota = "TENANT_QUOTA", None, "capacity within the quota of {}", "quota of {}";
    /// A suspended tenant.
    TenantSuspended = "TENANT_SUSPENDED", None, "the tenant of queue {} to be resumed", "suspended tenant";
    /// The limit on running applications of a user.
    UserApps = "USER_APPS", Some('e'), "an application of {} to end: the limit of running \
                                        applications was reached", "running jobs of {}";
    /// The user cap of a leaf.
    UserHardCap = "USER_HARD_CAP", Some('d'), "capacity within the limit of {}", "limit of {}";
    /// The fair share of a user in a leaf.
    UserShare = "USER_SHARE", Some('d'), "capacity within the fair share of {}", "share of {}";
}

/// Number of waits that began, by code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitCounts([u64; WaitCode::ALL.len()]);

impl Default for WaitCounts {
    fn default() -> Self {
        Self([0; WaitCode::ALL.len()])
    }
}

impl WaitCounts {
    /// Returns the number of waits that began under this code.
    pub const fn get(&self, code: WaitCode) -> u64 {
        self.0[code as usize]
    }

    /// Counts one more wait under this code.
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
