//! Scenes that the product was asked for.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "SD-25")]
fn a_namespace_is_a_queue() {
    check(
        r#"
        queue root.development max memory=100
        rule tag namespace create
        app app1 - ann tags namespace=development namespace.resourcequota={"resources":{"memory":{"value":600}}}
        show app1
        show root.development
        app app2 - ann tags namespace=finance
        app app3 - ann
        "#,
        expect![[r#"
              app1: New in root.development, no group, uses {}, user headroom none
              root.development: in force {memory: 100 B}, uses {}, headroom {memory: 100 B}, share 0, runs 0
            app app2: root.finance made
            app app3: rejected PL-REJECTED: no placement rule matched: rule 1 (tag): the application has no tag namespace; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
        "#]],
    );
}

#[test]
#[doc(alias = "SD-25")]
fn namespaces_find_their_parent_and_their_quota_lands_on_the_child() {
    check(
        r#"
        queue root.development parent
        queue root.production parent max memory=1000
        rule tag namespace create below tag namespace.parentqueue
        app app1 - ann tags namespace=finance namespace.parentqueue=root.production namespace.resourcequota={"resources":{"memory":{"value":600}}}
        app app2 - ann tags namespace=sales namespace.parentqueue=production
        app app3 - ann tags namespace=dev namespace.parentqueue=root.development
        app app4 - ann tags namespace=test namespace.parentqueue=development
        app app5 - ann tags namespace=test namespace.parentqueue=root.nowhere
        app app6 - ann tags namespace=test namespace.parentqueue=nowhere
        show root.production
        show root.production.finance
        show root.production.sales
        "#,
        expect![[r#"
            app app1: root.production.finance made max {memory: 600 B}
            app app2: root.production.sales made
            app app3: root.development.dev made
            app app4: root.development.test made
            app app5: rejected PL-REJECTED: no placement rule matched: rule 1 (tag): queue root.nowhere does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app6: rejected PL-REJECTED: no placement rule matched: rule 1 (tag): queue root.nowhere does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
              root.production: in force {memory: 1000 B}, uses {}, headroom {memory: 1000 B}, share 0, runs 0
              root.production.finance: in force {memory: 600 B}, uses {}, headroom {memory: 600 B}, share 0, runs 0
              root.production.sales: in force {memory: 1000 B}, uses {}, headroom {memory: 1000 B}, share 0, runs 0
        "#]],
    );
}

#[test]
#[doc(alias = "SD-27")]
fn amounts_of_a_namespace_annotation_are_those_of_its_queue() {
    check(
        r#"
        rule tag namespace create
        app app1 - ann tags namespace=new namespace.resourcequota={"resources":{"vcore":{"value":64000},"memory":{"value":100000000000},"nvidia.com/gpu":{"value":1}}}
        app app2 - ann tags namespace=old namespace.resourcequota={"resources":{"vcore":{"value":64000},"memory":{"value":107374182400}}}
        show root.new
        show root.old
        "#,
        expect![[r#"
            app app1: root.new made max {memory: 100000000000 B, nvidia.com/gpu: 1, vcore: 64000 m}
            app app2: root.old made max {memory: 107374182400 B, vcore: 64000 m}
              root.new: in force {memory: 100000000000 B, nvidia.com/gpu: 1, vcore: 64000 m}, uses {}, headroom {memory: 100000000000 B, nvidia.com/gpu: 1, vcore: 64000 m}, share 0, runs 0
              root.old: in force {memory: 107374182400 B, vcore: 64000 m}, uses {}, headroom {memory: 107374182400 B, vcore: 64000 m}, share 0, runs 0
        "#]],
    );
}

/// What differs in the two orders is which application gets the room that is left: under
/// `fifo` the older one, under `fair` the one that has less.
#[test]
#[doc(alias = "SD-29")]
fn children_made_by_rules_are_sorted_as_their_parent_says() {
    let story = |policy: &str| {
        headroom_core::testkit::tell(&format!(
            "
            queue root {policy}
            rule user create
            node n1 vcore=3
            app app1 - ann
            app app2 - ann
            ask a1 app1 vcore=1
            ask b0 app2 vcore=2
            ask a2 app1 vcore=1 made 1s
            ask b1 app2 vcore=1 made 2s
            release b0
            "
        ))
    };
    expect![[r#"
        app app1: root.ann made application.sort.policy=fifo
        ask a1: app1 Accepted, a1 on n1, app1 Running
        ask b0: app2 Accepted, b0 on n1, app2 Running
        ask a2
          a2 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        ask b1
          b1 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        release b0: b0 released, a2 on n1, b1 on n1
    "#]].assert_eq(&story("fifo"));
    expect![[r#"
        app app1: root.ann made application.sort.policy=fair
        ask a1: app1 Accepted, a1 on n1, app1 Running
        ask b0: app2 Accepted, b0 on n1, app2 Running
        ask a2
          a2 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        ask b1
          b1 waits ROOT_CAPACITY: the cluster has 0 of 3 vcore available, but the ask needs 1. Wait for a release, or add nodes.
        release b0: b0 released, b1 on n1, a2 on n1
    "#]].assert_eq(&story("fair"));
}

#[test]
#[doc(alias = "SD-29")]
fn a_template_that_says_otherwise_wins_and_only_the_sort_policy_is_taken() {
    check(
        "
        queue root fair ignore-priority
        queue root.p parent
        queue root.p.deep.er parent
        queue root.t parent template fifo
        rule provided create
        app app1 root.p.n ann
        app app2 root.p.deep.er.x.n ann
        app app3 root.t.n ann
        ",
        expect![[r#"
            app app1: root.p.n made application.sort.policy=fair
            app app2: root.p.deep.er.x made, root.p.deep.er.x.n made application.sort.policy=fair
            app app3: root.t.n made application.sort.policy=fifo
        "#]],
    );
}
