//! What would start an ask where its tenant is suspended, or a queue has a part of the nodes of a label.

use expect_test::expect;

use crate::remedies::check;

#[test]
fn a_tenant_that_is_suspended_is_resumed_and_its_quota_raised_where_that_is_not_enough() {
    let script = |then: &str| {
        format!(
            "
            tenants root.tenants
            node n1 vcore=8
            tenant lab quota vcore=3
            task t1 lab ann vcore=2
            task t2 lab ann vcore=2
            {then}
            "
        )
    };
    check(
        &script("tenant lab quota vcore=4 suspended"),
        "t2",
        expect![[r#"
            resume: lab
        "#]],
    );
    check(
        &script("tenant lab quota vcore=3 suspended"),
        "t2",
        expect![[r#"
            raise: lab, root.tenants.lab max vcore 3000 -> 4000
            shrink: lab, vcore 2000 -> 1000
            release: lab, t1
        "#]],
    );
}

#[test]
fn what_never_was_looked_at_is_told_of_the_quota_too() {
    check(
        "
        tenants root.tenants
        node n1 vcore=8
        tenant lab quota vcore=3
        tenant x of lab quota vcore=3
        tenant y of lab quota vcore=3
        task t1 y ann vcore=2
        tenant lab quota vcore=3 suspended
        task t2 x ann vcore=2
        ",
        "t2",
        expect![[r#"
            raise: lab, root.tenants.lab max vcore 3000 -> 4000
            shrink: lab, vcore 2000 -> 1000
            release: lab, t1
        "#]],
    );
}

#[test]
fn the_part_of_the_nodes_of_a_label_is_raised() {
    check(
        "
        queue root exclusive gpu
        queue root.a percent=100 percent@gpu=50/50
        queue root.b percent=0 percent@gpu=50
        node n1 vcore=8
        node g1 vcore=8 labelled gpu
        app app1 root.a ann
        ask a1 app1 vcore=5 labelled gpu
        ",
        "a1",
        expect![[r#"
            raise: root.a nodelabels.gpu.maximum 50 -> 62.5
            shrink: vcore@gpu 5000 -> 4000
            move: to root.b
        "#]],
    );
}
