//! The queue file as written: every field with its place, nothing judged yet.

mod fields;
mod read;

pub(crate) use read::read;

use headroom_core::config::QueuePreemptionConfig;

use crate::diagnostic::Span;

/// A value with its place in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

impl<T: PartialEq> PartialEq for At<T> {
    /// Equal values; the place does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// A text; empty where the file is silent.
pub(crate) type Text = At<String>;

/// A mapping of texts, in file order; empty and absent are told apart by an `Option`.
pub(crate) type Pairs = At<Vec<(Text, Text)>>;

/// The whole file.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) partitions: Vec<Partition>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Partition {
    pub(crate) name: Text,
    pub(crate) queues: Option<At<Vec<Queue>>>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) limits: At<Vec<Limit>>,
    pub(crate) preemption: Option<bool>,
    pub(crate) quota_preemption: Option<bool>,
    pub(crate) strict_guarantee: Option<bool>,
    pub(crate) balance: Option<bool>,
    pub(crate) intra_queue: Option<bool>,
    pub(crate) observe_only: Option<bool>,
    pub(crate) limit_precedence: Text,
    pub(crate) node_policy: Text,
    pub(crate) node_weights: Vec<(Text, At<f64>)>,
    pub(crate) resolver: Text,
    pub(crate) user_limits: Option<Box<UserLimits>>,
    pub(crate) application_limits: Option<Box<ApplicationLimits>>,
    pub(crate) tenants: Option<Tenants>,
}

/// The block `tenants`; numbers are texts, so that no digit of them is lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tenants {
    /// The block, or its key where it has nothing.
    pub(crate) span: Span,
    pub(crate) enabled: Option<bool>,
    /// `rootqueue`.
    pub(crate) root: Option<Text>,
    pub(crate) exempt: Vec<Text>,
    pub(crate) defaults: Option<TenantDefaultsBlock>,
    /// `recoverytimeoutseconds`.
    pub(crate) recovery: Option<Text>,
    /// `verifyintervalseconds`.
    pub(crate) verify: Option<Text>,
    /// `idempotencyttlseconds`.
    pub(crate) idempotency: Option<Text>,
    /// `audit.retentiondays`.
    pub(crate) retention: Option<Text>,
}

/// The block `defaults` of tenants.
#[derive(Clone, Debug, Default)]
pub(crate) struct TenantDefaultsBlock {
    pub(crate) quota: Option<Pairs>,
    pub(crate) max_waiting: Option<Text>,
    pub(crate) waiting: Option<Waiting>,
    /// `onlower.action`.
    pub(crate) on_lower: Option<Text>,
    /// `onlower.graceseconds`.
    pub(crate) grace: Option<Text>,
    pub(crate) oversized: Option<Text>,
}

/// The block `waiting` of tenants.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) strategy: Option<Text>,
    pub(crate) aging_interval: Option<Text>,
    pub(crate) aging_step: Option<Text>,
    pub(crate) aging_max: Option<Text>,
    pub(crate) max_overtakes: Option<Text>,
    pub(crate) max_head_wait: Option<Text>,
    pub(crate) max_wait: Option<Text>,
}

/// A queue. What most do not have is apart, since a file may have very many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    pub(crate) name: Text,
    pub(crate) parent: bool,
    pub(crate) children: Vec<Queue>,
    pub(crate) resources: Resources,
    pub(crate) max_applications: At<u64>,
    pub(crate) properties: Vec<(Text, Text)>,
    pub(crate) admin_acl: Text,
    pub(crate) submit_acl: Text,
    pub(crate) template: Option<Box<At<Template>>>,
    pub(crate) limits: At<Vec<Limit>>,
    pub(crate) user_limits: Option<Box<UserLimits>>,
    pub(crate) application_limits: Option<Box<ApplicationLimits>>,
    pub(crate) capacity: Option<Box<Capacity>>,
    pub(crate) preemption: QueuePreemptionConfig,
    /// `state`.
    pub(crate) start: Option<Text>,
    /// `orderingpolicy`.
    pub(crate) ordering: Option<Text>,
    /// `maximumapplicationlifetime`.
    pub(crate) maximum_lifetime: Option<Text>,
    /// `defaultapplicationlifetime`.
    pub(crate) default_lifetime: Option<Text>,
    pub(crate) node_labels: Option<Box<NodeLabels>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Resources {
    pub(crate) max: Option<Pairs>,
    pub(crate) guaranteed: Option<Pairs>,
    /// Where one of the two is written without any value.
    pub(crate) nulls: Vec<Text>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    pub(crate) max_applications: At<u64>,
    pub(crate) properties: Vec<(Text, Text)>,
    pub(crate) resources: Resources,
    pub(crate) user_limits: Option<Box<UserLimits>>,
    pub(crate) application_limits: Option<Box<ApplicationLimits>>,
    pub(crate) capacity: Option<Box<Capacity>>,
}

/// The block `capacity`; numbers are texts, so that no digit of them is lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capacity {
    /// The block, or its key where it has nothing.
    pub(crate) span: Span,
    pub(crate) mode: Option<Text>,
    pub(crate) value: Option<Text>,
    pub(crate) maximum: Option<Text>,
}

/// The block `nodelabels`.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeLabels {
    pub(crate) accessible: Option<Vec<Text>>,
    pub(crate) default: Option<Text>,
    pub(crate) exclusive: Vec<Text>,
    pub(crate) lends: Vec<Text>,
    /// What part the queue has of the nodes of each label that is named; without a mode of their own.
    pub(crate) capacities: Vec<(Text, Capacity)>,
}

impl NodeLabels {
    /// The keys that are no labels.
    pub(crate) const KEYS: [&str; 4] = ["accessible", "default", "exclusive", "lends"];
}

/// The block `userlimits`; numbers are texts, so that no digit of them is lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserLimits {
    /// The block, or its key where it has nothing.
    pub(crate) span: Span,
    pub(crate) formula: Option<Text>,
    pub(crate) enforcement: Option<Text>,
    pub(crate) calculator: Option<Text>,
    /// `minimumuserlimitpercent`.
    pub(crate) floor: Option<Text>,
    pub(crate) factor: Option<Text>,
    pub(crate) weights: Vec<(Text, Text)>,
    pub(crate) minimum_allocation: Option<Pairs>,
    pub(crate) increment: Option<Pairs>,
    pub(crate) maximum_allocation: Option<Pairs>,
}

/// The block `applicationlimits`; numbers are texts, so that no digit of them is lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApplicationLimits {
    /// The block, or its key where it has nothing.
    pub(crate) span: Span,
    /// `maximumapplications`.
    pub(crate) max: Option<Text>,
    /// `maximumapplicationsperuser`.
    pub(crate) max_per_user: Option<Text>,
    /// `maxparallelapps`.
    pub(crate) max_parallel: Option<Text>,
    /// `maxparallelappsperuser`.
    pub(crate) max_parallel_per_user: Option<Text>,
    /// `maxparallelappsbyuser`.
    pub(crate) max_parallel_by_user: Vec<(Text, Text)>,
    /// `maximumdriverresourcepercent`.
    pub(crate) driver: Option<Text>,
    /// `globalqueuemaxapplication`.
    pub(crate) max_per_queue: Option<Text>,
}

impl ApplicationLimits {
    /// The counts that are for no user by name, by key.
    pub(crate) fn counts(&self) -> [(&'static str, Option<&Text>); 5] {
        [
            ("maximumapplications", self.max.as_ref()),
            ("maximumapplicationsperuser", self.max_per_user.as_ref()),
            ("maxparallelapps", self.max_parallel.as_ref()),
            ("maxparallelappsperuser", self.max_parallel_per_user.as_ref()),
            ("globalqueuemaxapplication", self.max_per_queue.as_ref()),
        ]
    }

    /// Whether nothing is written in it.
    pub(crate) fn says_nothing(&self) -> bool {
        self.counts().iter().all(|(_, text)| text.is_none())
            && self.max_parallel_by_user.is_empty()
            && self.driver.is_none()
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Limit {
    /// The entry as a whole.
    pub(crate) span: Span,
    pub(crate) description: Text,
    pub(crate) users: Option<Vec<Text>>,
    pub(crate) groups: Option<Vec<Text>>,
    pub(crate) max_resources: Option<Pairs>,
    pub(crate) max_applications: At<u64>,
}

impl Limit {
    /// The users named, none when the key is absent.
    pub(crate) fn users(&self) -> &[Text] {
        self.users.as_deref().unwrap_or_default()
    }

    /// The groups named, none when the key is absent.
    pub(crate) fn groups(&self) -> &[Text] {
        self.groups.as_deref().unwrap_or_default()
    }
}

impl PartialEq for Limit {
    /// The same content; resources in any order, and an absent list differs from an empty one.
    fn eq(&self, other: &Self) -> bool {
        let sorted = |limit: &Self| {
            let mut pairs = limit.max_resources.clone()?.value;
            pairs.sort_by(|one, two| one.0.value.cmp(&two.0.value));
            Some(pairs)
        };
        self.description == other.description
            && self.users == other.users
            && self.groups == other.groups
            && self.max_applications == other.max_applications
            && sorted(self) == sorted(other)
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    pub(crate) name: Text,
    pub(crate) create: bool,
    pub(crate) filter: Filter,
    pub(crate) parent: Option<Box<Rule>>,
    pub(crate) value: Text,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) kind: Text,
    pub(crate) users: Vec<Text>,
    pub(crate) groups: Vec<Text>,
}
