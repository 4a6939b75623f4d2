//! Codes of the rules of a queue file.

use std::fmt;

use crate::diagnostic::Severity;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident: $severity:ident = $text:literal,)+) => {
        /// Code of the rule that a file breaks, as in the specification.
        ///
        /// Codes are for tests, logs, and documentation. Their meaning never changes, but their sentences can.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[doc = $doc])+ $name,)+ }

        impl Code {
            /// All codes, in the order of the checks.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the code, for example `Q-NAME`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// Returns whether a file with this finding can be used.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)+ }
            }

            /// Returns the meaning of the code in one or two sentences.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_start(),)+ }
            }
        }
    };
}

codes! {
    /// The text is not YAML, or larger than a queue file may be.
    Yaml: Error = "YAML",
    /// The file cannot be read: it is missing, a directory, too large, or no text.
    File: Error = "FILE",
    /// A Kubernetes config map with a queue file in it.
    ConfigMap: Error = "YAML-CONFIGMAP",
    /// A key that Headroom does not read.
    YamlKey: Error = "YAML-KEY",
    /// The same key twice in one mapping.
    YamlDuplicate: Error = "YAML-DUP",
    /// A value of the wrong kind: a list for a text, a text for a number.
    YamlType: Error = "YAML-TYPE",
    /// Accepted as `YuniKorn` does, although the author probably meant something else.
    YamlLenient: Warning = "YAML-LENIENT",
    /// Two partitions of one name.
    PartitionDuplicate: Error = "P-DUP",
    /// A partition without `queues`.
    QueuesMissing: Error = "Q-NONE",
    /// The root queue names resources; its maximum is the cluster.
    RootResources: Error = "Q-ROOTRES",
    /// A queue name with illegal characters or of illegal length.
    QueueName: Error = "Q-NAME",
    /// Two children of one name.
    QueueDuplicate: Error = "Q-DUP",
    /// A queue with the name of the recovery queue.
    QueueReserved: Error = "Q-RESERVED",
    /// An access list of more than two words, or with superfluous spaces.
    AclSpaces: Error = "A-SPACES",
    /// An amount that is no quantity.
    QuantitySyntax: Error = "R-SYNTAX",
    /// A quantity that does not fit into 64 bits.
    QuantityOverflow: Error = "R-OVERFLOW",
    /// An unknown suffix, or `m` on a type other than `vcore`.
    QuantitySuffix: Error = "R-SUFFIX",
    /// A queue's guarantee is above its own maximum.
    GuaranteeOverMax: Error = "Q-G>M",
    /// A queue's maximum is above that of a queue above it.
    MaxOverParent: Error = "Q-M>PARENT",
    /// The children's guarantees add up to more than the queue's own.
    SumOverGuarantee: Error = "Q-SUMG>G",
    /// The children's guarantees add up to more than the queue may use.
    SumOverMax: Error = "Q-SUMG>M",
    /// A queue without `maxapplications` below one that has it.
    ApplicationsMissing: Error = "Q-APPS0",
    /// A queue runs more applications than its parent.
    ApplicationsOverParent: Error = "Q-APPS>PARENT",
    /// Different limits for the partition and for its root.
    LimitRootDiffers: Error = "L-ROOTDIFF",
    /// A limit for no user or group.
    LimitForNobody: Error = "L-EMPTY",
    /// A limit names an invalid user.
    LimitUserName: Error = "L-USERNAME",
    /// A limit names an invalid group.
    LimitGroupName: Error = "L-GROUPNAME",
    /// A user named twice in one queue's limits.
    LimitUserTwice: Error = "L-DUPUSER",
    /// A group named twice in one queue's limits.
    LimitGroupTwice: Error = "L-DUPGROUP",
    /// A limit names a user or group after the wildcard.
    LimitAfterWildcard: Error = "L-AFTERWILD",
    /// A group wildcard without any named group in front.
    LimitOnlyWildcardGroup: Error = "L-ONLYWILDGROUP",
    /// A limit whose resources are zeros only.
    LimitAllZero: Error = "L-ZERORES",
    /// A limit of neither resources nor applications.
    LimitNothing: Error = "L-NOTHING",
    /// A limit of more applications than the queue runs.
    LimitApplicationsOverQueue: Error = "L-APPS>QUEUE",
    /// A limit of more resources than the queue may use.
    LimitResourcesOverQueue: Error = "L-RES>QUEUE",
    /// A limit of more resources than the same name has in a queue above.
    LimitResourcesOverAncestor: Error = "L-RES>ANC",
    /// A limit of more resources than the wildcard has in a queue above.
    LimitResourcesOverWildcard: Error = "L-RES>WILD",
    /// A limit of more applications than the same name has in a queue above, or without a number.
    LimitApplicationsOverAncestor: Error = "L-APPS>ANC",
    /// A limit of more applications than the wildcard has in a queue above, or without a number.
    LimitApplicationsOverWildcard: Error = "L-APPS>WILD",
    /// `limitprecedence` is neither `both` nor `user`.
    LimitPrecedence: Error = "L-PRECEDENCE",
    /// `gangs.placement` is neither `members` nor `whole`.
    GangPlacement: Error = "G-PLACEMENT",
    /// `starvation.after` is not a duration.
    StarvationAfter: Error = "S-AFTER",
    /// `reservations.share` is neither a fraction nor `none`.
    ReservationShare: Error = "R-SHARE",
    /// `preemption.withinqueue` is neither `none` nor `priority`.
    PreemptionWithin: Error = "P-WITHIN",
    /// `preemption.minruntime` is not a duration.
    PreemptionRuntime: Error = "P-RUNTIME",
    /// A word in `userlimits` that has no meaning there.
    UserLimitWord: Error = "U-WORD",
    /// `minimumuserlimitpercent` is neither from 1 to 100, nor 0 with the formula `smooth`.
    UserLimitPercent: Error = "U-PERCENT",
    /// `userlimitfactor` is neither above 0 nor -1.
    UserLimitFactor: Error = "U-FACTOR",
    /// A weight above 100 divided by the `minimumuserlimitpercent` in force, or no weight at all.
    UserLimitWeight: Error = "U-WEIGHT",
    /// A weight names an invalid user.
    UserLimitUserName: Error = "U-USERNAME",
    /// An amount of nothing in `userlimits`.
    UserLimitZero: Error = "U-ZERO",
    /// `minimumallocation` is above the `maximumallocation` in force.
    UserLimitMinimumOverMaximum: Error = "U-MIN>MAX",
    /// A queue's `maximumallocation` is above that of its partition.
    UserLimitMaximumOverPartition: Error = "U-MAX>PARTITION",
    /// A number of applications in `applicationlimits` that is not a whole number from 1 on.
    ApplicationCount: Error = "AL-COUNT",
    /// `maximumdriverresourcepercent` is no factor from 0 to 1.
    ApplicationDriver: Error = "AL-DRIVER",
    /// A number of applications names an invalid user.
    ApplicationUserName: Error = "AL-USERNAME",
    /// The root queue has a `capacity`; it has what the nodes have.
    CapacityRoot: Error = "CP-ROOT",
    /// `mode` in `capacity` is neither `percent`, `weight` nor `absolute`.
    CapacityMode: Error = "CP-MODE",
    /// `value` in `capacity` is missing, or no percentage or weight.
    CapacityValue: Error = "CP-VALUE",
    /// `maximum` in `capacity` is no percentage.
    CapacityMaximum: Error = "CP-MAX",
    /// A queue is guaranteed more percent than it may use.
    CapacityOverMaximum: Error = "CP-VALUE>MAX",
    /// A number in an absolute `capacity`, whose amounts are those of `resources`.
    CapacityAbsolute: Error = "CP-ABSOLUTE",
    /// `resources.guaranteed` and a `capacity` by percent or weight both set the guarantee.
    CapacityGuaranteed: Error = "CP-GUARANTEED",
    /// A `childtemplate` whose `capacity` is not by weight.
    CapacityTemplate: Error = "CP-TEMPLATE",
    /// Siblings with and without `capacity`, or of different modes.
    CapacitySiblings: Error = "CP-SIBLINGS",
    /// The percentages of siblings do not add up to 100.
    CapacitySum: Error = "CP-SUM",
    /// Parts by percent or weight of a queue that is guaranteed nothing.
    CapacityOfNothing: Error = "CP-PARENT",
    /// `state` of a queue is neither `running` nor `stopped`.
    QueueStateWord: Error = "S-WORD",
    /// `state: running` is set below a stopped queue.
    QueueRunsBelowStopped: Error = "S-PARENT",
    /// A lifetime that is no whole number of seconds.
    LifetimeSeconds: Error = "LT-SECONDS",
    /// A queue's default lifetime is above its own maximum.
    LifetimeOverMaximum: Error = "LT-DEF>MAX",
    /// `orderingpolicy` of a queue is no word for queues of its kind.
    OrderingWord: Error = "OP-WORD",
    /// `orderingpolicy` of a queue, and a property of it, set different orders.
    OrderingProperty: Error = "OP-PROPERTY",
    /// A text that is not a node label.
    NodeLabelName: Error = "NL-NAME",
    /// A label to which the queue, or one above it, has no access.
    NodeLabelAccess: Error = "NL-ACCESS",
    /// A part of a label's nodes where the queue has no part by percent or weight.
    NodeLabelCapacity: Error = "NL-CAPACITY",
    /// `rootqueue` of tenants is no queue below root that can hold theirs alone.
    TenantsRoot: Error = "TN-ROOT",
    /// A queue is written below `rootqueue`, where those of tenants are.
    TenantsBelow: Error = "TN-BELOW",
    /// A text that is not a legal tenant name.
    TenantName: Error = "TN-NAME",
    /// A number of `tenants` that is none, or out of its range.
    TenantValue: Error = "TN-VALUE",
    /// A word in `tenants` that has no meaning there.
    TenantWord: Error = "TN-WORD",
    /// Two partitions with tenants.
    TenantsTwice: Error = "TN-TWICE",
    /// The name of a placement rule is not an identifier.
    RuleName: Error = "PR-NAME",
    /// A filter that neither allows nor denies.
    RuleFilterType: Error = "PR-FTYPE",
    /// The one user of a filter is neither a name nor an expression.
    RuleFilterUser: Error = "PR-FUSER",
    /// The one group of a filter is neither a name nor an expression.
    RuleFilterGroup: Error = "PR-FGROUP",
    /// A placement rule with a full path below another fixed queue.
    RuleQualified: Error = "PR-QUALIFIED",
    /// A placement rule leads below a leaf.
    RuleUnderLeaf: Error = "PR-UNDERLEAF",
    /// A placement rule leads to a queue that does not exist and may not be made.
    RuleNoQueue: Error = "PR-NOQUEUE",
    /// A placement rule makes queues below a queue that is no parent.
    RuleNotParent: Error = "PR-NOTPARENT",
    /// A placement rule sends applications to a queue that is no leaf.
    RuleNotLeaf: Error = "PR-NOTLEAF",
    /// No placement rule of that name.
    RuleUnknown: Warning = "PR-UNKNOWN",
    /// The recovery rule is always in force and cannot be written.
    RuleRecovery: Warning = "PR-RECOVERY",
    /// A `fixed` or `tag` rule that cannot be built.
    RuleValue: Warning = "PR-VALUE",
    /// No node sorting policy of that name.
    NodePolicy: Error = "N-POLICY",
    /// A node's resource weight below zero.
    NodeWeight: Error = "N-WEIGHT",
    /// A property whose value is not understood, so that its default holds.
    PropertyValue: Warning = "P-VALUE",
    /// A setting without effect where it stands.
    NoEffect: Warning = "NO-EFFECT",
    /// A property key that looks like a known one, or belongs to its family, and is none.
    PropertyKey: Warning = "P-KEY",
    /// A property value with an old name.
    PropertyDeprecated: Warning = "P-DEPRECATED",
    /// A property where it has no effect, or whose feature is off.
    PropertyLevel: Warning = "P-LEVEL",
    /// An access list with a name that is none, so that it is ignored.
    AclIgnored: Warning = "A-IGNORED",
    /// A queue that no user may submit to.
    AclNobody: Warning = "A-NOBODY",
    /// A resource type that looks like `vcore` or `memory` and is another one.
    ResourceType: Warning = "R-TYPE",
    /// A maximum or guarantee of zeros only, which is none at all.
    ResourceZeros: Warning = "Q-ZEROS",
    /// A limit that never holds anyone back.
    LimitLoose: Warning = "L-LOOSE",
    /// A group limit that a group wildcard further down hides.
    LimitHidden: Warning = "L-HIDDEN",
    /// A user wildcard where every user who may submit is named.
    LimitUnreached: Warning = "L-UNREACHED",
    /// `orderingpolicy` of a leaf looks at partitions, which the order here does not.
    OrderingPartitions: Warning = "OP-PARTITIONS",
    /// Users of a leaf have no share of it and no cap, for it guarantees nothing.
    UserLimitNoShare: Warning = "U-NOSHARE",
    /// `userlimitfactor` allows one user more than the queue may use.
    UserLimitLoose: Warning = "U-CAP",
    /// `maximumallocation` allows asks of more than a quarter of what the queue guarantees.
    UserLimitLarge: Warning = "U-LARGE",
    /// With `enforcement: strict` all users of a leaf can get stuck.
    UserLimitStrict: Warning = "U-STRICT",
    /// A formula with which there are moments when no user may have one more ask.
    UserLimitDeadZone: Warning = "U-DEADZONE",
    /// A number of applications in `applicationlimits` above that of a queue above, which holds.
    ApplicationsOverAbove: Warning = "AL-APPS>PARENT",
    /// A number of applications for one user above that for all of them, which holds.
    ApplicationsLoose: Warning = "AL-LOOSE",
    /// A leaf that guarantees nothing may take in all applications that a queue above may.
    ApplicationsNoShare: Warning = "AL-NOSHARE",
    /// Siblings whose percentages or weights are all 0: none of them is guaranteed anything.
    CapacityAllZero: Warning = "CP-ZERO",
    /// Queues are guaranteed more than all nodes together have.
    GuaranteeOverNodes: Warning = "Q-G>NODES",
    /// A placement rule that can never place anything.
    RuleNever: Warning = "PR-NEVER",
    /// Queues hold no capacity for an ask that waits long, so a large ask can wait forever.
    StarvationOff: Recommendation = "S-OFF",
    /// Reserved nodes are idle for other asks, and nothing limits how many or how long.
    ReservationsOff: Recommendation = "R-OFF",
    /// Placeholders are placed one by one, so two gangs can each hold what the other needs.
    GangMembers: Recommendation = "G-MEMBERS",
    /// With `strictguarantee: false`, preemption can stop work in vain or repeatedly.
    PreemptionNotStrict: Recommendation = "P-NOTSTRICT",
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
