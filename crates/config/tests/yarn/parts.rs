//! Single properties, and what becomes of them.

use headroom_config::yarn::Kind;

use crate::converted;

/// Converts two sibling queues with these capacities. Returns the lines of both.
fn beside(one: &str, other: &str) -> (Vec<String>, usize) {
    let mut properties = vec![("root.queues", "a,b")];
    for (name, value) in [("root.a.capacity", one), ("root.b.capacity", other)] {
        if value != "absent" {
            properties.push((name, value));
        }
    }
    let converted = converted(&properties);
    let lines = converted
        .text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("capacity:") || line.starts_with("resources:"));
    let of_queues = converted.notes.iter().filter(|note| note.property.ends_with(".capacity"));
    (lines.map(str::to_owned).collect(), of_queues.count())
}

#[test]
fn capacities_are_percentages_weights_or_amounts() {
    const NOTHING: &str = "capacity: {mode: weight, value: 0}";
    for (one, other, expected, notes) in [
        (
            "40",
            "60",
            vec!["capacity: {mode: percent, value: 40}", "capacity: {mode: percent, value: 60}"],
            0,
        ),
        (
            "12.50",
            "8.75e1",
            vec![
                "capacity: {mode: percent, value: 12.5}",
                "capacity: {mode: percent, value: 87.5}",
            ],
            0,
        ),
        (
            "100",
            "absent",
            vec!["capacity: {mode: percent, value: 100}", "capacity: {mode: percent, value: 0}"],
            1,
        ),
        (
            "33.3333333",
            "66.6666667",
            vec![
                "capacity: {mode: percent, value: 33.333333}",
                "capacity: {mode: percent, value: 66.666667}",
            ],
            2,
        ),
        (
            "2w",
            "0.5w",
            vec!["capacity: {mode: weight, value: 2}", "capacity: {mode: weight, value: 0.5}"],
            0,
        ),
        ("2w", "absent", vec!["capacity: {mode: weight, value: 2}", NOTHING], 1),
        ("absent", "absent", vec!["capacity: {mode: percent, value: 0}"; 2], 2),
        (
            "[memory=2048,vcores=2]",
            "[memory=1000]",
            vec![
                "capacity: {mode: absolute}",
                "resources: {guaranteed: {memory: 2Gi, vcore: 2}}",
                "capacity: {mode: absolute}",
                "resources: {guaranteed: {memory: 1000Mi}}",
            ],
            0,
        ),
        // In a queue file, all siblings have one kind of capacity. In YARN they can have several, even by type.
        ("40", "2w", vec![NOTHING; 2], 2),
        ("40", "[memory=1024]", vec![NOTHING; 2], 2),
        ("[memory=50%,vcores=2w]", "[memory=50%,vcores=2w]", vec![NOTHING; 2], 2),
        ("101", "10", vec![NOTHING; 2], 2),
        ("-1", "100", vec![NOTHING; 2], 2),
        ("10001w", "1w", vec![NOTHING; 2], 2),
    ] {
        let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(beside(one, other), (expected, notes), "{one} next to {other}");
    }
}

/// The rules of a cluster with these mappings, and how many mappings have none.
fn rules(properties: &[(&str, &str)]) -> (Vec<String>, usize) {
    let queues = [
        ("root.queues", "default,etl,users"),
        ("root.default.capacity", "1w"),
        ("root.etl.capacity", "1w"),
        ("root.users.capacity", "1w"),
        ("root.users.auto-queue-creation-v2.enabled", "true"),
    ];
    let converted = converted(&[&queues[..], properties].concat());
    let begin = converted.text.find("placementrules:").expect("there are rules");
    let end = converted.text[begin..].find("\n  queues:").expect("queues follow") + begin;
    let text = converted.text[begin..end].lines().skip(1);
    let text: Vec<String> = text.map(|line| line.trim().to_owned()).collect();
    let rules = text.join(" ").split("- ").skip(1).map(|rule| rule.trim().to_owned()).collect();
    let none = converted.notes.iter().filter(|note| note.why.starts_with("no rule for"));
    (rules, none.count())
}

const PROVIDED: &str = "name: provided create: true";
const DEFAULT: &str = "name: fixed value: root.default create: false";

#[test]
fn mappings_are_rules_in_the_same_order() {
    let (found, none) = rules(&[]);
    assert_eq!((found.join(" / "), none), (format!("{PROVIDED} / {DEFAULT}"), 0));
    let list = "u:ann:etl,g:dev:root.etl,u:%user:root.users.%user,u:bob:users.bob";
    let mapped = "name: fixed value: root.etl create: false filter: {type: allow, users: [ann]} / \
                  name: fixed value: root.etl create: false filter: {type: allow, groups: [dev]} / \
                  name: user create: true parent: {name: fixed, value: root.users, create: false} / \
                  name: fixed value: root.users.bob create: true filter: {type: allow, users: [bob]}";
    let (found, none) = rules(&[("queue-mappings", list)]);
    assert_eq!((found.join(" / "), none), (format!("{PROVIDED} / {mapped} / {DEFAULT}"), 0));
    let overrides = [("queue-mappings", list), ("queue-mappings-override.enable", "true")];
    let (found, none) = rules(&overrides);
    assert_eq!((found.join(" / "), none), (format!("{mapped} / {PROVIDED} / {DEFAULT}"), 0));
    // Groups of users and unknown queues have no rule, and each of them is reported.
    let list = "u:%user:%primary_group,u:%user:root.users.%primary_group.%user,g:dev:nowhere,u:x,y:z:etl,u:b[c:etl";
    let (found, none) = rules(&[("queue-mappings", list)]);
    assert_eq!((found.join(" / "), none), (format!("{PROVIDED} / {DEFAULT}"), 6));
}

#[test]
fn mappings_in_json_are_rules_until_one_rejects_all() {
    let json = r#"{"rules": [
        {"type": "user", "matches": "*", "policy": "specified", "fallbackResult": "skip"},
        {"type": "user", "matches": "ann", "policy": "custom", "customPlacement": "root.users.%user", "create": true},
        {"type": "group", "matches": "dev", "policy": "custom", "customPlacement": "etl"},
        {"type": "user", "matches": "*", "policy": "user", "parentQueue": "root.users", "create": false},
        {"type": "user", "matches": "*", "policy": "primaryGroup"},
        {"type": "application", "matches": "spark", "policy": "specified"},
        {"type": "user", "matches": "bob", "policy": "reject"},
        {"type": "user", "matches": "*", "policy": "setDefaultQueue", "value": "root.etl"},
        {"type": "user", "matches": "*", "policy": "defaultQueue"},
        {"type": "user", "matches": "*", "policy": "reject"},
        {"type": "user", "matches": "*", "policy": "specified"}
    ]}"#;
    let (found, none) = rules(&[("mapping-rule-format", "json"), ("mapping-rule-json", json)]);
    let expected = [
        PROVIDED,
        "name: user create: true filter: {type: allow, users: [ann]} parent: {name: fixed, value: root.users, create: false}",
        "name: fixed value: root.etl create: false filter: {type: allow, groups: [dev]}",
        "name: user create: false parent: {name: fixed, value: root.users, create: false}",
        "name: reject filter: {type: allow, users: [bob]}",
        "name: fixed value: root.etl create: false",
        "name: reject",
    ];
    assert_eq!((found, none), (expected.map(str::to_owned).to_vec(), 2));
}

#[test]
fn names_are_legal_and_of_one_queue_each() {
    let converted = converted(&[
        ("root.queues", "Data Lake,data_lake,etl,ETL,@recovery@"),
        ("root.etl.capacity", "60"),
        ("root.ETL.capacity", "40"),
        ("queue-mappings", "u:ann:ETL"),
    ]);
    let names = converted.text.lines().filter_map(|line| line.trim().strip_prefix("- name: "));
    let names: Vec<&str> = names.skip_while(|name| *name != "root").skip(1).collect();
    assert_eq!(names, ["Data_Lake", "data_lake-2", "etl", "ETL-2", "queue"]);
    assert!(converted.text.contains("value: root.ETL-2"), "{}", converted.text);
    let told = converted.notes.iter().filter(|note| note.why.contains("was renamed to")).count();
    assert_eq!(told, 4);
}

#[test]
fn the_lower_number_of_parallel_applications_stands_where_it_holds() {
    let converted = converted(&[
        ("root.queues", "a,b"),
        ("max-parallel-apps", "50"),
        ("root.max-parallel-apps", "80"),
        ("root.a.max-parallel-apps", "20"),
    ]);
    let found = converted.text.lines().filter_map(|line| line.split_once("maxparallelapps: "));
    let found: Vec<&str> = found.map(|(_, rest)| rest.trim_end_matches('}')).collect();
    assert_eq!(found, ["80", "20", "50"], "{}", converted.text);
}

#[test]
fn variables_are_replaced_and_a_final_value_stays() {
    let converted = converted(&[
        ("root.queues", "${first},b"),
        (".first", "a"),
        ("root.a.capacity", "${half}"),
        ("root.b.capacity", "50"),
        (".half", "${same}"),
        (".same", "50"),
        ("root.a.acl_submit_applications", "${env.WHO}"),
        ("root.b.maximum-capacity", "${round}"),
        (".round", "${round}"),
    ]);
    assert_eq!(converted.text.matches("{mode: percent, value: 50}").count(), 2);
    let unresolved = converted.notes.iter().filter(|note| note.why.starts_with("no file sets ${"));
    let names: Vec<&str> = unresolved.map(|note| note.property.as_str()).collect();
    // The last two name each other for ever.
    let (begin, round) = ("yarn.scheduler.capacity.root", "round");
    let expected =
        [format!("{begin}.a.acl_submit_applications"), format!("{begin}.b.maximum-capacity")];
    assert_eq!(names, [round, &expected[0], &expected[1]]);

    let first = "<configuration><property name='yarn.scheduler.capacity.root.queues' value='a'/>\
                 <property><name>yarn.scheduler.capacity.root.a.capacity</name><value>100</value>\
                 <final>true</final></property></configuration>";
    let second = "<configuration><property name='yarn.scheduler.capacity.root.queues' value='a,b'/>\
                  <property name='yarn.scheduler.capacity.root.a.capacity' value='40'/></configuration>";
    let files = [first, second].map(|text| headroom_config::yarn::Source { name: "x", text });
    let formula = headroom_core::userlimit::Formula::Yarn3;
    let text = headroom_config::yarn::convert(&files, formula).unwrap().text;
    assert!(text.contains("name: b") && text.contains("value: 100"), "{text}");
}

#[test]
fn what_a_parent_says_of_users_is_for_nobody_but_weights_and_sizes_are() {
    let converted = converted(&[
        ("root.queues", "p"),
        ("root.p.queues", "l"),
        ("root.p.user-limit-factor", "3"),
        ("root.p.minimum-user-limit-percent", "20"),
        ("root.p.maximum-am-resource-percent", "0.5"),
        ("root.p.user-settings.ann.weight", "0.75"),
        ("root.p.maximum-allocation-mb", "2048"),
        (".yarn.scheduler.maximum-allocation-mb", "8192"),
        (".yarn.scheduler.maximum-allocation-vcores", "4"),
    ]);
    let line = "userlimits: {weights: {ann: 0.75}, maximumallocation: {memory: 2Gi, vcore: 4}}";
    assert!(converted.text.contains(line), "{}", converted.text);
    let kind = |name: &str| {
        let ends = format!("root.p.{name}");
        converted.notes.iter().find(|note| note.property.ends_with(&ends)).map(|note| note.kind)
    };
    for name in ["user-limit-factor", "minimum-user-limit-percent", "maximum-am-resource-percent"] {
        assert_eq!(kind(name), Some(Kind::NoEffect), "{name}");
    }
    assert_eq!(kind("maximum-allocation-mb"), None);
}

#[test]
fn access_lists_keep_who_is_in_them() {
    for (written, expected) in [
        ("*", "submitacl: \"*\""),
        (" * ", "submitacl: \"*\""),
        ("ann,bob", "submitacl: \"ann,bob\""),
        ("ann, bob", "submitacl: \"ann bob\""),
        ("ann dev,ops", "submitacl: \"ann dev,ops\""),
        (" dev", "submitacl: \" dev\""),
        (" ", ""),
    ] {
        let converted = converted(&[
            ("root.queues", "a"),
            ("root.acl_submit_applications", " "),
            ("root.acl_administer_queue", " "),
            ("root.a.acl_submit_applications", written),
        ]);
        let found =
            converted.text.lines().map(str::trim).find(|line| line.starts_with("submitacl"));
        assert_eq!(found.unwrap_or_default(), expected, "{written:?}");
    }
}
