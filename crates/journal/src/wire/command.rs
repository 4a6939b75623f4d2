//! Commands.

use headroom_core::{AddNode, Ask, Command, RejectApplication, SetForeign, Submit};

use super::{At as _, Decoded, Fault, Field, structure};
use crate::proto;
use crate::proto::command::Kind;
use crate::record::What;

structure!(AddNode = proto::AddNode { partition, node, capacity, schedulable, attributes });
structure!(
    Submit = proto::Submit {
        partition,
        application,
        queue,
        user,
        groups,
        tags,
        placeholder_ask,
        gang_style,
        placeholder_timeout,
        tenant,
    }
);
structure!(
    Ask = proto::Ask {
        partition,
        application,
        key,
        resources,
        node,
        priority,
        created,
        originator,
        placeholder,
        task_group,
        required_node,
        may_preempt,
        preemptable,
        node_label,
        blocked_nodes,
    }
);
structure!(
    RejectApplication = proto::RejectApplication {
        partition,
        application,
        queue,
        code,
        message,
        user,
        groups,
        tenant,
        of_task,
    }
);
structure!(SetForeign = proto::SetForeign { partition, key, node, resources, preemptable });

/// Maps each variant to the name of its field: variants with a structure of their own, boxed and plain, and variants
/// with fields.
macro_rules! commands {
    (
        boxed { $($boxed:ident $boxed_name:literal)* }
        whole { $($whole:ident $whole_name:literal)* }
        fields { $($variant:ident $name:literal { $($field:ident),* })* }
    ) => {
        impl Field<proto::Command> for Command {
            fn put(&self) -> proto::Command {
                let kind = match self {
                    $(Self::$boxed(inner) => Kind::$boxed((**inner).put()),)*
                    $(Self::$whole(inner) => Kind::$whole(inner.put()),)*
                    $(Self::$variant { $($field),* } => {
                        Kind::$variant(proto::$variant { $($field: $field.put()),* })
                    })*
                };
                proto::Command { kind: Some(kind) }
            }

            fn take(field: proto::Command) -> Decoded<Self> {
                let Some(kind) = field.kind else {
                    return Err(Fault::new(What::UnknownKind));
                };
                match kind {
                    $(Kind::$boxed(inner) => {
                        Field::take(inner).at($boxed_name).map(|one| Self::$boxed(Box::new(one)))
                    })*
                    $(Kind::$whole(inner) => Field::take(inner).at($whole_name).map(Self::$whole),)*
                    $(Kind::$variant(proto::$variant { $($field),* }) => Ok(Self::$variant {
                        $($field: Field::take($field).at(stringify!($field)).at($name)?),*
                    }),)*
                }
            }
        }
    };
}

commands! {
    boxed {
        Configure "configure"
        SetTenant "set_tenant"
        SubmitTask "submit_task"
        RejectApplication "reject_application"
    }
    whole {
        AddNode "add_node"
        Submit "submit"
        Ask "ask"
        SetForeign "set_foreign"
        Verdicts "verdicts"
    }
    fields {
        ResizeNode "resize_node" { partition, node, capacity }
        SetSchedulable "set_schedulable" { partition, node, schedulable }
        RemoveNode "remove_node" { partition, node }
        Release "release" { partition, application, key, termination }
        RemoveApplication "remove_application" { partition, application }
        ReleaseForeign "release_foreign" { partition, key }
        SetQuestions "set_questions" { partition, questions }
        SetManagerAway "set_manager_away" { partition, away }
        VoidVerdicts "void_verdicts" { partition, node }
        ScanQuotas "scan_quotas" { partition }
        ScanOutstanding "scan_outstanding" { partition }
        Tick "tick" {}
        RemoveTenant "remove_tenant" { partition, tenant, drain, expects }
        SetTenantDefaults "set_tenant_defaults" { partition, defaults, expects }
        ChangeTask "change_task" { partition, task, change }
        ReportDrift "report_drift" { partition, drift }
        Recover "recover" { partition }
    }
}
