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

/// The codes of the recommendations for a partition with these keys, whose root has these queues.
fn recommended(partition: &str, queues: &str) -> String {
    let review = review(&in_root(&format!("queues: [{queues}]"), partition));
    assert!(review.diagnostics.is_empty(), "{partition} {queues}: {}", review.diagnostics);
    let codes = review.diagnostics.recommendations().map(|one| one.code.as_str());
    codes.collect::<Vec<_>>().join(" ")
}

#[test]
fn holds_are_recommended_where_a_large_ask_can_starve() {
    const WHOLE: &str = "gangs: {placement: whole}, reservations: {share: 10%},";
    let one = "{name: a}";
    let two = "{name: a}, {name: b}";
    for (partition, queues, expected) in [
        ("", two, "S-OFF"),
        ("", "{name: a, queues: [{name: b}, {name: c}]}", "S-OFF"),
        ("", "{name: a, resources: {max: {vcore: 1}}}", "S-OFF"),
        ("", "{name: a, parent: true, resources: {max: {vcore: 1}}}", "S-OFF"),
        ("", "{name: a, capacity: {mode: percent, value: 100, maximum: 100}}", ""),
        // Nothing is certain of the queues that rules make.
        ("", one, ""),
        ("", "{name: a, parent: true}", ""),
        ("", "", ""),
        ("starvation: {},", two, "S-OFF"),
        ("starvation: {after: 0},", two, "S-OFF"),
        ("starvation: {after: 0s},", two, "S-OFF"),
        ("starvation: {after: 1s},", two, ""),
        ("tenants: {enabled: true},", two, ""),
        ("tenants: {enabled: false},", two, "S-OFF"),
        ("tenants: {enabled: true}, starvation: {after: 0s},", two, "S-OFF"),
    ] {
        let partition = format!("{WHOLE} {partition}");
        assert_eq!(recommended(&partition, queues), expected, "{partition} {queues}");
    }
    let halves = "{name: a, capacity: {mode: weight, value: 1, maximum: 50}}";
    assert_eq!(recommended(WHOLE, halves), "S-OFF", "a part of the parent is a maximum");
}

#[test]
#[doc(alias = "NS-12")]
fn limits_of_reservations_are_recommended_where_others_can_wait() {
    const OTHERS: &str = "starvation: {after: 5m}, gangs: {placement: whole},";
    for (partition, queues, expected) in [
        ("", "{name: a}, {name: b}", "R-OFF"),
        ("", "{name: a}", ""),
        ("reservations: {share: 0.5},", "{name: a}, {name: b}", ""),
        ("reservations: {},", "{name: a}, {name: b}", "R-OFF"),
        ("tenants: {enabled: true},", "{name: a}, {name: b}", ""),
        ("tenants: {enabled: true}, reservations: {share: none},", "{name: a}, {name: b}", "R-OFF"),
    ] {
        let partition = format!("{OTHERS} {partition}");
        assert_eq!(recommended(&partition, queues), expected, "{partition} {queues}");
    }
}

#[test]
fn whole_gangs_are_recommended_where_a_leaf_admits_gangs() {
    const HOLDS: &str = "starvation: {after: 5m}, reservations: {share: 10%},";
    let ordered =
        |order: &str| format!("{{name: a, properties: {{application.sort.policy: {order}}}}}");
    let fair = &*ordered("fair");
    let (below_fair, below_fair_by_word, backs_off) = (
        "{name: a, properties: {application.sort.policy: fair}, queues: [{name: b}]}",
        "{name: a, properties: {application.sort.policy: fair}, queues: [{name: b, orderingpolicy: fifo}]}",
        "{name: a, properties: {application.unschedasks.backoff: '3'}}",
    );
    for (partition, queues, expected) in [
        ("", "{name: a}", "G-MEMBERS"),
        ("", &*ordered("fifo"), "G-MEMBERS"),
        ("", &*ordered("fifo-strict"), "G-MEMBERS"),
        ("", &*ordered("urgency"), "G-MEMBERS"),
        ("", fair, ""),
        ("", "{name: a, orderingpolicy: fair}", ""),
        ("", below_fair, ""),
        ("", below_fair_by_word, "G-MEMBERS"),
        ("", backs_off, ""),
        ("", &*format!("{backs_off}, {{name: b}}"), "G-MEMBERS"),
        ("", "{name: a, parent: true}", ""),
        ("gangs: {},", "{name: a}", "G-MEMBERS"),
        ("gangs: {placement: members},", "{name: a}", "G-MEMBERS"),
        ("gangs: {placement: whole},", "{name: a}", ""),
        ("tenants: {enabled: true},", "{name: a}", ""),
        ("tenants: {enabled: true}, gangs: {placement: members},", "{name: a}", "G-MEMBERS"),
    ] {
        let partition = format!("{HOLDS} {partition}");
        assert_eq!(recommended(&partition, queues), expected, "{partition} {queues}");
    }
}

#[test]
fn strict_guarantees_are_recommended_where_work_can_stop_in_vain() {
    let all = |preemption: &str| {
        format!(
            "starvation: {{after: 5m}}, reservations: {{share: 10%}}, gangs: {{placement: whole}}, \
             preemption: {{{preemption}}},"
        )
    };
    let loose = "strictguarantee: false";
    let (one_guaranteed, none) =
        ("{name: a, resources: {guaranteed: {vcore: 1}}}, {name: b}", "{name: a}, {name: b}");
    let fair = "properties: {application.sort.policy: fair}, resources: {guaranteed: {vcore: 2}}";
    let shared = format!("{{name: a, {fair}, queues: [{{name: b}}, {{name: c}}]}}");
    let own = format!("{{name: a, {fair}}}, {{name: b, {fair}}}");
    for (preemption, queues, expected) in [
        ("", one_guaranteed, ""),
        ("strictguarantee: true", one_guaranteed, ""),
        (loose, one_guaranteed, "P-NOTSTRICT"),
        (loose, none, ""),
        (loose, "{name: a, resources: {guaranteed: {vcore: 1}}}", ""),
        (loose, &*shared, "P-NOTSTRICT"),
        (loose, &*own, ""),
        ("strictguarantee: false, enabled: false", one_guaranteed, ""),
        ("strictguarantee: false, observeonly: true", one_guaranteed, ""),
    ] {
        let partition = all(preemption);
        assert_eq!(recommended(&partition, queues), expected, "{partition} {queues}");
    }
    let message = |queues: &str| {
        let text = in_root(&format!("queues: [{queues}]"), &all(loose));
        let review = review(&text);
        let found = review.diagnostics.recommendations().next();
        found.map(|one| one.message.clone()).unwrap_or_default()
    };
    assert!(message(one_guaranteed).starts_with("preemption can stop allocations for a gang"));
    assert!(message(&shared).starts_with("queues can repeatedly preempt each other's work"));
    let both =
        message("{name: a, resources: {guaranteed: {vcore: 1}}, queues: [{name: b}, {name: c}]}");
    assert!(both.contains("for a gang") && both.contains("each other's work"), "{both}");
}

#[test]
fn a_file_with_errors_gets_no_recommendation() {
    let good = in_root("queues: [{name: a}, {name: b}]", "");
    assert_eq!(review(&good).diagnostics.counts().recommendations, 3);
    let bad = good.replace("name: b", "name: '!'");
    let found = review(&bad).diagnostics;
    assert_eq!((found.counts().errors, found.counts().recommendations), (1, 0), "{found}");
}

#[test]
fn a_recommendation_is_at_the_key_or_at_the_name_of_the_partition() {
    let queues = "queues: [{name: root, submitacl: '*', queues: [{name: a}, {name: b}]}]";
    for (partition, expected) in [
        ("name: default", ["default", "default", "default"]),
        ("name: gpu, starvation: {after: 0s}", ["0s", "gpu", "gpu"]),
        ("gangs: {placement: members}, name: gpu", ["gpu", "gpu", "members"]),
        // Without a name, the place is where the partition begins.
        ("limits: []", ["", "", ""]),
    ] {
        let text = format!("partitions:\n- {{{partition}, {queues}}}\n");
        let review = review(&text);
        let mut found: Vec<&str> = review
            .diagnostics
            .recommendations()
            .map(|one| &text[one.primary.span.start..one.primary.span.end])
            .collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{partition}");
        assert!(review.diagnostics.recommendations().all(|one| one.line == 2), "{partition}");
    }
}
