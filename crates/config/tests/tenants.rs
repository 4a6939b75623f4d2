//! `tenants`: what a file with them says, and which files are refused.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use headroom_config::{read, review};
use headroom_core::books::Books;
use headroom_core::config::tenant::{OnLower, Oversized, WaitingPolicy, WaitingStrategy};
use headroom_core::config::{PartitionConfig, TenantDefaults, TenantsConfig};
use headroom_core::resource::Amounts;
use headroom_core::{Command, Event, Millis, Name, TenantEvent, Timestamp, decide};

fn partition(text: &str) -> PartitionConfig {
    read(text).unwrap_or_else(|faults| panic!("{faults}")).configuration.partitions.remove(0)
}

/// The codes found in a file whose partition has this block and these queues, by their place.
fn codes(block: &str, queues: &str) -> String {
    let text =
        format!("partitions:\n  - name: default\n    tenants: {block}\n    queues: {queues}\n");
    let review = review(&text);
    let codes = review.diagnostics.iter().map(|one| one.code.as_str());
    // None of these files says who may submit, which is not what they are about.
    let codes: Vec<&str> = codes.filter(|code| *code != "A-NOBODY").collect();
    codes.join(" ")
}

#[test]
fn every_key_becomes_what_it_says() {
    let found = partition(
        "
partitions:
  - name: default
    tenants:
      enabled: true
      rootqueue: root.Org.People
      exempt: [system, admin, system]
      defaults:
        quota: {vcore: 2, memory: 1G, instances: 5, gpu: 0}
        maxwaiting: 7
        waiting: {strategy: urgency, agingintervalseconds: 30, agingstep: 2, agingmax: 9,
          maxovertakes: 0, maxheadwaitseconds: 100, maxwaitseconds: 600}
        onLower: {action: preempt, graceseconds: 5}
        oversized: park
      recoverytimeoutseconds: 1
      verifyintervalseconds: 2
      reclaim: false
      idempotencyttlseconds: 3
      audit: {retentiondays: 31}
    queues:
      - name: org
        parent: true
",
    );
    let expected = TenantsConfig {
        root: Name::new("root.org.people"),
        exempt: vec![Name::new("admin"), Name::new("system")],
        defaults: TenantDefaults {
            quota: Amounts::from([
                ("vcore", 2_000),
                ("memory", 1_000_000_000),
                ("instances", 5),
                ("gpu", 0),
            ]),
            max_waiting: Some(7),
            waiting: WaitingPolicy {
                strategy: WaitingStrategy::Urgency,
                aging_interval: Some(Millis::from_secs(30)),
                aging_step: Some(2),
                aging_max: Some(9),
                max_overtakes: Some(0),
                max_head_wait: Some(Millis::from_secs(100)),
                max_wait: Some(Millis::from_secs(600)),
            },
            on_lower: OnLower::Preempt { grace: Millis::from_secs(5) },
            oversized: Oversized::Park,
        },
        recovery_timeout: Millis::from_secs(1),
        verify_interval: Millis::from_secs(2),
        idempotency_ttl: Millis::from_secs(3),
        audit_retention_days: 31,
        reclaim: false,
    };
    assert_eq!(found.tenants, Some(expected));
    let people = &found.root.children[0].children[0];
    assert_eq!((&*people.name, people.parent), ("people", true), "it is made");
}

#[test]
fn tenants_are_off_unless_they_are_switched_on() {
    let queues = "queues: [{name: a}]";
    for block in ["{}", "{enabled: false, rootqueue: nowhere}", "~", "{exempt: [a]}"] {
        let text = format!("partitions:\n  - name: default\n    tenants: {block}\n    {queues}\n");
        assert_eq!(partition(&text).tenants, None, "{block}");
    }
    let plain = partition(&format!("partitions:\n  - name: default\n    {queues}\n"));
    assert_eq!(plain.tenants, None);
    let usual = "partitions:\n  - name: default\n    tenants: {enabled: true}\n    queues: []\n";
    assert_eq!(partition(usual).tenants, Some(TenantsConfig::default()));
}

#[test]
fn the_queue_for_tenants_holds_theirs_alone() {
    for (block, queues, expected) in [
        ("{enabled: true}", "[{name: tenants, parent: true}]", ""),
        ("{enabled: true}", "[{name: Tenants, parent: true}]", ""),
        ("{enabled: true}", "[{name: tenants}]", "TN-ROOT"),
        ("{enabled: true}", "[{name: tenants, queues: [{name: a}]}]", "TN-BELOW"),
        ("{enabled: true, rootqueue: root}", "[]", "TN-ROOT"),
        ("{enabled: true, rootqueue: tenants}", "[]", "TN-ROOT"),
        ("{enabled: true, rootqueue: root.a b}", "[]", "TN-ROOT"),
        ("{enabled: true, rootqueue: 'root.@recovery@'}", "[]", "TN-ROOT"),
        ("{enabled: true, rootqueue: root.a.b}", "[]", "TN-ROOT"),
        ("{enabled: true, rootqueue: root.a.b}", "[{name: a}]", "TN-ROOT"),
        ("{enabled: true, rootqueue: root.a.b}", "[{name: a, parent: true}]", ""),
        ("{enabled: true, rootqueue: root.a.b}", "[{name: a, queues: [{name: c}]}]", ""),
    ] {
        assert_eq!(codes(block, queues), expected, "{block} {queues}");
    }
}

#[test]
fn values_that_are_none_are_told_by_their_keys() {
    for (block, expected) in [
        ("{recoverytimeoutseconds: 0}", "TN-VALUE"),
        ("{audit: {retentiondays: 4294967296}}", "TN-VALUE"),
        ("{audit: {days: 3}}", "YAML-KEY"),
        ("{enable: true}", "YAML-KEY"),
        ("{defaults: {quota: {vcore: many}}}", "R-SYNTAX"),
        ("{defaults: {maxwaiting: 0}}", ""),
        ("{defaults: {waiting: {agingintervalseconds: 0}}}", "TN-VALUE"),
        ("{defaults: {waiting: {strategy: fair}}}", "TN-WORD"),
        ("{exempt: [a.b]}", "TN-NAME"),
    ] {
        assert_eq!(codes(block, "[]"), expected, "{block}");
    }
}

#[test]
fn the_core_takes_what_is_read() {
    let text = "partitions:\n  - name: default\n    tenants: {enabled: true}\n    queues: []\n";
    let configuration = read(text).unwrap().configuration;
    let command = Command::Configure(Box::new(configuration));
    let events = decide(&Books::default(), Timestamp::ZERO, &command).unwrap();
    assert!(
        events.iter().any(|event| matches!(event, Event::Tenant(TenantEvent::DefaultsSet { .. })))
    );
}

#[test]
fn where_users_share_the_queues_of_tenants_no_tenant_has_a_line() {
    let on = "{enabled: true, rootqueue: root.org.people}";
    let root = |own: &str, org: &str| {
        format!(
            "[{{name: root, {own} queues: [{{name: org, {org} queues: [{{name: people, parent: true}}]}}, {{name: b, userlimits: {{}}}}]}}]"
        )
    };
    let told = |block: &str, queues: &str| codes(block, queues).contains("NO-EFFECT");
    assert!(!told(on, &root("", "")));
    assert!(told(on, &root("userlimits: {},", "")));
    assert!(told(on, &root("", "userlimits: {},")));
    assert!(!told("{enabled: false}", &root("userlimits: {},", "")));
}
