//! Every property of the user guide of Hadoop 3.4, *Capacity Scheduler*, and the result of those whose meaning
//! depends on others.

use headroom_config::yarn::Kind;

use crate::converted;
use crate::told::of;

/// What the guide names below `yarn.scheduler.capacity.`, that of the queue `root.a`, below which queues are made, and
/// other names with a dot at their front.
const GUIDE: &str = "
    root.queues root.a.capacity root.a.maximum-capacity minimum-user-limit-percent
    root.a.minimum-user-limit-percent user-limit-factor root.a.user-limit-factor root.a.maximum-allocation-mb
    root.a.maximum-allocation-vcores root.a.user-settings.ann.weight maximum-applications root.a.maximum-applications
    maximum-am-resource-percent root.a.maximum-am-resource-percent max-parallel-apps root.a.max-parallel-apps
    user.max-parallel-apps user.ann.max-parallel-apps root.a.state root.a.acl_submit_applications
    root.a.acl_administer_queue root.a.maximum-application-lifetime root.a.default-application-lifetime
    queue-mappings .yarn.scheduler.queue-placement-rules.app-name queue-mappings-override.enable mapping-rule-format
    mapping-rule-json mapping-rule-json-file .yarn.cluster.max-application-priority
    root.a.default-application-priority .yarn.resourcemanager.scheduler.monitor.enable
    .yarn.resourcemanager.scheduler.monitor.policies
    .yarn.resourcemanager.monitor.capacity.preemption.observe_only
    .yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval
    .yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill
    .yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round
    .yarn.resourcemanager.monitor.capacity.preemption.max_ignored_over_capacity
    .yarn.resourcemanager.monitor.capacity.preemption.natural_termination_factor
    root.a.disable_preemption root.a.intra-queue-preemption.disable_preemption
    root.a.acl_administer_reservations root.a.acl_list_reservations root.a.acl_submit_reservations
    .yarn.resourcemanager.reservation-system.enable .yarn.resourcemanager.reservation-system.class
    .yarn.resourcemanager.reservation-system.plan.follower
    .yarn.resourcemanager.reservation-system.planfollower.time-step
    root.a.reservable root.a.reservation-agent root.a.reservation-move-on-expiry root.a.show-reservations-as-queues
    root.a.reservation-policy root.a.reservation-window root.a.instantaneous-max-capacity root.a.average-capacity
    root.a.reservation-planner root.a.reservation-enforcement-window
    root.a.auto-create-child-queue.enabled root.a.auto-create-child-queue.management-policy
    root.a.leaf-queue-template.capacity root.a.leaf-queue-template.maximum-capacity
    root.a.leaf-queue-template.user-limit-factor root.a.leaf-queue-template.ordering-policy
    root.a.accessible-node-labels root.a.leaf-queue-template.accessible-node-labels
    root.a.leaf-queue-template.accessible-node-labels.GPU.capacity
    .yarn.resourcemanager.monitor.capacity.queue-management.monitoring-interval
    root.a.auto-queue-creation-v2.enabled root.a.auto-queue-creation-v2.max-queues
    root.a.auto-queue-creation-v2.template.capacity root.a.auto-queue-creation-v2.leaf-template.capacity
    root.a.auto-queue-creation-v2.parent-template.capacity
    root.a.*.auto-queue-creation-v2.template.maximum-capacity
    root.a.auto-queue-creation-v2.leaf-template.accessible-node-labels
    root.a.auto-queue-creation-v2.leaf-template.accessible-node-labels.GPU.capacity
    resource-calculator node-locality-delay rack-locality-additional-delay
    per-node-heartbeat.multiple-assignments-enabled per-node-heartbeat.maximum-container-assignments
    per-node-heartbeat.maximum-offswitch-assignments .yarn.resourcemanager.queue.auto.refresh.monitoring-interval
    .yarn.scheduler.configuration.store.class .yarn.scheduler.configuration.mutation.acl-policy.class
    .yarn.scheduler.configuration.store.max-logs .yarn.scheduler.configuration.leveldb-store.path
    .yarn.scheduler.configuration.leveldb-store.compaction-interval-secs
    .yarn.scheduler.configuration.zk-store.parent-path .yarn.resourcemanager.auto-update.containers
    .yarn.resourcemanager.activities-manager.cleanup-interval-ms
    .yarn.resourcemanager.activities-manager.scheduler-activities.ttl-ms
    .yarn.resourcemanager.activities-manager.app-activities.ttl-ms
    .yarn.resourcemanager.activities-manager.app-activities.max-queue-length
    .yarn.resourcemanager.scheduler.class";

/// Returns a value other than the default, so that it is written or reported.
fn value(name: &str) -> &'static str {
    let last = name.rsplit('.').next().unwrap_or(name);
    match last {
        "queues" => "a",
        "capacity" if name.contains("template") => "2w",
        "capacity" => "100",
        // It has a capacity of 100 where it has all of them.
        "maximum-capacity" if name == "root.a.maximum-capacity" => "100",
        "maximum-capacity" => "61",
        "minimum-user-limit-percent" => "60",
        "user-limit-factor" => "1.63",
        "weight" => "0.63",
        "maximum-am-resource-percent" => "0.64",
        "state" => "STOPPED",
        "acl_submit_applications" | "acl_administer_queue" => "zoe",
        "accessible-node-labels" => "GPU",
        "ordering-policy" => "fair",
        "resource-calculator" => "DominantResourceCalculator",
        "queue-mappings" => "u:ann:a",
        "mapping-rule-format" => "json",
        "policies" => "ProportionalCapacityPreemptionPolicy",
        "enabled" | "enable" | "observe_only" | "disable_preemption" => "true",
        "default-application-lifetime" => "65",
        "maximum-allocation-mb" => "4096",
        _ => "66",
    }
}

#[test]
fn every_property_of_the_user_guide_is_known() {
    let names: Vec<&str> = GUIDE.split_whitespace().collect();
    let properties: Vec<(&str, &str)> = names.iter().map(|name| (*name, value(name))).collect();
    let all = converted(&properties);
    let wrong = all.notes.iter().filter(|note| {
        note.kind == Kind::Unknown || note.why.starts_with("it is not about scheduling")
    });
    let wrong: Vec<String> = wrong.map(ToString::to_string).collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn each_property_of_the_user_guide_changes_the_queue_file_or_is_told() {
    // What the file says of the others, so that there is a place for each.
    let base = [
        ("root.queues", "a,b"),
        ("root.a.capacity", "1w"),
        ("root.b.capacity", "1w"),
        ("root.a.queues", "x"),
        ("root.b.auto-queue-creation-v2.enabled", "true"),
        ("queue-mappings", "u:ann:root.a.x"),
    ];
    let without = |text: &str| -> String {
        text.lines().filter(|line| !line.trim_start().starts_with('#')).collect()
    };
    let before = without(&converted(&base).text);
    for name in GUIDE.split_whitespace() {
        // Leaves have most of them, the queue below which others are made has the rest.
        let name = match name.strip_prefix("root.a.") {
            Some(rest) if rest.contains("auto-queue-creation-v2") => format!("root.b.{rest}"),
            Some(rest) => format!("root.a.x.{rest}"),
            None => name.to_owned(),
        };
        if base.iter().any(|(other, _)| *other == name) {
            continue;
        }
        let found = converted(&[&base[..], &[(&name, value(&name))]].concat());
        let is_written = without(&found.text) != before;
        assert!(is_written || !of(&found, &name).is_empty(), "{name} is dropped in silence");
    }
}

#[test]
fn no_mapping_leads_to_a_queue_with_queues_below_it() {
    let queues = [
        ("root.queues", "default,etl,users"),
        ("root.etl.queues", "nightly,hourly"),
        ("root.default.capacity", "1w"),
        ("root.etl.capacity", "1w"),
        ("root.users.capacity", "1w"),
        ("root.users.auto-queue-creation-v2.enabled", "true"),
    ];
    let told = |more: &[(&str, &str)]| {
        let converted = converted(&[&queues[..], more].concat());
        let notes = converted.notes.iter().filter(|note| note.why.starts_with("no rule for"));
        (converted.text.clone(), notes.map(|note| note.why.clone()).collect::<Vec<_>>())
    };
    let refused = "has or can have child queues, and accepts no applications; CapacityScheduler \
                   also rejects such a mapping; map to a leaf below the queue";
    let (text, notes) = told(&[(
        "queue-mappings",
        "u:alice:etl,g:ops:users,u:bob:root.etl.hourly,u:%user:hourly.%user",
    )]);
    assert_eq!(
        notes,
        [
            format!("no rule for `g:ops:users`: queue `root.users` {refused}"),
            "no rule for `u:%user:hourly.%user`: `hourly` is a leaf, so it has no queues of users"
                .to_owned(),
            format!(
                "no rule for `u:alice:etl`: queue `root.etl` {refused}, such as root.etl.nightly"
            ),
        ]
    );
    assert!(text.contains("value: root.etl.hourly") && !text.contains("alice]"), "{text}");
    let json = r#"{"rules": [
        {"type": "user", "matches": "alice", "policy": "custom", "customPlacement": "root.etl"},
        {"type": "user", "matches": "*", "policy": "setDefaultQueue", "value": "root.etl"}]}"#;
    let (_, notes) = told(&[("mapping-rule-format", "json"), ("mapping-rule-json", json)]);
    assert_eq!(notes.len(), 2);
    assert!(
        notes.iter().all(|why| why.contains("`root.etl` has or can have child queues")),
        "{notes:?}"
    );
}

#[test]
fn in_json_too_a_queue_that_is_named_goes_first_unless_mappings_override() {
    let json = r#"{"rules": [{"type": "user", "matches": "ann", "policy": "custom", "customPlacement": "root.b"}]}"#;
    let properties = [
        ("root.queues", "a,b"),
        ("mapping-rule-format", "json"),
        ("mapping-rule-json", json),
        ("queue-mappings-override.enable", "false"),
        ("mapping-rule-json-file", "/etc/rules.json"),
    ];
    let found = converted(&properties);
    let place =
        |text: &str, rule: &str| text.find(rule).unwrap_or_else(|| panic!("{rule} in {text}"));
    assert!(place(&found.text, "name: provided") < place(&found.text, "value: root.b"));
    assert!(
        of(&found, "mapping-rule-json")[0]
            .starts_with("changed: a queue that an application specifies overrides")
    );
    assert_eq!(of(&found, "queue-mappings-override.enable"), Vec::<String>::new());
    assert_eq!(
        of(&found, "mapping-rule-json-file"),
        ["without effect: mapping-rule-json takes precedence"]
    );
    let mut overriding = properties;
    overriding[3].1 = "true";
    let text = converted(&overriding).text;
    assert!(!text.contains("name: provided"), "{text}");
}

#[test]
fn access_lists_that_did_not_hold_are_told() {
    let queues = [("root.queues", "a"), ("root.a.acl_submit_applications", "ann")];
    let name = ".yarn.acl.enable";
    let told = |more: &[(&str, &str)]| of(&converted(&[&queues[..], more].concat()), name);
    let help = "to give every user all permissions, set `submitacl: '*'` and `adminacl: '*'` in \
                the root queue";
    assert_eq!(
        told(&[]),
        [format!(
            "changed: no file sets whether access lists apply, so YARN ignores them, but Headroom \
             always applies access lists; {help}"
        )]
    );
    assert_eq!(
        told(&[(name, "false")]),
        [format!(
            "changed: YARN ignores access lists with this setting, but Headroom always applies \
             access lists; {help}"
        )]
    );
    assert_eq!(told(&[(name, "true")]), Vec::<String>::new());
    assert_eq!(of(&converted(&[("root.queues", "a")]), name), Vec::<String>::new());
}

#[test]
fn what_a_template_or_a_size_says_twice_or_in_vain_is_told() {
    let queue = [("root.queues", "users"), ("root.users.auto-queue-creation-v2.enabled", "true")];
    let v2 = |name: &str| format!("root.users.auto-queue-creation-v2.{name}");
    let (leaf, all) = (v2("leaf-template.maximum-capacity"), v2("template.maximum-capacity"));
    let found = converted(&[&queue[..], &[(&leaf, "40"), (&all, "60")]].concat());
    assert!(
        found.text.contains("capacity: {mode: weight, value: 1, maximum: 40}"),
        "{}",
        found.text
    );
    assert_eq!(of(&found, &all).len(), 1);
    assert!(
        of(&found, &all)[0]
            .starts_with("not converted: a nearer template sets the property for leaves")
    );

    let dept = [
        ("root.queues", "dept"),
        ("root.dept.capacity", "100"),
        ("root.dept.auto-create-child-queue.enabled", "true"),
        ("root.dept.leaf-queue-template.capacity", "20"),
        ("root.dept.leaf-queue-template.maximum-capacity", "50"),
    ];
    let found = converted(&dept);
    let told = of(&found, "root.dept.leaf-queue-template.maximum-capacity");
    assert_eq!(told.len(), 1, "{}", found.text);
    assert!(told[0].starts_with(
        "not converted: a template can have a maximum in percent only together with a weight"
    ));

    let found = converted(&[
        ("root.queues", "a"),
        ("root.a.maximum-allocation", "memory-mb=2048"),
        ("root.a.maximum-allocation-mb", "1024"),
        (".yarn.scheduler.minimum-allocation-vcores", "2"),
        (".yarn.resource-types.yarn.io/gpu.maximum-allocation", "4"),
        ("root.a.ordering-policy.fair.enable-size-based-weight", "true"),
        ("ordering-policy.priority-utilization.underutilized-preemption.enabled", "true"),
    ]);
    for (name, kind) in [
        ("root.a.maximum-allocation-mb", Kind::NoEffect),
        (".yarn.scheduler.minimum-allocation-vcores", Kind::NoEffect),
        (".yarn.resource-types.yarn.io/gpu.maximum-allocation", Kind::NoEquivalent),
        ("root.a.ordering-policy.fair.enable-size-based-weight", Kind::NoEffect),
        (
            "ordering-policy.priority-utilization.underutilized-preemption.enabled",
            Kind::NoEquivalent,
        ),
    ] {
        let told = of(&found, name);
        assert_eq!(told.len(), 1, "{name}: {told:?}");
        assert!(told[0].starts_with(kind.words()), "{name}: {told:?}");
    }
}
