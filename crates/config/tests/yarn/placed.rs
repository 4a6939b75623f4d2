//! Where applications go: mappings and rules of YARN as placement rules, and what they do.

use headroom_config::read as read_queues;
use headroom_core::books::Books;
use headroom_core::{ApplicationEvent, Command, Event, Name, Submit, Timestamp, decide};

use crate::converted;
use crate::told::of;

/// Where an application of this user goes that names this queue; none where it is rejected.
fn placed(text: &str, user: &str, queue: &str) -> Option<String> {
    let configuration = read_queues(text).unwrap().configuration;
    let mut books = Books::default();
    let mut run = |command: &Command| {
        let events = decide(&books, Timestamp::ZERO, command).unwrap();
        for event in &events {
            books.apply(Timestamp::ZERO, event);
        }
        events
    };
    run(&Command::Configure(Box::new(configuration)));
    let events = run(&Command::Submit(Submit {
        partition: "default".into(),
        application: "one".into(),
        queue: queue.into(),
        user: user.into(),
        ..Submit::default()
    }));
    let found = events.iter().find_map(|event| match event {
        Event::Application(ApplicationEvent::Added { queue, .. }) => Some(queue.clone()),
        _ => None,
    });
    found.map(|queue: Name| queue.to_string())
}

const QUEUES: [(&str, &str); 3] =
    [("root.queues", "default,a"), ("root.default.capacity", "50"), ("root.a.capacity", "50")];

fn with_rules(rules: &str, more: &[(&str, &str)]) -> headroom_config::yarn::Converted {
    let json = [("mapping-rule-format", "json"), ("mapping-rule-json", rules)];
    converted(&[&QUEUES[..], &json, more].concat())
}

#[test]
fn who_is_rejected_by_a_rule_is_rejected_here() {
    let rules = r#"{"rules": [
        {"type": "user", "matches": "ann", "policy": "custom", "customPlacement": "root.a"},
        {"type": "user", "matches": "*", "policy": "reject"}]}"#;
    let text = with_rules(rules, &[]).text;
    for (user, queue, expected) in [
        ("ann", "", Some("root.a")),
        // To name it is to name none in YARN.
        ("ann", "default", Some("root.a")),
        ("bob", "", None),
        ("bob", "default", None),
        // A queue that an application names goes before the rules.
        ("bob", "root.a", Some("root.a")),
    ] {
        assert_eq!(placed(&text, user, queue).as_deref(), expected, "{user} {queue}");
    }
    let text = with_rules(rules, &[("queue-mappings-override.enable", "true")]).text;
    for queue in ["", "default", "root.a"] {
        assert_eq!(placed(&text, "ann", queue).as_deref(), Some("root.a"), "ann {queue}");
        assert_eq!(placed(&text, "bob", queue), None, "bob {queue}");
    }
}

#[test]
fn one_user_is_rejected_and_the_next_rule_is_for_the_others() {
    let rules = r#"{"rules": [
        {"type": "user", "matches": "eve", "policy": "reject"},
        {"type": "user", "matches": "*", "policy": "custom", "customPlacement": "root.a"}]}"#;
    let found = with_rules(rules, &[]);
    assert_eq!(placed(&found.text, "eve", ""), None);
    assert_eq!(placed(&found.text, "bob", "").as_deref(), Some("root.a"));
    assert!(!found.text.contains("not converted"), "{}", found.text);
}

#[test]
fn a_default_queue_that_a_rule_leads_to_stays_open() {
    let rules = r#"{"rules": [
        {"type": "user", "matches": "ann", "policy": "defaultQueue"},
        {"type": "user", "matches": "*", "policy": "reject"}]}"#;
    let text = with_rules(rules, &[]).text;
    assert_eq!(placed(&text, "ann", "").as_deref(), Some("root.default"));
    assert_eq!(placed(&text, "bob", ""), None);
    assert!(!text.contains("state: stopped"), "{text}");
}

#[test]
fn a_mapping_names_a_leaf_by_its_parent_too() {
    let queues = [("root.queues", "a,dev"), ("root.dev.queues", "web,db")];
    for target in ["web", "dev.web", "root.dev.web"] {
        let mapping = format!("u:ann:{target}");
        let text = converted(&[&queues[..], &[("queue-mappings", &mapping)]].concat()).text;
        assert_eq!(placed(&text, "ann", "").as_deref(), Some("root.dev.web"), "{target}");
    }
}

#[test]
fn a_rule_to_a_queue_that_is_not_there_is_left_out_and_told() {
    let maker = [
        ("root.queues", "default,users"),
        ("root.users.auto-queue-creation-v2.enabled", "true"),
        ("mapping-rule-format", "json"),
    ];
    for (target, create, is_there) in [
        ("root.users.x", "true", true),
        ("root.users.x", "false", false),
        ("root.nowhere", "true", false),
        ("nowhere.x", "false", false),
    ] {
        let rules = format!(
            r#"{{"rules": [{{"type": "user", "matches": "ann", "policy": "custom", "customPlacement": "{target}", "create": {create}}}]}}"#
        );
        let properties = [&maker[..], &[("mapping-rule-json", &rules)]].concat();
        // That the result breaks no rule is looked at there.
        let found = converted(&properties);
        let told = of(&found, "mapping-rule-json");
        let left_out = told.iter().any(|note| note.contains("` does not exist"));
        assert_eq!(left_out, !is_there, "{target} {create}: {told:?}");
        let fixed = format!("value: {target}");
        assert_eq!(found.text.contains(&fixed), is_there, "{target} {create}: {}", found.text);
    }
}

#[test]
fn what_becomes_of_an_unknown_queue_is_told() {
    let why = "YARN rejects an application that specifies a queue that does not exist";
    let found = converted(&QUEUES);
    let told = of(&found, "root.queues");
    assert!(told.iter().any(|note| note.contains(why)), "{told:?}");
    assert_eq!(placed(&found.text, "ann", "root.none").as_deref(), Some("root.default"));
    // Without a queue `default` and without mappings it is refused here, too.
    let found = converted(&[("root.queues", "a,b")]);
    assert!(of(&found, "root.queues").iter().all(|note| !note.contains(why)));
    assert_eq!(placed(&found.text, "ann", "root.none"), None);
}

#[test]
fn a_cluster_with_another_scheduler_is_warned_of() {
    const PACKAGE: &str = "org.apache.hadoop.yarn.server.resourcemanager.scheduler";
    let of_class = |class: &str| {
        let value = format!("{PACKAGE}.{class}");
        let name = ".yarn.resourcemanager.scheduler.class";
        of(&converted(&[&QUEUES[..], &[(name, &value)]].concat()), name)
    };
    for class in ["fair.FairScheduler", "fifo.FifoScheduler"] {
        let told = of_class(class);
        let name = class.rsplit('.').next().unwrap();
        let found = told.iter().any(|note| note.contains(name) && note.contains("not active"));
        assert!(found, "{class}: {told:?}");
    }
    assert_eq!(of_class("capacity.CapacityScheduler"), Vec::<String>::new());
}

#[test]
fn names_of_other_versions_and_schedulers_are_asked_after() {
    for (name, meant) in [
        ("acl_submit_jobs", "acl_submit_applications"),
        ("acl-submit-job", "acl_submit_applications"),
        ("acl_administer_jobs", "acl_administer_queue"),
        ("aclSubmitApps", "acl_submit_applications"),
        ("maxRunningApps", "max-parallel-apps"),
        ("max-apps", "maximum-applications"),
        ("max-capacity", "maximum-capacity"),
        ("min-user-limit-percent", "minimum-user-limit-percent"),
        ("max-am-resource-percent", "maximum-am-resource-percent"),
    ] {
        let name = format!("root.a.{name}");
        let told = of(&converted(&[&QUEUES[..], &[(&name, "1")]].concat()), &name);
        let asked = format!("did you mean yarn.scheduler.capacity.root.a.{meant}?");
        assert!(told.iter().any(|note| note.ends_with(&asked)), "{name}: {told:?}");
    }
}

#[test]
fn a_value_that_holds_anyway_is_no_loss() {
    for (name, default, other) in [
        ("node-locality-delay", "40", "10"),
        ("rack-locality-additional-delay", "-1", "80"),
        ("per-node-heartbeat.maximum-offswitch-assignments", "1", "4"),
        ("application.fail-fast", "false", "true"),
        ("root.a.acl_application_max_priority", "*", "[user=ann max_priority=3]"),
        ("root.a.default-application-priority", "0", "4"),
        (".yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval", "3000", "1000"),
        (".yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill", "15000", "1"),
    ] {
        let told = |value| of(&converted(&[&QUEUES[..], &[(name, value)]].concat()), name);
        assert_eq!(told(default), Vec::<String>::new(), "{name}");
        assert_eq!(told(other).len(), 1, "{name}");
    }
}
