//! When advice is given, and when it is not: only what is certain is reported.

#![allow(clippy::too_many_lines, reason = "tests that hold tables")]

use headroom_config::review;

/// The codes found in a partition with these keys, apart from queues.
fn codes(text: &str) -> String {
    let review = review(text);
    let codes: Vec<&str> = review.diagnostics.iter().map(|one| one.code.as_str()).collect();
    codes.join(" ")
}

/// A root that lets everybody in, with these further keys; and what else the partition has.
fn in_root(root: &str, partition: &str) -> String {
    format!("partitions: [{{{partition} queues: [{{name: root, submitacl: '*', {root}}}]}}]")
}

#[test]
fn limits_that_never_bind() {
    let queue = "resources: {max: {vcore: 10}}, maxapplications: 5";
    for (root, sales, expected) in [
        ("", "limits: [{users: ['*'], maxresources: {vcore: 10}}]", ""),
        (
            "",
            &*format!("{queue}, limits: [{{users: ['*'], maxresources: {{vcore: 10}}}}]"),
            "L-LOOSE",
        ),
        ("", &*format!("{queue}, limits: [{{users: ['*'], maxresources: {{vcore: 9}}}}]"), ""),
        // One type is enough to bind, and so are applications.
        (
            "",
            &*format!(
                "{queue}, limits: [{{users: ['*'], maxresources: {{vcore: 10, memory: 1}}}}]"
            ),
            "",
        ),
        (
            "",
            &*format!(
                "{queue}, limits: [{{users: ['*'], maxresources: {{vcore: 10}}, maxapplications: 4}}]"
            ),
            "",
        ),
        ("", &*format!("{queue}, limits: [{{users: ['*'], maxapplications: 5}}]"), "L-LOOSE"),
        // A maximum of zeros is none.
        (
            "",
            "resources: {max: {vcore: 0}}, limits: [{users: ['*'], maxresources: {memory: 1}}]",
            "Q-ZEROS",
        ),
        // To be named is to be spared the wildcard.
        (
            "",
            &*format!(
                "{queue}, limits: [{{users: [ann], maxresources: {{vcore: 10}}}}, {{users: ['*'], maxresources: {{vcore: 5}}}}]"
            ),
            "",
        ),
        (
            "",
            &*format!("{queue}, limits: [{{users: [ann], maxresources: {{vcore: 10}}}}]"),
            "L-LOOSE",
        ),
        // The group decides in whose name its members are counted.
        (
            "",
            &*format!("{queue}, limits: [{{groups: [dev], maxresources: {{vcore: 10}}}}]"),
            "L-LOOSE",
        ),
        (
            "",
            &*format!("{queue}, limits: [{{groups: [dev, ops], maxresources: {{vcore: 10}}}}]"),
            "",
        ),
        (
            "{groups: [ops], maxresources: {vcore: 5}}",
            &*format!("{queue}, limits: [{{groups: [dev], maxresources: {{vcore: 10}}}}]"),
            "",
        ),
        // Limits above.
        (
            "{users: [ann], maxresources: {vcore: 5}}",
            "limits: [{users: [ann], maxresources: {vcore: 5}}]",
            "L-LOOSE",
        ),
        (
            "{users: [ann], maxresources: {vcore: 5}}",
            "limits: [{users: [ann], maxresources: {vcore: 4}}]",
            "",
        ),
        (
            "{users: [ann], maxresources: {vcore: 5}}",
            "limits: [{users: [bob], maxresources: {vcore: 5}}]",
            "",
        ),
        (
            "{users: ['*'], maxresources: {vcore: 5}}",
            "limits: [{users: [ann], maxresources: {vcore: 5}}]",
            "L-LOOSE",
        ),
        (
            "{users: ['*'], maxresources: {vcore: 5}}",
            "limits: [{users: ['*'], maxresources: {vcore: 5}}]",
            "L-LOOSE",
        ),
        // Bob may use any number of cores at root.
        (
            "{users: [ann], maxresources: {vcore: 5}}, {users: [bob], maxapplications: 9}, {users: ['*'], maxresources: {vcore: 5}}",
            "limits: [{users: ['*'], maxresources: {vcore: 5}}]",
            "",
        ),
        // The wildcard holds back whom root spares.
        (
            "{users: [ann], maxresources: {vcore: 9}}, {users: ['*'], maxresources: {vcore: 5}}",
            "limits: [{users: ['*'], maxresources: {vcore: 5}}]",
            "",
        ),
        (
            "{users: [ann], maxapplications: 9}, {users: ['*'], maxapplications: 9, maxresources: {vcore: 5}}",
            "limits: [{users: ['*'], maxapplications: 9, maxresources: {vcore: 5}}]",
            "",
        ),
        (
            "{users: [ann], maxresources: {vcore: 5}}",
            "limits: [{groups: [ann], maxresources: {vcore: 5}}]",
            "",
        ),
        (
            "{users: ['*'], maxapplications: 5}",
            "limits: [{users: [ann], maxapplications: 5}]",
            "L-LOOSE",
        ),
    ] {
        let text = in_root(&format!("limits: [{root}], queues: [{{name: sales, {sales}}}]"), "");
        assert_eq!(codes(&text), expected, "{root} above {sales}");
    }
}

#[test]
fn groups_that_a_wildcard_hides() {
    let wild = "limits: [{groups: [dev, '*'], maxapplications: 5}]";
    for (root, queues, expected) in [
        ("ops", &*format!("{{name: a, {wild}}}"), "L-HIDDEN"),
        ("dev", &*format!("{{name: a, {wild}}}"), ""),
        // Named further down, it is found before the wildcard.
        (
            "ops",
            &*format!(
                "{{name: a, {wild}, queues: [{{name: b, limits: [{{groups: [ops], maxapplications: 4}}]}}]}}"
            ),
            "",
        ),
        // A neighbour does not help.
        (
            "ops",
            &*format!(
                "{{name: a, {wild}}}, {{name: b, limits: [{{groups: [ops], maxapplications: 4}}]}}"
            ),
            "L-HIDDEN",
        ),
        ("ops", "{name: a, limits: [{users: ['*'], maxapplications: 5}]}", ""),
    ] {
        let above = format!("limits: [{{groups: [{root}], maxapplications: 9}}]");
        let text = in_root(&format!("{above}, queues: [{queues}]"), "");
        assert_eq!(codes(&text), expected, "{root} above {queues}");
    }
}

#[test]
fn wildcards_that_nobody_reaches_and_queues_that_nobody_enters() {
    let wild = "limits: [{users: [ann], maxapplications: 2}, {users: ['*'], maxapplications: 1}]";
    for (root, sales, expected) in [
        ("submitacl: ann", wild, "L-UNREACHED"),
        ("adminacl: ann", wild, "L-UNREACHED"),
        ("submitacl: 'ann,bob'", wild, ""),
        ("submitacl: ann", &*format!("submitacl: bob, {wild}"), ""),
        ("submitacl: 'ann dev'", wild, ""),
        ("submitacl: '*'", wild, ""),
        ("submitacl: ann", &*format!("queues: [{{name: b, submitacl: bob}}], {wild}"), ""),
        ("submitacl: ''", "maxapplications: 1", "A-NOBODY"),
        ("submitacl: ' '", "maxapplications: 1", "A-NOBODY"),
        ("submitacl: '5ann'", "maxapplications: 1", "A-NOBODY A-IGNORED"),
        ("submitacl: ''", "submitacl: ' dev'", ""),
        (
            "submitacl: ''",
            "queues: [{name: b, submitacl: ann}, {name: c}, {name: d}]",
            "A-NOBODY A-NOBODY",
        ),
        ("submitacl: 'system:serviceaccount:ns:bot dev:ops.eu'", "maxapplications: 1", ""),
        ("submitacl: '*,ann'", "maxapplications: 1", "A-IGNORED"),
        ("submitacl: ' *'", "maxapplications: 1", ""),
        ("submitacl: 'ann *'", "maxapplications: 1", "A-IGNORED"),
    ] {
        let text = format!(
            "partitions: [{{queues: [{{name: root, {root}, queues: [{{name: sales, {sales}}}]}}]}}]"
        );
        assert_eq!(codes(&text), expected, "{root} above {sales}");
    }
}

#[test]
fn rules_that_never_place_anything() {
    let filter = "filter: {users: [ann]}";
    for (rules, expected) in [
        ("{name: fixed, value: leaf}, {name: user, create: true}", "PR-NEVER"),
        ("{name: Fixed, value: root.LEAF}, {name: user, create: true}", "PR-NEVER"),
        (&*format!("{{name: fixed, value: leaf, {filter}}}, {{name: user, create: true}}"), ""),
        ("{name: fixed, value: closed}, {name: user, create: true}", "PR-NEVER"),
        ("{name: fixed, value: team.sales}, {name: provided}", "PR-NEVER"),
        ("{name: fixed, value: team}, {name: provided}", "PR-NEVER"),
        ("{name: fixed, value: new, create: true}, {name: provided}", "PR-NEVER"),
        // Somebody may have made it a parent before.
        (
            "{name: provided, create: true}, {name: fixed, value: new, create: true}, {name: provided}",
            "",
        ),
        ("{name: tag, value: namespace, create: true}, {name: user, create: true}", ""),
        // A user called `team` goes on to the next rule.
        ("{name: user, create: true}, {name: provided}", ""),
        (
            "{name: user, create: true, parent: {name: fixed, value: dynamic}}, {name: provided}",
            "PR-NEVER",
        ),
        ("{name: user, parent: {name: fixed, value: dynamic}}, {name: provided}", ""),
        ("{name: provided, filter: {type: deny}}", "PR-NEVER"),
        ("{name: provided, filter: {type: deny, users: [ann]}}", ""),
        ("{name: provided, filter: {type: allow}}", ""),
        ("{name: provided, filter: {users: ['a b', 'c d']}}", "PR-NEVER NO-EFFECT NO-EFFECT"),
        ("{name: provided, filter: {type: deny, users: ['a b', 'c d']}}", "NO-EFFECT NO-EFFECT"),
        ("{name: provided, filter: {users: ['a b', ann]}}", "NO-EFFECT"),
        (
            "{name: user, create: true, parent: {name: tag, value: t, create: true, filter: {type: deny}}}",
            "PR-NEVER",
        ),
        ("{name: fixed, value: leaf}, {name: nonsense}", "PR-UNKNOWN"),
    ] {
        let queues = "queues: [{name: leaf}, {name: closed}, {name: dynamic, parent: true}, {name: team, queues: [{name: sales}]}]";
        let text = in_root(queues, &format!("placementrules: [{rules}],"));
        let mut found: Vec<String> = codes(&text).split_whitespace().map(str::to_owned).collect();
        found.sort_unstable_by(|one, other| other.cmp(one));
        assert_eq!(found.join(" "), expected, "{rules}");
    }
    let text = "partitions: [{placementrules: [{name: fixed, value: leaf}, {name: provided}],
        queues: [{name: root, submitacl: ann, queues: [{name: leaf}]}]}]";
    assert_eq!(codes(text), "", "others than ann go on to the next rule");
}

#[test]
fn properties_where_they_have_no_effect() {
    let on = "preemption: {quotapreemptionenabled: true},";
    for (partition, root, sales, expected) in [
        ("", "", "priority.offset: 5", ""),
        ("", "priority.offset: 5", "", "P-LEVEL"),
        ("", "priority.policy: fence", "", "P-LEVEL"),
        ("", "preemption.policy: disabled", "", ""),
        ("", "preemption.policy: Fence", "", "P-LEVEL"),
        ("", "preemption.delay: 1m", "preemption.policy: fence", ""),
        ("", "application.sort.policy: fair", "", ""),
        ("preemption: {enabled: false},", "", "preemption.delay: 1m", "P-LEVEL"),
        ("", "", "quota.preemption.delay: 1m", "P-LEVEL"),
        (on, "", "quota.preemption.delay: 1m", ""),
        (on, "quota.preemption.delay: 1m", "", ""),
        ("", "", "applicationsort.policy: fair", "P-KEY"),
        ("", "", "APPLICATION.SORT.POLICY: fair", "P-KEY"),
        ("", "", "application.sort: fair", "P-KEY"),
        ("", "", "quota.preemption.delays.all: 1m", "P-KEY"),
        ("", "", "quota.other: 1m", ""),
        ("", "", "yunikorn.apache.org/something: 1", ""),
    ] {
        let queue =
            format!("{{name: sales, resources: {{max: {{vcore: 9}}}}, properties: {{{sales}}}}}");
        let text = in_root(&format!("properties: {{{root}}}, queues: [{queue}]"), partition);
        assert_eq!(codes(&text), expected, "{partition} {root} above {sales}");
    }
    for (queue, expected) in [
        ("properties: {preemption.delay: 1m}", "P-LEVEL"),
        ("properties: {application.sort.policy: fair}", ""),
        ("properties: {application.sort.priority: disabled}", ""),
        ("childtemplate: {properties: {preemption.delay: 1m}}", ""),
        (
            "childtemplate: {properties: {preemption.delays: 1m, priority.offset: x}}",
            "P-KEY P-VALUE",
        ),
        ("properties: {preemption.delay: 1m}, queues: [{name: leaf}]", ""),
    ] {
        let text = in_root(&format!("queues: [{{name: team, parent: true, {queue}}}]"), "");
        assert_eq!(codes(&text), expected, "{queue}");
    }
    let text = in_root("queues: [{name: sales, properties: {quota.preemption.delay: 1m}}]", on);
    assert_eq!(codes(&text), "P-LEVEL", "there is no maximum to go below");
}
