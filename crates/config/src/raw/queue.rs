//! Queues, and the limits of users and groups in them.

use crate::schema::{
    AmountsIfAny, Count, Each, EachIn, EachOther, False, In, Label, Marked, Maybe, Names, Number,
    Plain, Properties, Rows, Seconds, Setting, Shown, Switch, TextList, TextListIfAny, Title, Word,
    blocks,
};

use super::{ApplicationLimits, Fields, Text, UserLimits};

blocks! {
    /// A queue. Applications run in leaves. Other queues have child queues.
    Queue = "a queue" {
        /// The last part of the path. Names ignore case, and must be unique among siblings.
        "name" "Name" name: Title
            { values: "1 to 64 of ASCII letters, digits, and `_ : # / @ -`", default: "required", shown: Shown::Always };
        /// Whether the queue can have child queues. A queue with `queues` always can.
        "parent" "Parent" parent: False { default: "`false`" };
        /// The maximum and the guarantee of the queue.
        "resources" "Resources" resources: In<Resources> { default: "no limits", shown: Shown::AlwaysInJson };
        /// How many applications run at once, in the queue and all queues below.
        "maxapplications" "MaxApplications" max_applications: Count { default: "no limit" };
        /// Properties of the queue, such as `application.sort.policy`.
        "properties" "Properties" properties: Properties;
        /// Who can administer the queue and the queues below: users, a space, groups. `*` is every user.
        "adminacl" "AdminACL" admin_acl: Plain { default: "no user" };
        /// Who can submit to the queue and the queues below: users, a space, groups. `*` is every user.
        "submitacl" "SubmitACL" submit_acl: Plain { default: "no user" };
        /// The settings of leaves that placement rules create below.
        "childtemplate" "ChildTemplate" template: Maybe<Template> { shown: Shown::AlwaysInJson };
        /// The queues directly below.
        "queues" "Queues" children: Each<Queue>;
        /// Limits of users and groups in the queue and all queues below.
        "limits" "Limits" limits: EachIn<Limit> { default: "no limits" };
        /// How the users share the leaves in this queue and below.
        "userlimits" "UserLimits" user_limits: Marked<UserLimits> { default: "as the queue above", own: true };
        /// How many applications exist and start, and what their drivers can use.
        "applicationlimits" "ApplicationLimits" application_limits: Marked<ApplicationLimits>
            { default: "no limits", own: true };
        /// The guarantee and the maximum as fractions of the parent queue.
        "capacity" "Capacity" capacity: Marked<Capacity> { default: "only `resources` applies", own: true };
        /// Exceptions to the preemption of the partition, for the queue and all queues below.
        "preemption" "Preemption" preemption: In<QueuePreemption> { default: "as the queue above", own: true };
        /// Whether the queue and the queues below accept applications.
        "state" "State" start: Word
            { values: "`running`, `stopped`", default: "as the queue above", own: true };
        /// The order in which applications of a leaf, or the queues below a parent, are served.
        "orderingpolicy" "OrderingPolicy" ordering: Word {
            values: "for a leaf `fifo`, `fair`, `fifo-with-partitions`; for other queues \
                     `utilization`, `priority-utilization`",
            default: "as set in `properties`",
            own: true,
        };
        /// The longest lifetime of an application in the queue and all queues below. 0 means no limit.
        "maximumapplicationlifetime" "MaximumApplicationLifetime" maximum_lifetime: Seconds
            { default: "as the queue above", own: true };
        /// The lifetime of an application that requests no lifetime. 0 means no limit.
        "defaultapplicationlifetime" "DefaultApplicationLifetime" default_lifetime: Seconds
            { default: "as the queue above; if no queue sets it, the maximum", own: true };
        /// The node labels that asks of the queue can name.
        "nodelabels" "NodeLabels" node_labels: Maybe<NodeLabels> { default: "as the queue above", own: true };
    }

    /// The maximum and the guarantee of a queue.
    Resources = "`resources`" {
        /// The guarantee: amounts that the queue can get back by preemption. The root queue has no guarantee.
        "guaranteed" "Guaranteed" guaranteed: AmountsIfAny { default: "nothing" };
        /// The maximum: amounts that the queue and all queues below never exceed. The maximum of the root queue is
        /// the sum of the nodes.
        "max" "Max" max: AmountsIfAny { default: "no limit" };
        also nulls: Vec<Text> = nulls;
    }

    /// The settings of leaves that placement rules create.
    Template = "`childtemplate`" {
        /// The same as in a queue.
        "maxapplications" "MaxApplications" max_applications: Count { default: "no limit" };
        /// The same as in a queue.
        "properties" "Properties" properties: Properties;
        /// The same as in a queue.
        "resources" "Resources" resources: In<Resources> { default: "no limits", shown: Shown::AlwaysInJson };
        /// The same as in a queue.
        "userlimits" "UserLimits" user_limits: Marked<UserLimits> { default: "as the parent queue", own: true };
        /// The same as in a queue.
        "applicationlimits" "ApplicationLimits" application_limits: Marked<ApplicationLimits>
            { default: "no limits", own: true };
        /// The same as in a queue.
        "capacity" "Capacity" capacity: Marked<Capacity> { default: "only `resources` applies", own: true };
    }

    /// The guarantee and the maximum of a queue as fractions of its parent.
    Capacity = "`capacity`" {
        /// The unit of the fraction. With `absolute`, `resources` has the amounts.
        "mode" "Mode" mode: Word { values: "`percent`, `weight`, `absolute`", default: "required" };
        /// The guarantee: in percent of the parent's guarantee, or as a weight among siblings.
        "value" "Value" value: Number
            { values: "0 to 100 with `percent`, 0 to 10000 with `weight`", default: "required, except with `absolute`" };
        /// The maximum, in percent of the parent's maximum.
        "maximum" "Maximum" maximum: Number { values: "0 to 100", default: "the parent's maximum" };
    }

    /// Exceptions of a queue, and the queues below, to the preemption of the partition.
    QueuePreemption = "`preemption` of a queue" {
        /// Whether allocations of the queue are exempt from preemption for other queues.
        "disabled" "Disabled" disabled: Switch { default: "as the queue above" };
        /// Whether allocations of the queue are exempt from preemption for other users of the same leaf.
        "intraqueuedisabled" "IntraQueueDisabled" intra_queue_disabled: Switch { default: "as the queue above" };
        /// Whether the queue recovers up to its fraction of the available amount.
        "balance" "Balance" balance: Switch { default: "as the queue above" };
        /// What an ask can preempt in its own leaf. `priority`: allocations of other applications with a lower
        /// priority, except gangs.
        "withinqueue" "WithinQueue" within_queue: Word
            { values: "`none`, `priority`", default: "as the queue above; otherwise `none`", own: true };
        /// How long an allocation of the queue runs before it can be stopped for another ask.
        "minruntime" "MinRuntime" min_runtime: Word
            { values: "a duration, such as `5m`", default: "as the queue above; otherwise 0", own: true };
    }

    /// The node labels that asks of a queue can name, and the fraction of the labeled nodes that the queue gets.
    NodeLabels = "`nodelabels`" {
        /// The labels that asks can name. `['*']` means all labels, `[]` means no labels.
        "accessible" "Accessible" accessible: TextList { default: "as the queue above; otherwise all" };
        /// The label of asks that name no label. `''` means no label.
        "default" "Default" default: Label { default: "as the queue above; otherwise none" };
        /// Only in `root`: labels whose nodes are only for asks with that label, and are counted separately.
        "exclusive" "Exclusive" exclusive: Names { default: "labels of which a queue has a fraction" };
        /// Only in `root`: the exclusive labels whose idle nodes are lent to asks without a label.
        "lends" "Lends" lends: Names { default: "none" };
        /// A label: the guarantee and the maximum of the queue on nodes with this label, in the mode of its
        /// `capacity`.
        "" "Capacities" capacities: EachOther<LabelPart> { default: "no guarantee; all can be used" };
    }

    /// The guarantee and the maximum of a queue on the nodes with a label.
    LabelPart = "label" {
        /// The same as in `capacity`.
        "value" "Value" value: Number { default: "required" };
        /// The same as in `capacity`.
        "maximum" "Maximum" maximum: Number { default: "the parent's maximum" };
    }

    /// A limit of users and groups in a queue and all queues below. The order of limits matters for groups.
    Limit = "a limit" {
        /// A description.
        "limit" "Limit" description: Title { shown: Shown::Always };
        /// The users, or `*` for each user that no limit names.
        "users" "Users" users: TextListIfAny;
        /// The groups, or `*` for each group that no limit names.
        "groups" "Groups" groups: TextListIfAny;
        /// The amounts that each user, or each group in total, can use.
        "maxresources" "MaxResources" max_resources: AmountsIfAny { default: "no limit" };
        /// Number of applications that each user, or each group in total, can run at once.
        "maxapplications" "MaxApplications" max_applications: Count { default: "no limit" };
    }
}

/// Returns which of the two are written without a value.
fn nulls(fields: &mut Fields<'_, '_>) -> Vec<Text> {
    let settings = <Resources as Rows>::BLOCK.settings;
    let null = |setting: &'static Setting| {
        let entry = fields.entry(setting)?;
        let is_null = fields.get(setting).is_none();
        is_null.then(|| Text { value: setting.key.to_owned(), span: entry.key.span })
    };
    settings.iter().filter_map(null).collect()
}

impl NodeLabels {
    /// Returns whether a text is a key of the block. Such a text cannot be a label.
    pub(crate) fn has_key(text: &str) -> bool {
        <Self as Rows>::BLOCK.has(text)
    }
}

impl Limit {
    /// Returns the named users. Empty if the key is absent.
    pub(crate) fn users(&self) -> &[Text] {
        self.users.as_deref().unwrap_or_default()
    }

    /// Returns the named groups. Empty if the key is absent.
    pub(crate) fn groups(&self) -> &[Text] {
        self.groups.as_deref().unwrap_or_default()
    }
}

impl PartialEq for Limit {
    /// Compares the content. The order of resources does not matter. An absent list differs from an empty one.
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
