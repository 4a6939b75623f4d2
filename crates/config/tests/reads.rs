//! What a good file becomes, and what is accepted with a shrug.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes the texts")]

use expect_test::{Expect, expect};
use headroom_config::{BUILT_IN, Loaded, read};
use headroom_core::config::QueueConfig;

fn load(text: &str) -> Loaded {
    read(text).unwrap_or_else(|faults| panic!("{faults}"))
}

/// A queue per line, with what differs from nothing.
fn tree(queue: &QueueConfig, indent: usize, lines: &mut Vec<String>) {
    let QueueConfig { name, max, guaranteed, max_applications, properties, .. } = queue;
    let kind = if queue.is_parent() { "parent" } else { "leaf" };
    let before = " ".repeat(indent);
    lines.push(format!(
        "{before}{name}: {kind}, max {max}, guaranteed {guaranteed}, \
         {max_applications} applications, {properties:?}"
    ));
    if let Some(template) = &queue.template {
        lines.push(format!("{before}  template {template:?}"));
    }
    for limit in &queue.limits {
        lines.push(format!("{before}  limit {limit:?}"));
    }
    for child in &queue.children {
        tree(child, indent + 2, lines);
    }
}

#[test]
fn a_good_file_becomes_the_configuration_that_it_says() {
    let loaded = load(include_str!("queues.yaml"));
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    let partition = &loaded.configuration.partitions[0];
    let mut lines = vec![
        format!("{} {:?}", partition.name, partition.node_sort),
        format!("{:?}", partition.preemption),
        format!("{:?}", partition.placement_rules),
    ];
    tree(&partition.root, 0, &mut lines);
    expect![[r#"
        default NodeSortConfig { order: BinPacking, weights: [("memory", 2.5), ("vcore", 1.0)] }
        PreemptionConfig { enabled: true, quota_enabled: true, strict_guarantee: true, balance: false }
        [RuleConfig { name: "tag", create: true, filter: FilterConfig { kind: "deny", users: ["^svc-"], groups: [] }, parent: Some(RuleConfig { name: "fixed", create: false, filter: FilterConfig { kind: "", users: [], groups: [] }, parent: None, value: "root.teams" }), value: "namespace" }]
        root: parent, max {}, guaranteed {}, 0 applications, {}
          limit LimitConfig { description: "everybody", users: ["*"], groups: [], max_resources: Amounts([]), max_applications: 100 }
          teams: parent, max {memory: 137438953472 B, nvidia.com/gpu: 8, vcore: 32000 m}, guaranteed {memory: 68719476736 B, vcore: 16000 m}, 0 applications, {}
            template TemplateConfig { max_applications: 10, properties: {"application.sort.policy": "fair"}, max: Amounts([("vcore", Quantity(4000))]), guaranteed: Amounts([]) }
          batch: leaf, max {}, guaranteed {}, 20 applications, {"priority.offset": "5"}
            limit LimitConfig { description: "", users: ["ann"], groups: [], max_resources: Amounts([("vcore", Quantity(1500))]), max_applications: 5 }
    "#]].assert_eq(&format!("{}\n", lines.join("\n")));
}

#[test]
fn queues_without_a_root_get_one() {
    for (queues, expected) in [
        ("[]", "root"),
        ("[{name: ROOT}]", "root"),
        ("[{name: default}]", "root.default"),
        ("[{name: A}, {name: b}]", "root.a root.b"),
        ("[{name: root, queues: [{name: root}]}]", "root.root"),
    ] {
        let loaded = load(&format!("partitions: [{{queues: {queues}}}]"));
        let root = &loaded.configuration.partitions[0].root;
        let paths: Vec<_> =
            root.children.iter().map(|child| format!("root.{}", child.name)).collect();
        let found = if paths.is_empty() { root.name.to_string() } else { paths.join(" ") };
        assert_eq!(found, expected, "with queues {queues}");
        assert!(root.parent);
    }
}

#[test]
fn an_empty_file_has_no_partition_and_the_built_in_one_has_one() {
    for text in ["", "\n  \n", "---\n", "# nothing\n", "partitions: []", "partitions:\n", "~"] {
        assert!(load(text).is_empty(), "reading {text:?}");
    }
    let loaded = load(BUILT_IN);
    assert!(loaded.warnings.is_empty());
    assert_eq!(loaded.configuration.partitions[0].name, "default");
}

fn warns(text: &str, expected: &Expect) {
    expected.assert_eq(&format!("{}\n", load(text).warnings));
}

#[test]
fn what_hardly_says_what_was_meant_is_accepted_with_a_warning() {
    warns(
        "\u{feff}partitions:
  - name: !team gpu
    queues:
      -
      - &a {name: a, parent: 'yes', maxapplications: 1.5}
      - {<<: *a, name: b, maxapplications: 1e3}
    placementrules:
      - {name: user, create: on}
      - {name: nobody}
    nodesortpolicy:
      resourceweights: {vcore: .nan}
---
what is this?
",
        &expect![[r#"
            line 1, column 1: YAML-LENIENT: the file begins with a byte order mark, which is ignored
            line 2, column 17: YAML-LENIENT: the tag !team has no meaning in a queue file and is ignored
            line 4, column 8: YAML-LENIENT: an empty entry of `queues` is ignored
            line 5, column 30: YAML-LENIENT: the value of `parent` is not true or false, and is read as true
            line 5, column 54: YAML-LENIENT: the value of `maxapplications` is not written as a plain whole number, and is read as 1
            line 6, column 10: YAML-LENIENT: the merge key `<<` copies keys from another mapping
            line 6, column 44: YAML-LENIENT: the value of `maxapplications` is not written as a plain whole number, and is read as 1000
            line 8, column 30: YAML-LENIENT: the value of `create` is not true or false, and is read as true
            line 9, column 16: PR-UNKNOWN: the placement rule `nobody` does not exist; the partition starts without rules and rejects every application
            line 11, column 32: YAML-LENIENT: the weight of vcore is not a number, so 1 is used
            line 13, column 1: YAML-LENIENT: text after the first document is ignored
        "#]],
    );
}

#[test]
fn settings_without_effect_are_told() {
    warns(
        "
partitions:
  - queues:
      - name: root
        resources: {max: null}
        queues:
          - name: a
            childtemplate: {maxapplications: 5}
            properties:
              application.sort.policy: FIFO
              preemption.delay: 30
              my.own: anything
    placementrules:
      - {name: fixed, create: true}
      - {name: recovery}
      - {name: fixed, value: 'a b', create: true}
      - {name: user, filter: {users: [ann, '^b']}}
",
        &expect![[r#"
            line 5, column 21: YAML-LENIENT: `max` of the root queue is empty and ignored
            line 8, column 28: NO-EFFECT: `childtemplate` of queue `a` has no effect, because the queue is a leaf
            line 10, column 40: P-VALUE: `FIFO` is not a valid value of `application.sort.policy`, so the default applies
            line 11, column 33: P-VALUE: `30` is not a valid value of `preemption.delay`, so the default applies
            line 14, column 16: PR-VALUE: a `fixed` rule has no `value`; the partition starts without rules and rejects every application
            line 15, column 16: PR-RECOVERY: the recovery rule cannot be in a queue file; the partition starts without rules and rejects every application
            line 16, column 30: PR-VALUE: `a b` is not a valid queue name; the partition starts without rules and rejects every application
            line 17, column 44: NO-EFFECT: `^b` is not a valid user name and matches no user
        "#]],
    );
}

#[test]
fn a_fault_that_the_reference_finds_late_is_told_apart() {
    let text = "partitions: [{queues: [{name: a, adminacl: ' a b'}]}]";
    let faults = read(text).unwrap_err();
    assert!(!faults.refused_by_validation());
    let text = "partitions: [{queues: [{name: a, adminacl: 'a b c'}]}]";
    assert!(read(text).unwrap_err().refused_by_validation());
}

/// C18: what lends is exclusive by that; the sign for all stands alone; elsewhere than at the root it means nothing.
#[test]
#[doc(alias = "C18")]
fn labels_that_lend_are_exclusive_and_are_said_of_the_root() {
    let labels = |of_root: &str| {
        let text = format!(
            "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: '*'\n    nodelabels: {of_root}\n    queues: [{{name: a}}]\n"
        );
        let root = load(&text).configuration.partitions.remove(0).root;
        let labels = root.node_labels.expect("the root says something");
        let words = |names: &[headroom_core::Name]| {
            names.iter().map(|name| name.as_str().to_owned()).collect::<Vec<_>>().join(" ")
        };
        (words(&labels.exclusive), words(&labels.lends))
    };
    let said = |exclusive: &str, lends: &str| (exclusive.to_owned(), lends.to_owned());
    assert_eq!(labels("{lends: [gpu]}"), said("gpu", "gpu"));
    assert_eq!(labels("{exclusive: [fpga], lends: [gpu, big]}"), said("big fpga gpu", "big gpu"));
    assert_eq!(labels("{exclusive: ['*'], lends: [gpu]}"), said("*", "gpu"));
    warns(
        "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n    - {name: a, nodelabels: {lends: [gpu]}}\n",
        &expect![[r#"
            line 7, column 38: NO-EFFECT: `lends` has an effect only in the root queue
        "#]],
    );
}
