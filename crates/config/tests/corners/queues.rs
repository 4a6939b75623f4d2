//! Partitions, queues, amounts and placement rules.

use headroom_config::read;
use headroom_core::resource::Amounts;

use super::{below_root, verdicts};

/// A file with one partition of this flow content.
fn partition(content: &str) -> String {
    format!("partitions: [{{{content}}}]")
}

#[test]
fn names_of_queues_have_up_to_64_of_the_legal_characters() {
    let legal = "abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    let others = "a_:#/@-";
    assert_eq!(legal.len(), 64);
    let longer = format!("{legal}x");
    verdicts(
        |name| below_root(&format!("- name: '{name}'")),
        &[
            (legal, ""),
            (others, ""),
            ("5", ""),
            (&longer, "Q-NAME"),
            ("", "Q-NAME"),
            ("a$", "Q-NAME"),
            ("a!", "Q-NAME"),
            ("a b", "Q-NAME"),
            ("a.b", "Q-NAME"),
        ],
    );
}

#[test]
fn names_of_children_differ_by_more_than_case_and_may_come_again_elsewhere() {
    verdicts(
        below_root,
        &[
            ("- name: dev\n- name: DEV", "Q-DUP"),
            ("- name: a\n  queues: [{name: x}, {name: X}]", "Q-DUP"),
            ("- name: a\n  queues: [{name: a, queues: [{name: a}]}]", ""),
            ("- name: a\n  queues: [{name: x}]\n- name: b\n  queues: [{name: X}]", ""),
        ],
    );
}

#[test]
fn two_partitions_are_not_both_called_default() {
    verdicts(
        |names| {
            let of = |name| format!("{{name: {name}, queues: []}}");
            format!("partitions: [{}]", names.split(' ').map(of).collect::<Vec<_>>().join(", "))
        },
        &[
            ("default default", "P-DUP"),
            ("default Default", "P-DUP"),
            ("'' DEFAULT", "P-DUP"),
            ("'' ''", "P-DUP"),
            ("gpu GPU", "P-DUP"),
            ("default gpu", ""),
        ],
    );
}

#[test]
fn root_has_no_amounts_not_even_an_empty_mapping() {
    verdicts(
        |resources| partition(&format!("queues: [{{name: root, resources: {{{resources}}}}}]")),
        &[
            ("max: {memory: 1}", "Q-ROOTRES"),
            ("guaranteed: {memory: 1}", "Q-ROOTRES"),
            ("max: {}", "Q-ROOTRES"),
            ("guaranteed: {vcore: 0}", "Q-ROOTRES"),
            ("max: {memory: 1}, guaranteed: {memory: 1}", "Q-ROOTRES Q-ROOTRES"),
            ("", ""),
        ],
    );
}

#[test]
fn queues_that_are_not_one_root_get_a_root_which_is_a_parent() {
    for queues in ["{name: a}", "{name: a}, {name: b}", "{name: root}, {name: b}", "{name: Root}"] {
        let loaded = read(&partition(&format!("queues: [{queues}]"))).unwrap();
        let root = &loaded.configuration.partitions[0].root;
        assert_eq!((&*root.name, root.parent), ("root", true), "{queues}");
    }
}

#[test]
fn amounts_are_compared_with_those_of_a_grandparent_too() {
    verdicts(
        |amounts| {
            let (above, below) = amounts.split_once(" / ").unwrap();
            below_root(&format!(
                "- name: g\n  resources: {{{above}}}\n  queues:\n  - name: p\n    queues:\n    \
                 - {{name: c, resources: {{{below}}}}}"
            ))
        },
        &[
            ("max: {memory: 10} / max: {memory: 11}", "Q-M>PARENT"),
            ("max: {memory: 10} / max: {memory: 10}", ""),
            ("max: {memory: 10} / max: {vcore: 11}", ""),
            ("guaranteed: {memory: 10} / guaranteed: {memory: 11}", "Q-SUMG>G"),
            ("guaranteed: {memory: 10} / guaranteed: {memory: 10}", ""),
        ],
    );
}

#[test]
fn a_guarantee_of_memory_alone_leaves_vcore_to_the_children_up_to_the_maximum() {
    verdicts(
        |vcore| {
            below_root(&format!(
                "- name: p\n  resources: {{guaranteed: {{memory: 10}}, max: {{vcore: 4}}}}\n  \
                 queues: [{{name: c, resources: {{guaranteed: {{memory: 10, vcore: {vcore}}}}}}}]"
            ))
        },
        &[("4", ""), ("4001m", "Q-SUMG>M")],
    );
}

#[test]
fn preemption_flags_that_are_absent_are_on_for_queues_and_off_for_quotas() {
    for (written, expected) in [
        ("queues: []", (true, false)),
        ("queues: [], preemption: {}", (true, false)),
        ("queues: [], preemption: {enabled: false}", (false, false)),
        ("queues: [], preemption: {quotapreemptionenabled: true}", (true, true)),
        ("queues: [], preemption: {enabled: true, quotapreemptionenabled: false}", (true, false)),
    ] {
        let loaded = read(&partition(written)).unwrap();
        let preemption = &loaded.configuration.partitions[0].preemption;
        assert_eq!((preemption.enabled, preemption.quota_enabled), expected, "{written}");
    }
}

#[test]
fn node_weights_are_not_negative_and_policies_are_known() {
    verdicts(
        |policy| partition(&format!("queues: [], nodesortpolicy: {{{policy}}}")),
        &[
            ("", ""),
            ("type: ''", ""),
            ("type: fair", ""),
            ("type: binpacking, resourceweights: {vcore: 0, memory: 2.5}", ""),
            ("type: Fair", "N-POLICY"),
            ("type: random", "N-POLICY"),
            ("type: fair, resourceweights: {vcore: -1}", "N-WEIGHT"),
        ],
    );
}

#[test]
fn only_the_checksum_line_may_differ_between_files_of_one_checksum() {
    let file = |first: &str, digits: &str| {
        let text = format!("partitions: [{{queues: [{{name: {first}}}]}}]\nchecksum: {digits}\n");
        read(&text).unwrap().configuration.checksum
    };
    let (ones, twos) = ("1".repeat(64), "2".repeat(64));
    assert_eq!(file("a", &ones), file("a", &twos));
    assert_ne!(file("a", &ones), file("b", &ones));
}

#[test]
fn placement_rules_lead_to_queues_that_can_take_applications() {
    verdicts(
        |rule| {
            partition(&format!(
                "queues: [{{name: leaf}}, {{name: teams, parent: true}}, \
                 {{name: kids, queues: [{{name: one}}]}}], placementrules: [{{{rule}}}]"
            ))
        },
        &[
            ("name: fixed, value: root.leaf", ""),
            ("name: fixed, value: teams", "PR-NOTLEAF"),
            ("name: fixed, value: none", "PR-NOQUEUE"),
            ("name: fixed, value: none, create: true", ""),
            ("name: fixed, value: teams.new", "PR-NOQUEUE"),
            ("name: fixed, value: teams.new, create: true", ""),
            ("name: fixed, value: leaf.below, create: true", "PR-UNDERLEAF"),
            (
                "name: fixed, value: root.a, create: true, parent: {name: fixed, value: root.b}",
                "PR-QUALIFIED",
            ),
            ("name: user, parent: {name: fixed, value: teams}", ""),
            ("name: user, create: true, parent: {name: fixed, value: teams}", ""),
            ("name: user, parent: {name: fixed, value: leaf}", "PR-NOTPARENT"),
            // Ours: children make a parent, and names are compared in lower case.
            ("name: user, parent: {name: fixed, value: kids}", ""),
            ("name: fixed, value: KIDS.One", ""),
        ],
    );
}

#[test]
fn quantities_of_the_file_are_read_with_blanks_and_up_to_the_largest() {
    let read_as = |resource: &str, text: &str| {
        let queues = format!("- name: a\n  resources: {{max: {{{resource}: '{text}'}}}}");
        let loaded = read(&below_root(&queues))
            .map_err(|faults| faults.iter().next().expect("a refusal has a fault").code.as_str())?;
        let max: &Amounts = &loaded.configuration.partitions[0].root.children[0].max;
        Ok(max.get(resource).expect("it was written").get())
    };
    for (text, plain, vcore) in [
        (" 25k ", Ok(25_000), Ok(25_000_000)),
        (" 25  k ", Ok(25_000), Ok(25_000_000)),
        ("5X", Err("R-SYNTAX"), Err("R-SYNTAX")),
        ("-1", Err("R-SYNTAX"), Err("R-SYNTAX")),
        ("500m", Err("R-SUFFIX"), Ok(500)),
        ("1000E", Err("R-OVERFLOW"), Err("R-OVERFLOW")),
        ("9223372036854775", Ok(9_223_372_036_854_775), Ok(9_223_372_036_854_775_000)),
        ("9223372036854776", Ok(9_223_372_036_854_776), Err("R-OVERFLOW")),
        ("7E", Ok(7_000_000_000_000_000_000), Err("R-OVERFLOW")),
        ("7Ei", Ok(7 << 60), Err("R-OVERFLOW")),
    ] {
        assert_eq!(read_as("memory", text), plain, "{text:?} of memory");
        assert_eq!(read_as("vcore", text), vcore, "{text:?} of vcore");
    }
}
