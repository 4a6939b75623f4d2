//! Decisions to differ from the recordings, in one table.

/// Defines the decisions with their numbers and sentences. The sentence is also the documentation.
macro_rules! decisions {
    ($($decision:ident = $number:literal, $why:literal;)*) => {
        /// A decision to differ from the recordings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Decision {
            $(#[doc = $why] $decision,)*
        }

        impl Decision {
            /// All decisions.
            pub const ALL: &[Self] = &[$(Self::$decision,)*];

            /// Returns the number of the row in `docs/kubernetes.md`.
            pub fn number(self) -> &'static str {
                match self { $(Self::$decision => $number,)* }
            }

            /// Returns the sentence of the row in `docs/kubernetes.md`.
            pub fn why(self) -> &'static str {
                match self { $(Self::$decision => $why,)* }
            }
        }
    };
}

decisions! {
    MarkerConflict = "KD-01",
        "A marker for a unique application ID is compared after it is replaced. YuniKorn warns about every marked pod.";
    MissingTime = "KD-02",
        "An object without a timestamp has no creation time. YuniKorn sends the time of the year 1.";
    RequiredNode = "KD-03",
        "Only `In` with one value makes a node required. YuniKorn ignores the operator, and crashes without values.";
    TaskGroups = "KD-04",
        "A repeated task group, a resource without a name, and a name unfit for pods are errors. YuniKorn accepts them.";
    Timeout = "KD-05",
        "A negative placeholder timeout, or one out of range, is the default. YuniKorn accepts it, or wraps.";
    PlaceholderUser = "KD-06",
        "Placeholders carry the user information of their application. In YuniKorn, the scheduler's account can own them.";
    PlaceholderQueue = "KD-07",
        "Without a queue name, placeholders have no queue label. YuniKorn writes an empty label.";
    NegativeQuota = "KD-08",
        "A negative amount in a quota of a namespace is an error. YuniKorn uses the amount.";
    EndedOrphan = "KD-09",
        "A foreign pod that ends on an unknown node is forgotten. YuniKorn counts it when the node appears.";
    CorruptEntry = "KD-10",
        "If an entry of a config map cannot be decompressed, its last readable value stays. YuniKorn adds an empty entry.";
    SettingAlias = "KD-11",
        "Both spellings of a setting are read. YuniKorn reads only one, which can differ from its documentation.";
    Saturation = "KD-12",
        "Amounts and sums stop at the largest number. In YuniKorn, they wrap.";
    NegativeSelector = "KD-13",
        "A negative namespace selector selects what it says. In kube-scheduler 1.36.3, it selects every namespace.";
}
