//! Tenants: their settings in the queue file and in commands, and their queues.

use std::sync::Arc;

use headroom_core::books::TenantQueue;
use headroom_core::config::tenant::{
    OnLower, Oversized, TenantKind, TenantMapping, TenantSubject, WaitingPolicy, WaitingStrategy,
};
use headroom_core::config::{TenantDefaults, TenantSettings, TenantsConfig};
use headroom_core::{Millis, SetTenant, TenantDrift};

use super::types::ascending;
use super::{At as _, Decoded, Fault, Field, message, structure, words};
use crate::proto;
use crate::proto::on_lower::Action;
use crate::proto::tenant_limit::Subject;
use crate::record::What;

words!(TenantKind = proto::TenantKind { User, Project, Department });
words!(WaitingStrategy = proto::WaitingStrategy { Fifo, FifoBackfill, Priority, Urgency });
words!(Oversized = proto::Oversized { Reject, Park });
structure!(SetTenant = proto::SetTenant { partition, tenant, settings, expects, force });
structure!(
    TenantDefaults = proto::TenantDefaults { quota, max_waiting, waiting, on_lower, oversized }
);
structure!(
    WaitingPolicy = proto::WaitingPolicy {
        strategy,
        aging_interval,
        aging_step,
        aging_max,
        max_overtakes,
        max_head_wait,
        max_wait,
    }
);
structure!(TenantDrift = proto::TenantDrift { tenant, resource, counted, found });
structure!(TenantQueue = proto::TenantQueue { tenant, suspended });

impl Field<proto::Tenants> for TenantsConfig {
    fn put(&self) -> proto::Tenants {
        let Self {
            root,
            exempt,
            defaults,
            recovery_timeout,
            verify_interval,
            idempotency_ttl,
            audit_retention_days,
            reclaim,
        } = self;
        proto::Tenants {
            root: root.put(),
            exempt: exempt.put(),
            defaults: defaults.put(),
            recovery_timeout: recovery_timeout.put(),
            verify_interval: verify_interval.put(),
            idempotency_ttl: idempotency_ttl.put(),
            audit_retention_days: *audit_retention_days,
            reclaim_off: !*reclaim,
        }
    }

    fn take(field: proto::Tenants) -> Decoded<Self> {
        let proto::Tenants {
            root,
            exempt,
            defaults,
            recovery_timeout,
            verify_interval,
            idempotency_ttl,
            audit_retention_days,
            reclaim_off,
        } = field;
        ascending(exempt.iter()).at("exempt")?;
        Ok(Self {
            root: root.into(),
            exempt: Field::take(exempt).at("exempt")?,
            defaults: Field::take(defaults).at("defaults")?,
            recovery_timeout: Millis::new(recovery_timeout),
            verify_interval: Millis::new(verify_interval),
            idempotency_ttl: Millis::new(idempotency_ttl),
            audit_retention_days,
            // Records of earlier formats have no value. There, a guarantee is taken back by preemption.
            reclaim: !reclaim_off,
        })
    }
}

impl Field<proto::TenantSettings> for TenantSettings {
    fn put(&self) -> proto::TenantSettings {
        let Self {
            display_name,
            kind,
            parent,
            suspended,
            quota,
            guaranteed,
            max_waiting,
            max_applications,
            strict_sum,
            waiting,
            on_lower,
            oversized,
            mapping,
            labels,
        } = self;
        proto::TenantSettings {
            display_name: display_name.put(),
            kind: kind.put(),
            parent: parent.put(),
            suspended: *suspended,
            quota: quota.put(),
            guaranteed: guaranteed.put(),
            max_waiting: *max_waiting,
            max_applications: *max_applications,
            strict_sum: *strict_sum,
            waiting: waiting.as_ref().map(Field::put),
            on_lower: on_lower.as_ref().map(Field::put),
            oversized: oversized.as_ref().map_or(0, Field::put),
            limit: mapping.put(),
            labels: labels.put(),
        }
    }

    fn take(field: proto::TenantSettings) -> Decoded<Self> {
        let proto::TenantSettings {
            display_name,
            kind,
            parent,
            suspended,
            quota,
            guaranteed,
            max_waiting,
            max_applications,
            strict_sum,
            waiting,
            on_lower,
            oversized,
            limit,
            labels,
        } = field;
        let some = (oversized != 0).then(|| Field::take(oversized)).transpose();
        Ok(Self {
            display_name: display_name.into(),
            kind: Field::take(kind).at("kind")?,
            parent: Field::take(parent).at("parent")?,
            suspended,
            quota: Field::take(quota).at("quota")?,
            guaranteed: Field::take(guaranteed).at("guaranteed")?,
            max_waiting,
            max_applications,
            strict_sum,
            waiting: waiting.map(WaitingPolicy::take).transpose().at("waiting")?,
            on_lower: on_lower.map(OnLower::take).transpose().at("on_lower")?,
            oversized: some.at("oversized")?,
            mapping: Field::take(limit).at("limit")?,
            labels: Field::take(labels).at("labels")?,
        })
    }
}
message!(TenantSettings = proto::TenantSettings);

impl Field<Option<proto::TenantLimit>> for TenantMapping {
    fn put(&self) -> Option<proto::TenantLimit> {
        let Self::Limit { queue, subject } = self else { return None };
        let subject = match subject {
            TenantSubject::User(name) => Subject::User(name.put()),
            TenantSubject::Group(name) => Subject::Group(name.put()),
        };
        Some(proto::TenantLimit { queue: queue.put(), subject: Some(subject) })
    }

    fn take(field: Option<proto::TenantLimit>) -> Decoded<Self> {
        let Some(proto::TenantLimit { queue, subject }) = field else { return Ok(Self::Queue) };
        let subject = match subject {
            Some(Subject::User(name)) => TenantSubject::User(name.into()),
            Some(Subject::Group(name)) => TenantSubject::Group(name.into()),
            None => return Err(Fault::new(What::Missing)).at("subject"),
        };
        Ok(Self::Limit { queue: queue.into(), subject })
    }
}

impl Field<proto::OnLower> for OnLower {
    fn put(&self) -> proto::OnLower {
        let action = match self {
            Self::Block => Action::Block(proto::NoAction {}),
            Self::Preempt { grace } => Action::Preempt(grace.put()),
            Self::Refuse => Action::Refuse(proto::NoAction {}),
        };
        proto::OnLower { action: Some(action) }
    }

    fn take(field: proto::OnLower) -> Decoded<Self> {
        Ok(match field.action {
            Some(Action::Block(proto::NoAction {})) => Self::Block,
            Some(Action::Preempt(grace)) => Self::Preempt { grace: Millis::new(grace) },
            Some(Action::Refuse(proto::NoAction {})) => Self::Refuse,
            None => return Err(Fault::new(What::Missing)).at("action"),
        })
    }
}
message!(OnLower = proto::OnLower);

impl Field<Option<proto::Tenants>> for Option<TenantsConfig> {
    fn put(&self) -> Option<proto::Tenants> {
        self.as_ref().map(Field::put)
    }

    fn take(field: Option<proto::Tenants>) -> Decoded<Self> {
        field.map(Field::take).transpose()
    }
}

impl Field<Option<proto::Tenants>> for Option<Arc<TenantsConfig>> {
    fn put(&self) -> Option<proto::Tenants> {
        self.as_deref().map(Field::put)
    }

    fn take(field: Option<proto::Tenants>) -> Decoded<Self> {
        field.map(|one| TenantsConfig::take(one).map(Arc::new)).transpose()
    }
}

impl Field<Option<proto::TenantQueue>> for Option<TenantQueue> {
    fn put(&self) -> Option<proto::TenantQueue> {
        self.as_ref().map(Field::put)
    }

    fn take(field: Option<proto::TenantQueue>) -> Decoded<Self> {
        field.map(Field::take).transpose()
    }
}
