//! Records of nodes.

use expect_test::expect;

use crate::check;

#[test]
fn a_node_is_told_of_from_its_coming_to_its_going() {
    check(
        "
        queue root.a
        node n1 vcore=10 gpu=0
        node n1 vcore=5
        resize n1 vcore=10
        resize n1 vcore=8 memory=4
        drain n1
        drain n1
        undrain n1
        undrain n1
        node n2 vcore=1 drained
        app app1 root.a ann
        ask a1 app1 vcore=3
        lose n1
        lose n2
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            node n1
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              NODE ADD DETAILS_NONE n1 {vcore: 5000 m}
            resize n1
            resize n1
              NODE SET NODE_CAPACITY n1 {memory: 4 B, vcore: 8000 m}
              QUEUE SET QUEUE_MAX root {memory: 4 B, vcore: 8000 m}
            drain n1
              NODE SET NODE_SCHEDULABLE n1: schedulable: false
            drain n1
            undrain n1
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
            undrain n1
            node n2
              NODE SET NODE_SCHEDULABLE n2: schedulable: false
              QUEUE SET QUEUE_MAX root {memory: 4 B, vcore: 9000 m}
              NODE ADD DETAILS_NONE n2 {vcore: 1000 m}
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.a app1
            ask a1
              APP ADD APP_REQUEST app1 a1 {vcore: 3000 m}
              APP SET APP_ACCEPTED app1
              NODE ADD NODE_ALLOC n1 a1 {vcore: 3000 m}
              USERGROUP ADD UG_USER_RESOURCE ann root.a {vcore: 3000 m}
              APP SET APP_RUNNING app1
              APP ADD APP_ALLOC app1 a1 {vcore: 3000 m}
            lose n1
              NODE SET NODE_SCHEDULABLE n1: schedulable: false
              USERGROUP REMOVE UG_USER_RESOURCE ann root.a {vcore: 3000 m}
              APP SET APP_COMPLETING app1
              APP REMOVE ALLOC_NODEREMOVED app1 a1 {vcore: 3000 m}
              NODE REMOVE NODE_ALLOC n1 a1 {vcore: 3000 m}
              QUEUE SET QUEUE_MAX root {vcore: 1000 m}
              NODE REMOVE NODE_DECOMISSION n1
            lose n2
              QUEUE SET QUEUE_MAX root
              NODE REMOVE NODE_DECOMISSION n2
        "#]],
    );
}

#[test]
fn what_is_foreign_is_told_where_it_comes_and_where_it_goes() {
    check(
        "
        queue root.a
        node n1 vcore=10
        node n2 vcore=10
        foreign f1 n1 vcore=3
        foreign f1 n1 vcore=5
        foreign f1 n2 vcore=5
        foreign-gone f1
        foreign-gone f1
        foreign f2 n1 vcore=1
        lose n1
        foreign-gone f2
        foreign f3 n9 vcore=1
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 10000 m}
            node n2
              NODE SET NODE_SCHEDULABLE n2: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 20000 m}
              NODE ADD DETAILS_NONE n2 {vcore: 10000 m}
            foreign f1
              NODE ADD NODE_ALLOC n1 f1 {vcore: 3000 m}
            foreign f1
            foreign f1
              NODE REMOVE NODE_ALLOC n1 f1 {vcore: 5000 m}
              NODE ADD NODE_ALLOC n2 f1 {vcore: 5000 m}
            foreign-gone f1
              NODE REMOVE NODE_ALLOC n2 f1 {vcore: 5000 m}
            foreign-gone f1
            foreign f2
              NODE ADD NODE_ALLOC n1 f2 {vcore: 1000 m}
            lose n1
              NODE SET NODE_SCHEDULABLE n1: schedulable: false
              QUEUE SET QUEUE_MAX root {vcore: 10000 m}
              NODE REMOVE NODE_DECOMISSION n1
            foreign-gone f2
            foreign f3
        "#]],
    );
}

#[test]
fn what_the_rm_refuses_is_told_with_its_reasons_and_not_again_for_a_while() {
    check(
        "
        queue root.a
        node n1 vcore=4
        node n2 vcore=4
        node n3 vcore=4
        questions on
        app app1 root.a ann
        ask a1 app1 vcore=2
        answer a1 n1=affinity n2=taint n3=taint
        void n1
        answer a1 n1=taint
        wait 15s
        void n1
        answer a1 n1=port
        ",
        expect![[r#"
            node n1
              QUEUE ADD DETAILS_NONE root
              QUEUE ADD DETAILS_NONE root.a
              NODE SET NODE_SCHEDULABLE n1: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 4000 m}
              NODE ADD DETAILS_NONE n1 {vcore: 4000 m}
            node n2
              NODE SET NODE_SCHEDULABLE n2: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 8000 m}
              NODE ADD DETAILS_NONE n2 {vcore: 4000 m}
            node n3
              NODE SET NODE_SCHEDULABLE n3: schedulable: true
              QUEUE SET QUEUE_MAX root {vcore: 12000 m}
              NODE ADD DETAILS_NONE n3 {vcore: 4000 m}
            questions on
            app app1
              APP ADD APP_NEW app1
              QUEUE ADD QUEUE_APP root.a app1
            ask a1
              APP ADD APP_REQUEST app1 a1 {vcore: 2000 m}
              APP SET APP_ACCEPTED app1
            answer a1
              REQUEST NONE DETAILS_NONE a1 app1 {vcore: 2000 m}: predicates reject the nodes for the ask: taint (2x); affinity (1x)
            void n1
            answer a1
            wait 15s
            void n1
            answer a1
              REQUEST NONE DETAILS_NONE a1 app1 {vcore: 2000 m}: predicates reject the nodes for the ask: taint (2x); port (1x)
        "#]],
    );
}
