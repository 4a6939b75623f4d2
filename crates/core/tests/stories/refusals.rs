//! What is refused, and in which words.

use expect_test::expect;

use crate::check;

#[test]
fn a_key_that_is_held_is_refused_and_names_the_holder() {
    check(
        "
        queue root.a
        node n1 vcore=4
        app app1 root.a ann
        app app2 root.a bob
        ask a1 app1 vcore=1
        ask a1 app2 vcore=1
        ask a1 app1 vcore=2
        ",
        expect![[r#"
            ask a1: app1 Accepted, a1 on n1, app1 Running
            ask a1: refused DUPLICATE_KEY: allocation key a1 belongs to application app1, so application app2 cannot use this key. Choose another key.
            ask a1: a1 resized
        "#]],
    );
}

#[test]
fn an_application_id_that_is_in_use_is_refused() {
    check(
        "
        queue root.a
        app app1 root.a ann
        app app1 root.a bob
        show app1
        ",
        expect![[r#"
            app app1: rejected DUPLICATE_APPLICATION: application app1 already exists in partition default in state New. Choose another ID, or wait until the application ends.
              app1: New in root.a, no group, uses {}, user headroom none
        "#]],
    );
}

#[test]
fn an_application_goes_to_a_leaf_that_exists() {
    check(
        "
        queue root.p.a
        app app1 root.p ann
        app app2 root.q ann
        app app3 root ann
        app app4 p.a ann
        show app4
        ",
        expect![[r#"
            app app1: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.p is a parent, but applications run only in leaves; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app2: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.q does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app3: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.root does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app4: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.p_dot_a does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
              app4: not there
        "#]],
    );
}

#[test]
fn empty_names_are_refused() {
    check(
        "
        queue root.a
        node '' vcore=1
        app '' root.a ann
        app app1 root.a ''
        app app1 root.a ann
        ask '' app1 vcore=1
        ",
        expect![[r#"
            node '': refused EMPTY_NAME: the node ID is empty. Send at least one character.
            app '': refused EMPTY_NAME: the application ID is empty. Send at least one character.
            app app1: refused EMPTY_NAME: the user name is empty. Send at least one character.
            ask '': refused EMPTY_NAME: the allocation key is empty. Send at least one character.
        "#]],
    );
}

#[test]
fn an_ask_must_want_something_and_nothing_negative() {
    check(
        "
        queue root.a
        app app1 root.a ann
        ask a1 app1
        ask a2 app1 vcore=0
        ask a3 app1 vcore=1 memory=-1
        show app1
        ",
        expect![[r#"
            ask a1: refused ASK_SIZE: ask a1 of application app1 requests {}, but at least one amount must be positive and none negative. Correct the amounts.
            ask a2: refused ASK_SIZE: ask a2 of application app1 requests {vcore: 0 m}, but at least one amount must be positive and none negative. Correct the amounts.
            ask a3: refused ASK_SIZE: ask a3 of application app1 requests {memory: -1 B, vcore: 1000 m}, but at least one amount must be positive and none negative. Correct the amounts.
              app1: New in root.a, no group, uses {}, user headroom none
        "#]],
    );
}

#[test]
fn a_node_must_not_offer_less_than_nothing() {
    check(
        "
        queue root.a
        node n1 vcore=-1
        node n1 vcore=1 memory=-1
        node n1 vcore=1
        node n1 vcore=2
        resize n1 vcore=0
        resize n1 vcore=-1
        show root
        ",
        expect![[r#"
            node n1: refused NODE_SIZE: node n1 has a capacity of {vcore: -1 m}, but no amount can be negative. Send amounts of 0 or more.
            node n1: refused NODE_SIZE: node n1 has a capacity of {memory: -1 B, vcore: 1000 m}, but no amount can be negative. Send amounts of 0 or more.
            node n1: refused DUPLICATE_NODE: node n1 is already registered in partition default. Remove the registered node first.
            resize n1: nothing
            resize n1: refused NODE_SIZE: node n1 has a capacity of {vcore: -1 m}, but no amount can be negative. Send amounts of 0 or more.
              root: in force none, uses {}, headroom none, share 0, runs 0
        "#]],
    );
}

#[test]
fn what_is_not_there_cannot_be_changed_or_released() {
    check(
        "
        queue root.a
        app app1 root.a ann
        app app2 root.a bob
        ask b1 app2 vcore=1
        ask a1 app9 vcore=1
        release a9 app1
        release b1 app1
        release a9 app9
        release-all app9
        remove app9
        drain n9
        resize n9 vcore=1
        lose n9
        ",
        expect![[r#"
            ask b1: app2 Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a1: refused UNKNOWN_APPLICATION: application app9 does not exist in partition default, or has ended. Check the application ID, or submit the application.
            release a9: refused UNKNOWN_KEY: application app1 has no ask or allocation with key a9. Check the allocation key.
            release b1: refused UNKNOWN_KEY: application app1 has no ask or allocation with key b1. Check the allocation key.
            release a9: refused UNKNOWN_APPLICATION: application app9 does not exist in partition default, or has ended. Check the application ID, or submit the application.
            release-all app9: refused UNKNOWN_APPLICATION: application app9 does not exist in partition default, or has ended. Check the application ID, or submit the application.
            remove app9: refused UNKNOWN_APPLICATION: application app9 does not exist in partition default, or has ended. Check the application ID, or submit the application.
            drain n9: refused UNKNOWN_NODE: node n9 is not registered in partition default. Check the node ID, or register the node.
            resize n9: refused UNKNOWN_NODE: node n9 is not registered in partition default. Check the node ID, or register the node.
            lose n9: refused UNKNOWN_NODE: node n9 is not registered in partition default. Check the node ID, or register the node.
        "#]],
    );
}

#[test]
fn asks_that_would_overflow_the_sum_are_refused() {
    check(
        "
        queue root.a
        app app1 root.a ann
        ask a1 app1 memory=9223372036854775807
        ask a2 app1 memory=1
        ask a3 app1 vcore=1
        release a1
        ask a2 app1 memory=1
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask a2: refused SUM_TOO_LARGE: the asks of the application: the total of memory would exceed 9223372036854775807. The current total is 9223372036854775807, and the request adds 1. Request less memory.
            ask a3
              a3 waits NO_NODES: no node has registered in partition default. Register a node.
            release a1: a1 withdrawn
            ask a2
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
        "#]],
    );
}

/// A sum that many share must not let one of them keep the others out, or tell how much they ask for.
#[test]
fn asks_of_one_application_never_make_those_of_others_too_large() {
    check(
        "
        queue root.a
        queue root.b
        app app1 root.a ann
        app app2 root.b bob
        ask a1 app1 memory=9223372036854775807
        ask b1 app2 memory=9223372036854775807
        ask b2 app2 vcore=1
        show root
        release a1
        show root
        release b1
        show root
        node n1 memory=4G vcore=1
        ",
        expect![[r#"
            ask a1: app1 Accepted
              a1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b1: app2 Accepted
              b1 waits NO_NODES: no node has registered in partition default. Register a node.
            ask b2
              b2 waits NO_NODES: no node has registered in partition default. Register a node.
              root: in force none, uses {}, headroom none, share 0, runs 0
            release a1: a1 withdrawn, app1 Completing
              root: in force none, uses {}, headroom none, share 0, runs 0
            release b1: b1 withdrawn
              root: in force none, uses {}, headroom none, share 0, runs 0
            node n1: b2 on n1, app2 Running
        "#]],
    );
}

#[test]
fn nodes_that_would_overflow_the_sum_are_refused() {
    check(
        "
        queue root.a
        node n1 memory=9223372036854775800
        node n2 memory=8
        node n2 memory=7
        resize n2 memory=8
        resize n1 memory=9223372036854775799
        resize n2 memory=8
        show root
        ",
        expect![[r#"
            node n2: refused SUM_TOO_LARGE: the nodes of the partition: the total of memory would exceed 9223372036854775807. The current total is 9223372036854775800, and the request adds 8. Request less memory.
            resize n2: refused SUM_TOO_LARGE: the nodes of the partition: the total of memory would exceed 9223372036854775807. The current total is 9223372036854775800, and the request adds 8. Request less memory.
            resize n1: nothing
            resize n2: nothing
              root: in force {memory: 9223372036854775807 B}, uses {}, headroom {memory: 9223372036854775807 B}, share 0, runs 0
        "#]],
    );
}

#[test]
fn a_partition_that_is_not_there_is_named_beside_those_that_are() {
    check(
        "
        partition one
        partition two
        app app1 root.a ann
        partition three
        node n1 vcore=1
        ",
        expect![[r#"
            app app1: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.a does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            node n1: refused UNKNOWN_PARTITION: partition three does not exist. Use one of: one, two.
        "#]],
    );
}

#[test]
fn more_resource_types_than_the_books_can_hold_are_refused() {
    let many: Vec<String> = (0..1_023).map(|number| format!("type{number}=1")).collect();
    let many = many.join(" ");
    let script = format!(
        "
        queue root.a
        app app1 root.a ann
        ask a1 app1 {many}
        node n1 {many}
        ask a2 app1 type0=1
        "
    );
    check(
        &script,
        expect![[r#"
            ask a1: refused TOO_MANY_TYPES: the ask names 1023 new resource types, but one request can add at most 16. Use types that nodes or the queue file already have.
            node n1: refused TOO_MANY_TYPES: the node names 1023 new resource types, but 2 of at most 768 are already in use. Use types that nodes or the queue file already have.
            ask a2: app1 Accepted
              a2 waits NO_NODES: no node has registered in partition default. Register a node.
        "#]],
    );
}

#[test]
fn whoever_asks_leaves_resource_types_to_nodes_and_nodes_to_the_queue_file() {
    let types = |of: &str, count: usize| -> String {
        let names: Vec<String> = (0..count).map(|number| format!(" {of}{number}=1")).collect();
        names.concat()
    };
    let ask = |ask| format!("ask a{ask} app1{}\n", types(&format!("of{ask}-"), 16));
    let asks = (0..40).map(ask).collect::<Vec<String>>().concat();
    let tag: Vec<String> =
        (0..15).map(|number| format!(r#""tag{number}":{{"value":1}}"#)).collect();
    let tags = format!(r#"namespace.resourcequota={{"resources":{{{}}}}}"#, tag.join(","));
    let script = format!(
        "
        queue root.a
        rule provided create
        app app1 root.a ann
        {asks}
        app app2 root.n ann tags {tags}
        node n1{}
        node n2{}
        ask b1 app1 n0=1
        reload
        queue root.a max{}
        queue root.b template max{}
        queue root.b parent
        rule provided create
        app app3 root.b.c ann
        ask b2 app1 tpl0=1
        ",
        types("n", 200),
        types("more", 100),
        types("max", 200),
        types("tpl", 100),
    );
    let told = headroom_core::testkit::tell(&script);
    let refused = |line: &&str| line.contains("refused") || line.contains("rejected");
    let told: Vec<&str> =
        told.lines().filter(refused).filter(|line| !line.contains(" a3")).collect();
    assert_eq!(
        told,
        [
            "app app2: rejected TOO_MANY_TYPES: the queue of the application names 15 new resource types, but 498 of at most 512 are already in use. Use types that nodes or the queue file already have.",
            "node n2: refused TOO_MANY_TYPES: the node names 100 new resource types, but 698 of at most 768 are already in use. Use types that nodes or the queue file already have.",
        ]
    );
}
