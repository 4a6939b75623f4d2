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
    /// The text is not valid YAML, or exceeds a limit for queue files.
    Yaml: Error = "YAML",
    /// The file cannot be read: it is missing, a folder, too large, or not text.
    File: Error = "FILE",
    /// The file is a Kubernetes `ConfigMap` that contains a queue file.
    ConfigMap: Error = "YAML-CONFIGMAP",
    /// The file has a key that Headroom does not read.
    YamlKey: Error = "YAML-KEY",
    /// A mapping has the same key twice.
    YamlDuplicate: Error = "YAML-DUP",
    /// A value has the wrong kind, such as a list instead of a text.
    YamlType: Error = "YAML-TYPE",
    /// A value is accepted as in `YuniKorn`, but the author probably meant another value.
    YamlLenient: Warning = "YAML-LENIENT",
    /// Two partitions have the same name.
    PartitionDuplicate: Error = "P-DUP",
    /// A partition has no `queues`.
    QueuesMissing: Error = "Q-NONE",
    /// The root queue sets `resources`, but the nodes provide its capacity.
    RootResources: Error = "Q-ROOTRES",
    /// A queue name has invalid characters or an invalid length.
    QueueName: Error = "Q-NAME",
    /// A queue has two child queues with the same name.
    QueueDuplicate: Error = "Q-DUP",
    /// A queue has the name of the recovery queue.
    QueueReserved: Error = "Q-RESERVED",
    /// An access list has more than two words, or too many spaces.
    AclSpaces: Error = "A-SPACES",
    /// An amount is not a valid quantity.
    QuantitySyntax: Error = "R-SYNTAX",
    /// A quantity does not fit into 64 bits.
    QuantityOverflow: Error = "R-OVERFLOW",
    /// A quantity has an unknown suffix, or the suffix `m` with a type other than `vcore`.
    QuantitySuffix: Error = "R-SUFFIX",
    /// The guarantee of a queue exceeds its own maximum.
    GuaranteeOverMax: Error = "Q-G>M",
    /// The maximum of a queue exceeds the maximum of a queue above.
    MaxOverParent: Error = "Q-M>PARENT",
    /// The guarantees of the child queues add up to more than the guarantee of the queue.
    SumOverGuarantee: Error = "Q-SUMG>G",
    /// The guarantees of the child queues add up to more than the maximum of the queue.
    SumOverMax: Error = "Q-SUMG>M",
    /// A queue has no `maxapplications`, but its parent has one.
    ApplicationsMissing: Error = "Q-APPS0",
    /// The `maxapplications` of a queue exceeds that of its parent.
    ApplicationsOverParent: Error = "Q-APPS>PARENT",
    /// The limits of the partition differ from the limits of its root queue.
    LimitRootDiffers: Error = "L-ROOTDIFF",
    /// A limit names no user and no group.
    LimitForNobody: Error = "L-EMPTY",
    /// A limit names an invalid user.
    LimitUserName: Error = "L-USERNAME",
    /// A limit names an invalid group.
    LimitGroupName: Error = "L-GROUPNAME",
    /// The limits of a queue name a user twice.
    LimitUserTwice: Error = "L-DUPUSER",
    /// The limits of a queue name a group twice.
    LimitGroupTwice: Error = "L-DUPGROUP",
    /// A limit names a user or group after the wildcard.
    LimitAfterWildcard: Error = "L-AFTERWILD",
    /// The limits of a queue have a group wildcard, but no named group before the wildcard.
    LimitOnlyWildcardGroup: Error = "L-ONLYWILDGROUP",
    /// All amounts of a limit are 0.
    LimitAllZero: Error = "L-ZERORES",
    /// A limit sets neither resources nor applications.
    LimitNothing: Error = "L-NOTHING",
    /// A limit allows more applications than the queue.
    LimitApplicationsOverQueue: Error = "L-APPS>QUEUE",
    /// A limit allows more resources than the maximum of the queue.
    LimitResourcesOverQueue: Error = "L-RES>QUEUE",
    /// A limit allows more resources than a queue above allows for the same name.
    LimitResourcesOverAncestor: Error = "L-RES>ANC",
    /// A limit allows more resources than a queue above allows for the wildcard.
    LimitResourcesOverWildcard: Error = "L-RES>WILD",
    /// A limit allows more applications than a queue above allows for the same name, or sets no number.
    LimitApplicationsOverAncestor: Error = "L-APPS>ANC",
    /// A limit allows more applications than a queue above allows for the wildcard, or sets no number.
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
    /// A key in `userlimits` has a value that is not one of its values.
    UserLimitWord: Error = "U-WORD",
    /// `minimumuserlimitpercent` is neither from 1 to 100, nor 0 with the formula `smooth`.
    UserLimitPercent: Error = "U-PERCENT",
    /// `userlimitfactor` is neither above 0 nor -1.
    UserLimitFactor: Error = "U-FACTOR",
    /// A weight is above 100 divided by the `minimumuserlimitpercent` that applies, or is not a valid weight.
    UserLimitWeight: Error = "U-WEIGHT",
    /// A weight names an invalid user.
    UserLimitUserName: Error = "U-USERNAME",
    /// An amount in `userlimits` is 0.
    UserLimitZero: Error = "U-ZERO",
    /// `minimumallocation` exceeds the `maximumallocation` that applies.
    UserLimitMinimumOverMaximum: Error = "U-MIN>MAX",
    /// The `maximumallocation` of a queue exceeds that of its partition.
    UserLimitMaximumOverPartition: Error = "U-MAX>PARTITION",
    /// A number of applications in `applicationlimits` is not a whole number of at least 1.
    ApplicationCount: Error = "AL-COUNT",
    /// `maximumdriverresourcepercent` is not a factor from 0 to 1.
    ApplicationDriver: Error = "AL-DRIVER",
    /// A number of applications names an invalid user.
    ApplicationUserName: Error = "AL-USERNAME",
    /// The root queue has a `capacity`, but the nodes provide its capacity.
    CapacityRoot: Error = "CP-ROOT",
    /// `mode` in `capacity` is neither `percent`, `weight`, nor `absolute`.
    CapacityMode: Error = "CP-MODE",
    /// `value` in `capacity` is missing, or is not a valid percentage or weight.
    CapacityValue: Error = "CP-VALUE",
    /// `maximum` in `capacity` is not a valid percentage.
    CapacityMaximum: Error = "CP-MAX",
    /// The guarantee of a queue, as a percentage, exceeds its maximum.
    CapacityOverMaximum: Error = "CP-VALUE>MAX",
    /// A `capacity` has `mode: absolute`, but also sets `value` or `maximum`.
    CapacityAbsolute: Error = "CP-ABSOLUTE",
    /// `resources.guaranteed` and a `capacity` by percent or weight both set the guarantee.
    CapacityGuaranteed: Error = "CP-GUARANTEED",
    /// The `capacity` of a `childtemplate` is not by weight.
    CapacityTemplate: Error = "CP-TEMPLATE",
    /// Only some siblings have a `capacity`, or their modes differ.
    CapacitySiblings: Error = "CP-SIBLINGS",
    /// The percentages of siblings do not add up to 100.
    CapacitySum: Error = "CP-SUM",
    /// A queue has fractions of a guarantee, but its parent has no guarantee.
    CapacityOfNothing: Error = "CP-PARENT",
    /// `state` of a queue is neither `running` nor `stopped`.
    QueueStateWord: Error = "S-WORD",
    /// `state: running` is set below a stopped queue.
    QueueRunsBelowStopped: Error = "S-PARENT",
    /// A lifetime is not a whole number of seconds.
    LifetimeSeconds: Error = "LT-SECONDS",
    /// The default lifetime of a queue exceeds its maximum lifetime.
    LifetimeOverMaximum: Error = "LT-DEF>MAX",
    /// The `orderingpolicy` of a queue is not valid for queues of this kind.
    OrderingWord: Error = "OP-WORD",
    /// The `orderingpolicy` and a property of a queue set different orders.
    OrderingProperty: Error = "OP-PROPERTY",
    /// A text is not a valid node label.
    NodeLabelName: Error = "NL-NAME",
    /// A queue uses a label, but the queue or a queue above has no access to this label.
    NodeLabelAccess: Error = "NL-ACCESS",
    /// A queue has a fraction of a label, but no `capacity` by percent or weight.
    NodeLabelCapacity: Error = "NL-CAPACITY",
    /// `rootqueue` is not a queue below root that can belong to tenants alone.
    TenantsRoot: Error = "TN-ROOT",
    /// The file defines a queue below `rootqueue`, where all queues belong to tenants.
    TenantsBelow: Error = "TN-BELOW",
    /// A text is not a valid tenant name.
    TenantName: Error = "TN-NAME",
    /// A value in `tenants` is not a number, or is out of range.
    TenantValue: Error = "TN-VALUE",
    /// A key in `tenants` has a value that is not one of its values.
    TenantWord: Error = "TN-WORD",
    /// Two partitions have tenants.
    TenantsTwice: Error = "TN-TWICE",
    /// The name of a placement rule is not an identifier.
    RuleName: Error = "PR-NAME",
    /// The `type` of a filter is neither `allow` nor `deny`.
    RuleFilterType: Error = "PR-FTYPE",
    /// The only user of a filter is neither a valid name nor a regular expression.
    RuleFilterUser: Error = "PR-FUSER",
    /// The only group of a filter is neither a valid name nor a regular expression.
    RuleFilterGroup: Error = "PR-FGROUP",
    /// A placement rule has a full path, but its parent rule already selects a queue.
    RuleQualified: Error = "PR-QUALIFIED",
    /// A placement rule selects a queue below a leaf.
    RuleUnderLeaf: Error = "PR-UNDERLEAF",
    /// A placement rule selects a queue that does not exist, and does not create this queue.
    RuleNoQueue: Error = "PR-NOQUEUE",
    /// A placement rule creates queues below a queue that is not a parent.
    RuleNotParent: Error = "PR-NOTPARENT",
    /// A placement rule selects a queue that is not a leaf.
    RuleNotLeaf: Error = "PR-NOTLEAF",
    /// The `name` of a placement rule is unknown.
    RuleUnknown: Warning = "PR-UNKNOWN",
    /// The recovery rule is always active and cannot be in a queue file.
    RuleRecovery: Warning = "PR-RECOVERY",
    /// A `fixed` or `tag` rule has no valid `value`.
    RuleValue: Warning = "PR-VALUE",
    /// The `type` in `nodesortpolicy` is unknown.
    NodePolicy: Error = "N-POLICY",
    /// The weight of a resource type in `nodesortpolicy` is negative.
    NodeWeight: Error = "N-WEIGHT",
    /// The value of a property is not valid, so the default applies.
    PropertyValue: Warning = "P-VALUE",
    /// A setting has no effect at its place.
    NoEffect: Warning = "NO-EFFECT",
    /// A property key resembles a known key, but does not exist.
    PropertyKey: Warning = "P-KEY",
    /// A property has an obsolete value.
    PropertyDeprecated: Warning = "P-DEPRECATED",
    /// A property has no effect at its place, or its feature is disabled.
    PropertyLevel: Warning = "P-LEVEL",
    /// An access list contains an invalid name, which admits no user.
    AclIgnored: Warning = "A-IGNORED",
    /// No user can submit to a queue.
    AclNobody: Warning = "A-NOBODY",
    /// A resource type resembles `vcore` or `memory`, but is a different type.
    ResourceType: Warning = "R-TYPE",
    /// All amounts of a maximum or guarantee are 0, so it is ignored.
    ResourceZeros: Warning = "Q-ZEROS",
    /// A limit has no effect, because another limit is always reached first.
    LimitLoose: Warning = "L-LOOSE",
    /// A group wildcard in a queue below hides a group limit.
    LimitHidden: Warning = "L-HIDDEN",
    /// A user wildcard matches no user, because every user who can submit is named.
    LimitUnreached: Warning = "L-UNREACHED",
    /// `fifo-with-partitions` means `fifo`, because every partition orders applications by age.
    OrderingPartitions: Warning = "OP-PARTITIONS",
    /// The users of a leaf have neither a share nor a cap, because the leaf has no guarantee.
    UserLimitNoShare: Warning = "U-NOSHARE",
    /// `userlimitfactor` allows one user more than the maximum of the queue.
    UserLimitLoose: Warning = "U-CAP",
    /// `maximumallocation` allows asks of more than a quarter of the guarantee of the queue.
    UserLimitLarge: Warning = "U-LARGE",
    /// With `enforcement: strict`, all users of a leaf can get stuck.
    UserLimitStrict: Warning = "U-STRICT",
    /// The formula has dead zones: at times, no user can start another ask.
    UserLimitDeadZone: Warning = "U-DEADZONE",
    /// A number in `applicationlimits` exceeds the number of a queue above, so the lower number applies.
    ApplicationsOverAbove: Warning = "AL-APPS>PARENT",
    /// A number of applications for each user exceeds the number for all users together, and has no effect.
    ApplicationsLoose: Warning = "AL-LOOSE",
    /// A leaf without a guarantee can use all applications that a queue above allows.
    ApplicationsNoShare: Warning = "AL-NOSHARE",
    /// All percentages or weights of siblings are 0, so these queues have no guarantee.
    CapacityAllZero: Warning = "CP-ZERO",
    /// The guarantees of queues exceed the total of all nodes.
    GuaranteeOverNodes: Warning = "Q-G>NODES",
    /// A placement rule can never place an application.
    RuleNever: Warning = "PR-NEVER",
    /// Queues hold no capacity for an ask that waits long, so a large ask can wait forever.
    StarvationOff: Recommendation = "S-OFF",
    /// Reserved nodes are idle for other asks, and neither their number nor their time is limited.
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
