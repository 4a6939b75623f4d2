//! Settings of partitions, queues, limits, and gangs in events.

use std::sync::Arc;

use headroom_core::books::{
    GangSettings, LimitSettings, LimitSubject, PartitionSettings, QueueSettings,
};
use headroom_core::config::{
    AccessList, ApplicationOrder, OvertakingLimits, PreemptionPolicy, PriorityPolicy,
    PropertyValues, RuleConfig, TemplateConfig,
};
use headroom_core::{AskTraits, Millis, PreemptionCause};

use super::{At as _, Decoded, Fault, Field, message, required, structure, words};
use crate::proto;
use crate::record::What;

words!(
    ApplicationOrder =
        proto::ApplicationOrder { Fifo, Fair, FifoStrict, FifoBackfill, Priority, Urgency }
);
words!(PriorityPolicy = proto::PriorityPolicy { Default, Fence });
words!(PreemptionPolicy = proto::PreemptionPolicy { Default, Fence, Disabled });

structure!(
    PartitionSettings = proto::PartitionSettings {
        node_sort,
        preemption,
        limit_precedence,
        placement_rules,
        user_group_resolver,
        tenants,
        gang_placement,
        starvation_after,
        reservation_share,
    }
);
structure!(
    QueueSettings = proto::QueueSettings {
        max,
        guaranteed,
        max_applications,
        properties,
        values,
        submit_acl,
        admin_acl,
        template,
        user_limits,
        application_limits,
        capacity,
        label_capacities,
        preemption,
        stopped,
        lifetimes,
        node_labels,
        tenant,
    }
);
structure!(
    PropertyValues = proto::PropertyValues {
        application_order,
        priority_first,
        backoff,
        backoff_delay,
        priority_policy,
        priority_offset,
        preemption_policy,
        preemption_delay,
        quota_preemption_delay,
        line,
    }
);

impl Field<Option<proto::LineValues>> for OvertakingLimits {
    /// Default values are omitted.
    fn put(&self) -> Option<proto::LineValues> {
        let Self { aging_interval, aging_step, aging_max, max_overtakes, max_head_wait } = *self;
        (*self != Self::default()).then(|| proto::LineValues {
            aging_interval: aging_interval.put(),
            aging_step,
            aging_max,
            max_overtakes,
            max_head_wait: max_head_wait.put(),
        })
    }

    fn take(field: Option<proto::LineValues>) -> Decoded<Self> {
        let Some(field) = field else { return Ok(Self::default()) };
        Ok(Self {
            aging_interval: Millis::take(field.aging_interval)?,
            aging_step: field.aging_step,
            aging_max: field.aging_max,
            max_overtakes: field.max_overtakes,
            max_head_wait: Millis::take(field.max_head_wait)?,
        })
    }
}

structure!(GangSettings = proto::GangSettings { ask, style, timeout });
structure!(
    AskTraits = proto::AskTraits {
        originator,
        placeholder,
        may_preempt,
        preemptable,
        task_group,
        required_node,
        node_label,
        blocked_nodes,
    }
);

impl Field<Vec<proto::PlacementRule>> for Arc<[RuleConfig]> {
    fn put(&self) -> Vec<proto::PlacementRule> {
        self.iter().map(Field::put).collect()
    }

    fn take(field: Vec<proto::PlacementRule>) -> Decoded<Self> {
        Vec::take(field).map(Self::from)
    }
}

impl Field<Option<proto::Template>> for Option<Arc<TemplateConfig>> {
    fn put(&self) -> Option<proto::Template> {
        self.as_deref().map(Field::put)
    }

    fn take(field: Option<proto::Template>) -> Decoded<Self> {
        field.map(|one| TemplateConfig::take(one).map(Arc::new)).transpose()
    }
}

impl Field<proto::AccessList> for AccessList {
    fn put(&self) -> proto::AccessList {
        proto::AccessList {
            everybody: self.is_everybody(),
            users: self.users().put(),
            groups: self.groups().put(),
        }
    }

    fn take(field: proto::AccessList) -> Decoded<Self> {
        let proto::AccessList { everybody, users, groups } = field;
        Ok(Self::from_parts(
            everybody,
            Field::take(users).at("users")?,
            Field::take(groups).at("groups")?,
        ))
    }
}
message!(AccessList = proto::AccessList);

impl Field<proto::LimitSettings> for LimitSettings {
    fn put(&self) -> proto::LimitSettings {
        use proto::limit_settings::Subject;
        let Self { subject, max, max_applications } = self;
        let subject = match subject {
            LimitSubject::User(name) => Subject::User(name.put()),
            LimitSubject::AnyUser => Subject::AnyUser(proto::AnyUser {}),
            LimitSubject::Group(name) => Subject::Group(name.put()),
            LimitSubject::AnyGroup => Subject::AnyGroup(proto::AnyGroup {}),
        };
        proto::LimitSettings {
            subject: Some(subject),
            max: max.put(),
            max_applications: *max_applications,
        }
    }

    fn take(field: proto::LimitSettings) -> Decoded<Self> {
        use proto::limit_settings::Subject;
        let proto::LimitSettings { subject, max, max_applications } = field;
        let subject = match subject {
            Some(Subject::User(name)) => LimitSubject::User(name.into()),
            Some(Subject::AnyUser(proto::AnyUser {})) => LimitSubject::AnyUser,
            Some(Subject::Group(name)) => LimitSubject::Group(name.into()),
            Some(Subject::AnyGroup(proto::AnyGroup {})) => LimitSubject::AnyGroup,
            None => return Err(Fault::new(What::Missing)).at("subject"),
        };
        Ok(Self { subject, max: Field::take(max).at("max")?, max_applications })
    }
}

impl Field<Option<proto::PreemptionCause>> for PreemptionCause {
    fn put(&self) -> Option<proto::PreemptionCause> {
        use proto::preemption_cause::Cause;
        let cause = match self {
            Self::Guarantee(ask) => Cause::Guarantee(ask.put()),
            Self::Share(ask) => Cause::Share(ask.put()),
            Self::Priority(ask) => Cause::Priority(ask.put()),
            Self::RequiredNode(ask) => Cause::RequiredNode(ask.put()),
            Self::Quota(queue) => Cause::Quota(queue.put()),
        };
        Some(proto::PreemptionCause { cause: Some(cause) })
    }

    fn take(field: Option<proto::PreemptionCause>) -> Decoded<Self> {
        use proto::preemption_cause::Cause;
        match field.and_then(|one| one.cause) {
            Some(Cause::Guarantee(ask)) => required(Some(ask)).map(Self::Guarantee),
            Some(Cause::Share(ask)) => required(Some(ask)).map(Self::Share),
            Some(Cause::Priority(ask)) => required(Some(ask)).map(Self::Priority),
            Some(Cause::RequiredNode(ask)) => required(Some(ask)).map(Self::RequiredNode),
            Some(Cause::Quota(queue)) => required(Some(queue)).map(Self::Quota),
            None => Err(Fault::new(What::Missing)),
        }
    }
}
