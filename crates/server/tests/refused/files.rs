//! Queue files that cannot come into force.

use headroom_config::{Severity, Style, review};
use headroom_core::config::{
    Configuration, PartitionConfig, QueueConfig, QueueStart, TenantsConfig,
};
use headroom_core::testkit::{leaf, parent, partition};
use headroom_core::{Command, Name, RefusalCode};

use crate::cluster::Cluster;
use crate::example::Example;
use crate::scene::{FILE, Scene};
use crate::sent::Sent;

/// Returns a file with a queue, and with this setting of the partition.
fn with(said: &str) -> String {
    format!(
        "partitions:
- name: default
{said}  queues:
  - name: root
    submitacl: '*'
    queues:
    - name: sales
"
    )
}

pub(crate) async fn examples() -> Vec<Example> {
    let mut all = rules().await;
    all.extend(filters());
    all.extend(unchecked());
    all.extend([
        invalid().await,
        plan_moved().await,
        maximum_allocation_lowered().await,
        tenants_in_force().await,
        tenants_root().await,
    ]);
    all
}

fn forced(file: &str) -> Sent {
    Sent::post("/headroom/v1/apply?force=true").text(file)
}

async fn invalid() -> Example {
    let scene = Scene::of(&with("")).await;
    let file = with("").replace("'*'", "ann bob dev");
    scene.refuses("INVALID", "", forced(&file)).await
}

async fn plan_moved() -> Example {
    let scene = Scene::of(&with("")).await;
    let file = format!("{}      resources: {{max: {{vcore: 4}}}}\n", with(""));
    let planned = scene.does(Sent::post("/headroom/v1/plan").text(&file)).await.json();
    let digest = planned["digest"].as_str().unwrap().to_owned();
    let node = crate::support::submit("app-1", "root.sales", "ann");
    scene.0.accept(Command::Submit(node)).await;
    scene.0.accept(Command::Ask(crate::support::ask("app-1", "k1", 6))).await;
    let path = format!("/headroom/v1/apply?plan={digest}");
    let before = "A plan was made that gives `root.sales` a maximum of 4 cores. Then an application asks for 6 there, which the plan did not have.";
    scene.refuses("PLAN_MOVED", before, Sent::post(&path).text(&file)).await
}

async fn maximum_allocation_lowered() -> Example {
    let says = |most: u32| {
        format!("{}      userlimits: {{maximumallocation: {{vcore: {most}}}}}\n", with(""))
    };
    let scene = Scene::of(&says(8)).await;
    let before = "Queue `root.sales` takes asks of up to 8 cores.";
    scene.refuses("MAXIMUM_ALLOCATION_LOWERED", before, forced(&says(4))).await
}

async fn tenants_in_force() -> Example {
    let scene = Scene::with(&[r#"{"id": "sales"}"#]).await;
    let file = FILE.replace("    tenants: {enabled: true}\n", "");
    scene.refuses("TENANTS_IN_FORCE", "There is a tenant.", forced(&file)).await
}

async fn tenants_root() -> Example {
    let said = "    - name: tenants\n      queues: [{name: sales}]\n";
    let scene = Scene::of(&format!("{}{said}", with(""))).await;
    let before = "The queue file in force has a queue `root.tenants.sales`.";
    scene.refuses("TENANTS_ROOT", before, forced(&with("  tenants: {enabled: true}\n"))).await
}

/// Rules that can be read, and not built.
async fn rules() -> Vec<Example> {
    let mut all = Vec::new();
    for (code, rule) in [
        (RefusalCode::PrUnknown, "{name: providid}"),
        (RefusalCode::PrRecovery, "{name: recovery}"),
        (RefusalCode::PrValue, "{name: tag}"),
    ] {
        let scene = Scene::of(&with("")).await;
        let file = with(&format!("  placementrules: [{rule}]\n"));
        all.push(scene.refuses(code.as_str(), "", forced(&file)).await);
    }
    all
}

/// Filters that cannot be read, so that such a file never comes as far as the rules.
fn filters() -> Vec<Example> {
    let cases = [(RefusalCode::PrUsers, "users"), (RefusalCode::PrGroups, "groups")];
    cases
        .map(|(code, whose)| {
            let rule = format!("{{name: user, filter: {{type: allow, {whose}: ['(ann|bob']}}}}");
            let file = with(&format!("  placementrules: [{rule}]\n"));
            let asked = format!(
                "`headroom validate queues.yaml` on the file\n\n```yaml\n{}\n```\n\nsays:",
                file.trim()
            );
            let said = review(&file).diagnostics.render("queues.yaml", Style::Plain);
            Example::diagnosis(code.as_str(), asked, &said)
        })
        .into()
}

/// What reading a file finds before the core would: a program that has the core in it can still say it.
fn unchecked() -> Vec<Example> {
    let sales = || leaf("sales");
    let queue = |change: fn(&mut QueueConfig)| {
        let mut sales = leaf("sales");
        change(&mut sales);
        parent("root", vec![sales])
    };
    let two = |change: fn(&mut PartitionConfig)| {
        let mut both: Configuration = partition(parent("root", vec![leaf("sales")]));
        let mut second = both.partitions[0].clone();
        change(&mut second);
        change(&mut both.partitions[0]);
        both.partitions.push(second);
        both
    };
    let below_stopped = {
        let below = QueueConfig { start: Some(QueueStart::Running), ..leaf("emea") };
        let sales =
            QueueConfig { start: Some(QueueStart::Stopped), ..parent("sales", vec![below]) };
        partition(parent("root", vec![sales]))
    };
    let named_twice = |both: &mut PartitionConfig| both.tenants = Some(TenantsConfig::default());
    let mut tenants = two(named_twice);
    for one in &mut tenants.partitions {
        one.root.children.push(parent("tenants", Vec::new()));
    }
    tenants.partitions[1].name = Name::new("gpu");
    [
        (
            RefusalCode::DuplicatePartition,
            "two partitions `default`",
            "partitions: [{name: default, queues: [{name: root}]}, {name: default, queues: [{name: root}]}]",
            two(|_| ()),
        ),
        (
            RefusalCode::DuplicateQueue,
            "two queues `root.sales`",
            "partitions: [{name: default, queues: [{name: root, queues: [{name: sales}, {name: Sales}]}]}]",
            partition(parent("root", vec![sales(), sales()])),
        ),
        (
            RefusalCode::AccessList,
            "a queue `root.sales` with `submitacl: ann bob dev`",
            "partitions: [{name: default, queues: [{name: root, queues: [{name: sales, submitacl: ann bob dev}]}]}]",
            partition(queue(|sales| sales.submit_acl = "ann bob dev".into())),
        ),
        (
            RefusalCode::RunsBelowStopped,
            "a queue `root.sales.emea` with `state: running` below `root.sales` with `state: stopped`",
            "partitions: [{name: default, queues: [{name: root, queues: [{name: sales, state: stopped, queues: [{name: emea, state: running}]}]}]}]",
            below_stopped,
        ),
        (
            RefusalCode::TenantsTwice,
            "two partitions that have tenants",
            "partitions: [{name: default, tenants: {enabled: true}, queues: [{name: root}]}, {name: gpu, tenants: {enabled: true}, queues: [{name: root}]}]",
            tenants,
        ),
    ]
    .into_iter()
    .map(|(code, what, file, configuration)| refused_unread(code, what, file, configuration))
    .collect()
}

/// A file that a check refuses, and what the core says of the same where nothing was checked.
fn refused_unread(
    code: RefusalCode,
    what: &str,
    file: &str,
    configuration: Configuration,
) -> Example {
    let found = review(file).diagnostics;
    let first = found.iter().find(|one| one.severity == Severity::Error);
    let first = first.unwrap_or_else(|| panic!("{what}: the file is legal"));
    let asked = format!(
        "Where a queue file has {what}, reading the file reports that first (`{}`). An embedded core that \
         receives this file returns:",
        first.code
    );
    let command = Command::Configure(Box::new(configuration));
    Cluster(headroom_core::testkit::World::default()).refuses(code, &asked, &command)
}
