//! How many there may be of something.

use headroom_core::books::{Partition, Tenants};
use headroom_core::config::TenantSettings;
use headroom_core::{Command, Event, Name, RefusalCode as Code, SetTenant, Submit, TenantEvent};

use crate::cluster::{Cluster, default, gang, submit};
use crate::example::Example;

pub(crate) fn examples() -> Vec<Example> {
    vec![max_apps_queue(), max_apps_user(), too_many_queues(), too_many_tenants()]
}

/// A cluster where queue `root.sales` says this, with one application of `ann` in it.
fn one(limits: &str) -> Cluster {
    let mut cluster = Cluster::with(&format!("[{{name: sales, applicationlimits: {limits}}}]"));
    cluster.take(&Command::Submit(submit("app-1", "root.sales")));
    cluster
}

fn max_apps_queue() -> Example {
    let asked = "Queue `root.sales` sets `applicationlimits: {maximumapplications: 1}`, and `app-1` is there. `app-2` is submitted:";
    let submit = Submit { user: Name::new("bob"), ..submit("app-2", "root.sales") };
    one("{maximumapplications: 1}").rejects(Code::MaxAppsQueue, asked, submit)
}

fn max_apps_user() -> Example {
    let asked = "Queue `root.sales` sets `applicationlimits: {maximumapplicationsperuser: 1}`, and `app-1` of user `ann` is there. She submits `app-2`:";
    let submit = submit("app-2", "root.sales");
    one("{maximumapplicationsperuser: 1}").rejects(Code::MaxAppsUser, asked, submit)
}

/// Each gang that can never run leaves the queues behind that were made for it.
fn too_many_queues() -> Example {
    const LEVELS: u32 = 128;
    let mut cluster = Cluster::of(
        "partitions: [{name: default, placementrules: [{name: provided, create: true}], queues: [{name: root, submitacl: '*', queues: [{name: sales}]}]}]",
    );
    let quota = r#"{"resources":{"vcore":{"value":1}}}"#;
    let submit = |number: u32| Submit {
        queue: Name::from(format!("root.n{number}{}", ".x".repeat(127))),
        tags: vec![(Name::new("namespace.resourcequota"), Name::new(quota))],
        ..gang(&format!("app-{number}"), 2)
    };
    for number in 0..Partition::QUEUES_MADE_MAX / LEVELS {
        cluster.take(&Command::Submit(submit(number)));
    }
    let more = Submit { queue: Name::new("root.new"), ..submit(Partition::QUEUES_MADE_MAX) };
    let asked = "The rule is `{name: provided, create: true}`, and 65,536 queues were made for applications. Another is submitted to queue `root.new`:";
    cluster.rejects(Code::TooManyQueues, asked, more)
}

fn too_many_tenants() -> Example {
    let mut cluster = Cluster::of(
        "partitions: [{name: default, tenants: {enabled: true}, queues: [{name: root, submitacl: '*'}]}]",
    );
    let partition = cluster.0.books.partition_named("default").unwrap();
    for number in 0..Tenants::MAX {
        let (tenant, settings) = (Name::from(format!("t{number}")), TenantSettings::default());
        // As the journal of a server has them, which made them one by one.
        cluster.0.apply(&Event::Tenant(TenantEvent::Set {
            partition,
            tenant,
            settings: Box::new(settings),
        }));
    }
    let set =
        SetTenant { partition: default(), tenant: Name::new("sales"), ..SetTenant::default() };
    let asked = "There are 65,536 tenants. An administrator creates tenant `sales`:";
    cluster.refuses(Code::TooManyTenants, asked, &Command::SetTenant(Box::new(set)))
}
