//! Applications that find no queue.

use headroom_core::{Command, Name, RefusalCode as Code, Submit};

use crate::cluster::{Cluster, gang, submit, tagged};
use crate::example::Example;

pub(crate) fn examples() -> Vec<Example> {
    vec![
        duplicate_application(),
        lifetime(),
        deadline(),
        create(),
        no_rules(),
        no_match(),
        rule_error(),
        gang_order(),
        gang_size(),
        queue_of_tenants(),
    ]
}

fn duplicate_application() -> Example {
    let asked =
        "Application `app-1` has not ended. Another `app-1` is submitted to queue `root.sales`:";
    let submit = submit("app-1", "root.sales");
    Cluster::usual().rejects(Code::DuplicateApplication, asked, submit)
}

fn lifetime() -> Example {
    let asked = "Application `app-2` is submitted with the tag `headroom/lifetime: 10m`:";
    let submit = tagged("app-2", "headroom/lifetime", "10m");
    Cluster::usual().rejects(Code::Lifetime, asked, submit)
}

fn deadline() -> Example {
    let asked = "Application `app-2` is submitted with the tag `headroom/deadline: tomorrow`:";
    let submit = tagged("app-2", "headroom/deadline", "tomorrow");
    Cluster::usual().rejects(Code::Deadline, asked, submit)
}

/// A cluster with these placement rules and the queue `root.sales`.
fn ruled(rules: &str) -> Cluster {
    Cluster::of(&format!(
        "partitions: [{{name: default, placementrules: {rules}, queues: [{{name: root, submitacl: '*', queues: [{{name: sales}}]}}]}}]"
    ))
}

fn create() -> Example {
    let rules = "[{name: provided, create: true}]";
    let asked = "`root.sales` is a leaf, and the rule is `{name: provided, create: true}`. Application `app-1` is submitted to queue `root.sales.new`:";
    ruled(rules).rejects(Code::PlCreate, asked, submit("app-1", "root.sales.new"))
}

fn no_rules() -> Example {
    let asked = "The only rule of the partition is `{name: place}`. Application `app-1` is submitted to queue `root.sales`:";
    ruled("[{name: place}]").rejects(Code::PlNoRules, asked, submit("app-1", "root.sales"))
}

fn no_match() -> Example {
    let asked = "The queue file has `root.sales` and no rules. Application `app-1` is submitted to queue `root.sale`:";
    Cluster::with("[{name: sales}]").rejects(Code::PlRejected, asked, submit("app-1", "root.sale"))
}

fn rule_error() -> Example {
    let rules = "[{name: user, create: true}]";
    let user = Name::new("ann!");
    let asked = "The rule is `{name: user, create: true}`. Application `app-1` of user `ann!` is submitted:";
    ruled(rules).rejects(Code::PlRuleError, asked, Submit { user, ..submit("app-1", "") })
}

fn gang_order() -> Example {
    let queues = "[{name: sales, properties: {application.sort.policy: fair}}]";
    let asked = "Queue `root.sales` sets `application.sort.policy: fair`. Application `app-1` is submitted there as a gang of 2 cores:";
    Cluster::with(queues).rejects(Code::GangOrder, asked, gang("app-1", 2))
}

fn gang_size() -> Example {
    let queues = "[{name: sales, resources: {max: {vcore: 8}}}]";
    let asked = "Queue `root.sales` has a maximum of 8 cores. Application `app-1` is submitted there as a gang of 12 cores:";
    Cluster::with(queues).rejects(Code::GangSize, asked, gang("app-1", 12))
}

fn queue_of_tenants() -> Example {
    let mut cluster = Cluster::of(
        "partitions: [{name: default, tenants: {enabled: true}, queues: [{name: root, submitacl: '*'}]}]",
    );
    let (partition, tenant) = (crate::cluster::default(), Name::new("sales"));
    let set = headroom_core::SetTenant { partition, tenant, ..Default::default() };
    cluster.take(&Command::SetTenant(Box::new(set)));
    let asked = "There is a tenant `sales`. An RM submits application `app-1` to its queue `root.tenants.sales`:";
    cluster.rejects(Code::TenantQueueClosed, asked, submit("app-1", "root.tenants.sales"))
}
