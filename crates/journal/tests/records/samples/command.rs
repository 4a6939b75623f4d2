use std::num::NonZeroU16;

use headroom_core::books::{Away, GangStyle, NodeVerdict, Questions, TaskRequest, TaskSettings};
use headroom_core::{
    AddNode, Ask, Command, Millis, RejectApplication, SetForeign, SetTenant, Submit, SubmitTask,
    TaskChange, Termination, Timestamp, Verdicts,
};

use super::named;
use super::parts::{amounts, configuration, drift, name, names, tenant_defaults, tenant_settings};

named!(Command {
    Configure "configure"
    AddNode "add-node"
    ResizeNode "resize-node"
    SetSchedulable "set-schedulable"
    RemoveNode "remove-node"
    Submit "submit"
    RejectApplication "reject-application"
    Ask "ask"
    Release "release"
    RemoveApplication "remove-application"
    SetForeign "set-foreign"
    ReleaseForeign "release-foreign"
    SetQuestions "set-questions"
    SetManagerAway "set-manager-away"
    Verdicts "verdicts"
    VoidVerdicts "void-verdicts"
    ScanQuotas "scan-quotas"
    ScanOutstanding "scan-outstanding"
    Tick "tick"
    SetTenant "set-tenant"
    RemoveTenant "remove-tenant"
    SetTenantDefaults "set-tenant-defaults"
    SubmitTask "submit-task"
    ChangeTask "change-task"
    ReportDrift "report-drift"
    Recover "recover"
});

pub(crate) fn samples() -> Vec<(&'static str, Command)> {
    let mut all = of_nodes();
    all.extend(of_applications());
    all.extend(of_asks());
    all.extend(of_tenants());
    all.extend(of_tasks());
    all.into_iter().map(|command| (name_of(&command), command)).collect()
}

fn of_nodes() -> Vec<Command> {
    let (partition, node) = (name("default"), name("n1"));
    let p = || partition.clone();
    let n = || node.clone();
    vec![
        Command::Configure(Box::new(configuration())),
        Command::AddNode(AddNode {
            partition: p(),
            node: n(),
            capacity: amounts(),
            schedulable: true,
            attributes: [("si/rackname", "r1"), ("zone", "")].into_iter().collect(),
        }),
        Command::ResizeNode { partition: p(), node: n(), capacity: amounts() },
        Command::SetSchedulable { partition: p(), node: n(), schedulable: true },
        Command::RemoveNode { partition: p(), node: n() },
        Command::SetForeign(SetForeign {
            partition: p(),
            key: name("pod"),
            node: n(),
            resources: amounts(),
            preemptable: true,
        }),
        Command::ReleaseForeign { partition: p(), key: name("pod") },
        Command::VoidVerdicts { partition: p(), node: n() },
    ]
}

fn of_applications() -> Vec<Command> {
    let (partition, application) = (name("default"), name("app-ü"));
    let p = || partition.clone();
    let a = || application.clone();
    vec![
        Command::Submit(Submit {
            partition: p(),
            application: a(),
            queue: name("root.a"),
            tenant: name("tenant-a"),
            user: name("ann"),
            groups: names(&["dev", "ops"]),
            tags: vec![(name("b"), name("1")), (name("a"), name("2")), (name("b"), name("3"))],
            placeholder_ask: amounts(),
            gang_style: GangStyle::Hard,
            placeholder_timeout: Millis::from_secs(60),
        }),
        Command::RejectApplication(Box::new(RejectApplication {
            partition: p(),
            application: a(),
            queue: name("root.a"),
            code: name("USER"),
            message: name("nobody knows ann"),
            ..RejectApplication::default()
        })),
        Command::RemoveApplication { partition: p(), application: a() },
        Command::ScanQuotas { partition: p() },
        Command::ScanOutstanding { partition: p() },
        Command::Tick,
    ]
}

fn of_tenants() -> Vec<Command> {
    let (partition, tenant) = (name("default"), name("tenant-a"));
    vec![
        Command::SetTenant(Box::new(SetTenant {
            partition: partition.clone(),
            tenant: tenant.clone(),
            settings: tenant_settings(),
            expects: Some(0),
            force: true,
        })),
        Command::RemoveTenant {
            partition: partition.clone(),
            tenant,
            drain: true,
            expects: Some(7),
        },
        Command::ReportDrift { partition: partition.clone(), drift: drift() },
        Command::Recover { partition: partition.clone() },
        Command::SetTenantDefaults {
            partition,
            defaults: Box::new(tenant_defaults()),
            expects: None,
        },
    ]
}

fn of_tasks() -> Vec<Command> {
    let (partition, task) = (name("default"), name("t-1"));
    let request = TaskRequest { key: name("key"), digest: name("af05") };
    let change = TaskChange::End { succeeded: true, request: request.clone() };
    let settings = TaskSettings {
        tenant: name("tenant-a"),
        members: 2,
        requeue: true,
        restarts: 3,
        max_wait: Some(Millis::new(7_000)),
        request,
    };
    let submit = Submit {
        partition: partition.clone(),
        application: task.clone(),
        tenant: name("tenant-a"),
        user: name("ann"),
        ..Submit::default()
    };
    let ask = Ask {
        partition: partition.clone(),
        application: task.clone(),
        key: task.clone(),
        resources: amounts(),
        ..Ask::default()
    };
    let submitted = Command::SubmitTask(Box::new(SubmitTask { submit, ask, settings }));
    vec![submitted, Command::ChangeTask { partition, task, change }]
}

fn of_asks() -> Vec<Command> {
    let (partition, application, key) = (name("default"), name("app"), name("k1"));
    vec![
        Command::Ask(Ask {
            partition: partition.clone(),
            application: application.clone(),
            key: key.clone(),
            resources: amounts(),
            node: Some(name("")),
            priority: i32::MIN,
            created: Some(Timestamp::ZERO),
            originator: true,
            placeholder: true,
            task_group: name("workers"),
            required_node: name("n1"),
            may_preempt: true,
            preemptable: true,
            node_label: name("gpu"),
            blocked_nodes: names(&["n2", "n1"]),
        }),
        Command::Release {
            partition: partition.clone(),
            application,
            key: Some(key.clone()),
            termination: Termination::Timeout,
        },
        Command::SetQuestions {
            partition: partition.clone(),
            questions: Some(Questions { victims: true, at_once: NonZeroU16::MIN }),
        },
        Command::SetManagerAway {
            partition: partition.clone(),
            away: Some(Away { manager: name("rm"), since: Timestamp::from_millis(8) }),
        },
        Command::Verdicts(Verdicts {
            partition,
            key,
            question: 5,
            verdicts: vec![
                (name("n1"), NodeVerdict::Suits),
                (name("n2"), NodeVerdict::Refused(name("taint"))),
                (name("n3"), NodeVerdict::SuitsWithout(300)),
            ],
        }),
    ]
}
