//! The file, its partitions, and their placement rules.

use crate::schema::{
    Decimals, Each, EachIn, EachMaybe, False, In, Marked, Maybe, Names, Plain, Shown, Switch,
    SwitchAt, Title, Word, blocks,
};

use super::{ApplicationLimits, Limit, Queue, Tenants, UserLimits};

blocks! {
    /// The queue file.
    File = "a queue file" {
        /// The partitions. Each has its own nodes and its own queue tree.
        "partitions" "Partitions" partitions: Each<Partition> { shown: Shown::AlwaysInJson };
        /// Ignored. YuniKorn writes this key.
        "checksum" "Checksum" checksum: Plain;
    }

    /// A partition: nodes, the queues that share the nodes, and the rules that select the queue of an application.
    Partition = "a partition" {
        /// The name. The partition `default` can also be written in any case, or without a name.
        "name" "Name" name: Title { default: "`default`", shown: Shown::Always };
        /// The queues. If there is not exactly one queue called `root`, a root queue is added above them.
        "queues" "Queues" queues: EachMaybe<Queue> { default: "required", shown: Shown::AlwaysInJson };
        /// The rules that select the queue of an application. The scheduler tries the rules in this order.
        "placementrules" "PlacementRules" rules: Each<Rule> { default: "the queue that the application specifies" };
        /// Limits of users and groups in the whole partition: the limits of its root queue.
        "limits" "Limits" limits: EachIn<Limit> { default: "no limits" };
        /// Whether and why running allocations are stopped for waiting asks.
        "preemption" "Preemption" preemption: In<Preemption> { shown: Shown::AlwaysInJson };
        /// The order in which nodes are tried.
        "nodesortpolicy" "NodeSortPolicy" node_sort: In<NodeSort> { shown: Shown::AlwaysInJson };
        /// The source of the groups of users.
        "usergroupresolver" "UserGroupResolver" resolver: In<Resolver> { shown: Shown::AlwaysInJson };
        /// Which limits apply if a limit names the user: with `both`, also those of the group; with `user`, only that of
        /// the user.
        "limitprecedence" "LimitPrecedence" limit_precedence: Plain
            { values: "`both`, `user`", default: "`both`", own: true };
        /// How the placeholders of gangs are placed.
        "gangs" "Gangs" gangs: Maybe<Gangs> { default: "members", own: true };
        /// How long an ask waits before queues hold capacity for it.
        "starvation" "Starvation" starvation: Maybe<Starvation> { default: "off", own: true };
        /// How many nodes are reserved for asks that fit no node yet.
        "reservations" "Reservations" reservations: Maybe<Reservations> { default: "no limit", own: true };
        /// How users share a leaf. A queue can override this block.
        "userlimits" "UserLimits" user_limits: Marked<UserLimits> { default: "off", own: true };
        /// How many applications exist and start, and what their drivers can use.
        "applicationlimits" "ApplicationLimits" application_limits: Marked<ApplicationLimits>
            { default: "no limits", own: true };
        /// Tenants, whose quotas an API sets.
        "tenants" "Tenants" tenants: Marked<Tenants> { default: "no tenants", own: true };
    }

    /// Whether and why running allocations are stopped.
    Preemption = "`preemption`" {
        /// Whether allocations are stopped for asks of queues below their guarantee.
        "enabled" "Enabled" enabled: Switch { default: "`true`" };
        /// Whether allocations are stopped because the maximum of their queue was lowered.
        "quotapreemptionenabled" "QuotaPreemptionEnabled" quota_enabled: Switch { default: "`false`" };
        /// Whether no queue falls below its guarantee, in a type that the ask needs. `false` is the behavior of
        /// YuniKorn.
        "strictguarantee" "StrictGuarantee" strict_guarantee: SwitchAt { default: "`true`", own: true };
        /// Whether queues recover up to their fraction of the available amount, if that is more than their guarantee.
        "balance" "Balance" balance: Switch { default: "`false`", own: true };
        /// Whether users below their share of a leaf preempt users of the same leaf above their share.
        "intraqueueenabled" "IntraQueueEnabled" intra_queue_enabled: Switch { default: "`false`", own: true };
        /// Whether the server only reports what it would stop for a guarantee or a share.
        "observeonly" "ObserveOnly" observe_only: Switch { default: "`false`", own: true };
    }

    /// How gangs start.
    Gangs = "`gangs`" {
        /// `members` places the placeholders of a gang one by one, as YuniKorn does. `whole` places all of them in one
        /// step, or none. At most one gang of the partition then takes free capacity step by step.
        "placement" "Placement" placement: Plain
            { values: "`members`, `whole`", default: "`members`; with `tenants`: `whole`", own: true };
    }

    /// How long an ask waits before queues hold capacity for it.
    Starvation = "`starvation`" {
        /// How long an ask waits before its queues hold capacity for it. Other asks can then use only the rest. `0s` means
        /// that queues never hold capacity.
        "after" "After" after: Word
            { values: "a duration, such as `5m`", default: "`0s`; with `tenants`: `5m`", own: true };
    }

    /// How many nodes are reserved.
    Reservations = "`reservations`" {
        /// The largest fraction of the nodes that is reserved, but at least one node. Each application then reserves at
        /// most one node, and gives the node up after 10 minutes without a release there. `none` means no limit.
        "share" "Share" share: Word
            { values: "a fraction such as `10%` or `0.1`, or `none`", default: "`none`; with `tenants`: `10%`", own: true };
    }

    /// The order in which nodes are tried.
    NodeSort = "`nodesortpolicy`" {
        /// `fair` prefers the emptiest node, `binpacking` the fullest.
        "type" "Type" policy: Plain
            { values: "`fair`, `binpacking`", default: "`fair`", shown: Shown::AlwaysInJson };
        /// How much each resource type counts. A type without a weight counts 1.
        "resourceweights" "ResourceWeights" weights: Decimals
            { values: "0 or more", default: "vcore 1, memory 1" };
    }

    /// The source of the groups of users.
    Resolver = "`usergroupresolver`" {
        /// The name of the source. The server resolves groups by its own settings.
        "type" "type" kind: Plain;
    }

    /// A placement rule. If the rule finds no queue for an application, the next rule is tried.
    Rule = "a placement rule" {
        /// The kind of the rule.
        "name" "Name" name: Title
            { values: "`provided`, `user`, `fixed`, `tag`, `reject`", default: "required", shown: Shown::Always };
        /// Whether the rule creates a queue that does not exist.
        "create" "Create" create: False { default: "`false`" };
        /// The users and groups that the rule is for.
        "filter" "Filter" filter: In<Filter> { default: "every user", shown: Shown::AlwaysInJson };
        /// A rule that finds the parent of the queue.
        "parent" "Parent" parent: Maybe<Rule> { default: "`root`" };
        /// For `fixed`, the queue. For `tag`, the name of the tag.
        "value" "Value" value: Plain;
    }

    /// The users and groups that a placement rule is for.
    Filter = "`filter`" {
        /// Whether the rule is for the listed users and groups, or for all others.
        "type" "Type" kind: Plain
            { values: "`allow`, `deny`", default: "`allow`", shown: Shown::AlwaysInJson };
        /// Names, or one regular expression.
        "users" "Users" users: Names;
        /// Names, or one regular expression.
        "groups" "Groups" groups: Names;
    }
}
