//! Settings of user limits, and of limits of applications.

use crate::schema::{Amounts, ApplicationsByUser, Number, Weights, Whole, Word, blocks};

use super::Text;

blocks! {
    /// How users share a leaf. The block without keys enables user limits with the defaults.
    UserLimits = "`userlimits`" null BlockWithWarning {
        /// The smallest share that a user can be reduced to, in percent of the guarantee of the leaf.
        "minimumuserlimitpercent" "MinimumUserLimitPercent" floor: Number
            { values: "1 to 100; 0 means no minimum, with `smooth` only", default: "as the queue above; otherwise 100" };
        /// How many times the guarantee of the leaf one user can use. -1 means no user cap.
        "userlimitfactor" "UserLimitFactor" factor: Number
            { values: "above 0, or -1", default: "as the queue above; otherwise 1" };
        /// The weights of users by name.
        "weights" "Weights" weights: Weights {
            values: "each 0 to 100 divided by `minimumuserlimitpercent`",
            default: "as the queue above; otherwise 1 for each",
        };
        /// The formula that selects the amount that the users of a leaf share.
        "formula" "Formula" formula: Word
            { values: "`smooth`, `yarn3`, `yarn27`", default: "as the queue above; otherwise `smooth`" };
        /// When an ask exceeds the share of its user.
        "enforcement" "Enforcement" enforcement: Word {
            values: "`progress`, `strict`, `overshoot`",
            default: "as the queue above; otherwise `progress`",
        };
        /// How amounts of several resource types are compared.
        "calculator" "Calculator" calculator: Word {
            values: "`componentwise`, `dominant`, `memory`",
            default: "as the queue above; otherwise `componentwise`",
        };
        /// The smallest amount that an ask counts as.
        "minimumallocation" "MinimumAllocation" minimum_allocation: Amounts
            { values: "above 0", default: "as the queue above; otherwise none" };
        /// Asks count as multiples of this amount.
        "increment" "Increment" increment: Amounts
            { values: "above 0", default: "as the queue above; otherwise the minimum allocation" };
        /// The maximum size of an ask. Larger asks are rejected. In a queue, no amount can be above the amount of the
        /// partition.
        "maximumallocation" "MaximumAllocation" maximum_allocation: Amounts {
            values: "above 0, none below that of `minimumallocation`",
            default: "as the queue above; otherwise none",
        };
    }

    /// How many applications exist and start, and what their drivers can use.
    ApplicationLimits = "`applicationlimits`" null KeyWithWarning {
        /// How many applications that have not ended the queue and all queues below can have. More are rejected.
        "maximumapplications" "MaximumApplications" max: Whole { values: "1 or more", default: "no limit" };
        /// How many applications that have not ended each user can have in a leaf. More are rejected.
        "maximumapplicationsperuser" "MaximumApplicationsPerUser" max_per_user: Whole
            { values: "1 or more", default: "no limit" };
        /// How many applications the queue and all queues below can have started. Others wait.
        "maxparallelapps" "MaxParallelApps" max_parallel: Whole { values: "1 or more", default: "no limit" };
        /// How many applications each user can have started in the partition. Others wait.
        "maxparallelappsperuser" "MaxParallelAppsPerUser" max_parallel_per_user: Whole
            { values: "1 or more", default: "no limit" };
        /// Number of applications that a user, by name, can have started in the partition. Others wait.
        "maxparallelappsbyuser" "MaxParallelAppsByUser" max_parallel_by_user: ApplicationsByUser
            { values: "1 or more for each user", default: "`maxparallelappsperuser` for each" };
        /// The fraction of a leaf that drivers can use. 1 means the whole leaf. With 0, one driver starts at a time.
        "maximumdriverresourcepercent" "MaximumDriverResourcePercent" driver: Number
            { values: "0 to 1, up to six decimals", default: "no limit" };
        /// Only in a partition or its root: maximum number of unfinished applications of each leaf without
        /// `maximumapplications` and without absolute `capacity`.
        "globalqueuemaxapplication" "GlobalQueueMaxApplication" max_per_queue: Whole
            { values: "1 or more", default: "no limit" };
    }
}

impl ApplicationLimits {
    /// Returns the counts, except those for users by name, with their keys.
    pub(crate) fn counts(&self) -> [(&'static str, Option<&Text>); 5] {
        [
            ("maximumapplications", self.max.as_ref()),
            ("maximumapplicationsperuser", self.max_per_user.as_ref()),
            ("maxparallelapps", self.max_parallel.as_ref()),
            ("maxparallelappsperuser", self.max_parallel_per_user.as_ref()),
            ("globalqueuemaxapplication", self.max_per_queue.as_ref()),
        ]
    }

    /// Returns whether no key is set.
    pub(crate) fn says_nothing(&self) -> bool {
        self.counts().iter().all(|(_, text)| text.is_none())
            && self.max_parallel_by_user.is_empty()
            && self.driver.is_none()
    }
}
