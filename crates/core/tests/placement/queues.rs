//! Queues that rules make: where, with what, and for how long.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "queues W26")]
fn templates_and_tags_furnish_what_rules_make() {
    check(
        r#"
        queue root.p parent template max memory=50 apps=5
        queue root.p.s max memory=70
        rule provided create
        app app1 root.p.n ann
        app app2 root.p.n ann tags namespace.resourcequota={"resources":{"memory":{"value":80}}}
        app app3 root.p.n ann tags namespace.resourcemaxapps=2
        app app4 root.p.n ann tags namespace.resourcemaxapps=2
        app app5 root.p.s ann tags namespace.resourcemaxapps=2 namespace.resourcequota={"resources":{"memory":{"value":80}}}
        show root.p.s
        show root.p.n
        "#,
        expect![[r#"
            app app1: root.p.n made max {memory: 50 B} apps=5
            app app2: root.p.n has now max {memory: 80 B} apps=5
            app app3: root.p.n has now max {memory: 80 B} apps=2
              root.p.s: in force {memory: 70 B}, uses {}, headroom {memory: 70 B}, share 0, runs 0
              root.p.n: in force {memory: 80 B}, uses {}, headroom {memory: 80 B}, share 0, runs 0
        "#]],
    );
}

#[test]
#[doc(alias = "queues W32")]
fn a_gang_that_can_never_run_is_rejected_at_once() {
    check(
        "
        queue root.p max memory=100
        queue root.p.q
        queue root.f fair
        app app1 root.p.q ann gang memory=120 vcore=4
        app app2 root.p.q ann gang memory=100 vcore=999
        show app2
        app app3 root.f ann gang vcore=1
        app app4 root.f ann gang vcore=0
        show app4
        ",
        expect![[r#"
            app app1: rejected GANG_SIZE: the gang needs 120 memory together, but the configured maximum of queue root.p.q is 100. Make the gang smaller, or raise the maximum.
              app2: New in root.p.q, no group, uses {}, user headroom none
            app app3: rejected GANG_ORDER: queue root.f sorts applications by fair share, which does not support gangs. Submit to a queue with another application.sort.policy.
              app4: New in root.f, no group, uses {}, user headroom none
        "#]],
    );
}

#[test]
fn a_gang_is_measured_against_the_queue_that_is_made_for_it_which_stays() {
    check(
        r#"
        queue root.p parent max memory=100 template max memory=50
        rule provided create
        app app1 root.p.n ann gang memory=60
        wait 10s
        app app2 root.p.n ann gang memory=60 tags namespace.resourcequota={"resources":{"memory":{"value":200}}}
        app app3 root.p.n ann gang memory=160
        "#,
        expect![[r#"
            app app1: root.p.n made max {memory: 50 B}, rejected GANG_SIZE: the gang needs 60 memory together, but the configured maximum of queue root.p.n is 50. Make the gang smaller, or raise the maximum.
            wait 10s: root.p.n gone
            app app2: root.p.n made max {memory: 200 B}
            app app3: rejected GANG_SIZE: the gang needs 160 memory together, but the configured maximum of queue root.p.n is 100. Make the gang smaller, or raise the maximum.
        "#]],
    );
}

#[test]
fn missing_levels_become_parents_that_pass_the_template_on() {
    check(
        "
        queue root.p parent template fair apps=3
        rule provided create
        app app1 root.p.a.b.c ann
        app app2 root.p.a.d ann
        show root.p.a
        remove app1
        wait 10s
        remove app2
        wait 10s
        ",
        expect![[r#"
            app app1: root.p.a made, root.p.a.b made, root.p.a.b.c made apps=3 application.sort.policy=fair
            app app2: root.p.a.d made apps=3 application.sort.policy=fair
              root.p.a: in force none, uses {}, headroom none, share 0, runs 0
            remove app1: app1 gone
            wait 10s: root.p.a.b.c gone, root.p.a.b gone
            remove app2: app2 gone
            wait 10s: root.p.a.d gone, root.p.a gone
        "#]],
    );
}

#[test]
fn an_own_template_is_not_overridden_by_the_parents() {
    check(
        "
        queue root.p parent template apps=3
        queue root.p.q parent template max memory=5
        queue root.p.r parent
        rule provided create
        app app1 root.p.q.n ann
        app app2 root.p.r.n ann
        ",
        expect![[r#"
            app app1: root.p.q.n made max {memory: 5 B}
            app app2: root.p.r.n made apps=3
        "#]],
    );
}

#[test]
fn nothing_is_made_below_a_leaf() {
    check(
        "
        queue root.a
        rule provided create
        rule user create
        app app1 root.a.b ann
        ",
        expect![[r#"
            app app1: rejected PL-CREATE: queue root.a.b cannot be created because root.a is a leaf, and leaves have no child queues. Choose a path below a parent queue.
        "#]],
    );
}

#[test]
fn the_recovery_queue_has_no_template_and_heeds_no_tag() {
    check(
        r#"
        queue root fair template max memory=5 apps=2
        app app1 root.x ann tags application.create.force=true namespace.resourcemaxapps=7
        app app2 root.x ann tags application.create.force=true namespace.resourcequota={"resources":{"memory":{"value":80}}}
        show root.@recovery@
        remove app1
        remove app2
        wait 10s
        "#,
        expect![[r#"
            app app1: root.@recovery@ made
              root.@recovery@: in force none, uses {}, headroom none, share 0, runs 0
            remove app1: app1 gone
            remove app2: app2 gone
            wait 10s: root.@recovery@ gone
        "#]],
    );
}

#[test]
fn tags_that_cannot_be_read_are_as_good_as_absent() {
    for tag in [
        "namespace.resourcequota=",
        "namespace.resourcequota=null",
        r#"namespace.resourcequota={"resources":{"memory":{"value":"80"}}}"#,
        r#"namespace.resourcequota={"resources":{"memory":{"value":0}}}"#,
        r#"namespace.resourcequota={"resources":{"memory":{"value":-1},"vcore":{"value":1}}}"#,
        r#"namespace.resourceguaranteed={"memory":80}"#,
        "namespace.resourcemaxapps=0",
        "namespace.resourcemaxapps=+3",
        "namespace.resourcemaxapps=-3",
        "namespace.resourcemaxapps=many",
    ] {
        let told = headroom_core::testkit::tell(&format!(
            "
            queue root.p parent template max memory=50 guaranteed memory=9 apps=5
            rule provided create
            app app1 root.p.n ann
            app app2 root.p.n ann tags {tag}
            "
        ));
        let made = "app app1: root.p.n made max {memory: 50 B} guaranteed {memory: 9 B} apps=5\n";
        assert_eq!(told, made, "{tag}");
    }
}

#[test]
fn one_amount_alone_clears_the_other_and_of_equal_members_the_last_counts() {
    check(
        r#"
        queue root.p parent template max memory=50 guaranteed memory=9
        rule provided create
        app app1 root.p.n ann tags Namespace.ResourceGuaranteed={"resources":{"memory":{"value":3},"memory":{"value":4}}}
        app app2 root.p.n ann tags namespace.resourcequota={"resources":{"memory":{"value":5}}} NAMESPACE.RESOURCEQUOTA={}
        "#,
        expect![[r#"
            app app1: root.p.n made guaranteed {memory: 4 B}
            app app2: root.p.n has now max {memory: 5 B}
        "#]],
    );
}

#[test]
fn tags_that_name_too_many_types_reject_the_application() {
    for (count, refused) in [(16, false), (17, true), (2_000, true)] {
        let types: Vec<String> =
            (0..count).map(|number| format!("\"t{number}\":{{\"value\":1}}")).collect();
        let told = headroom_core::testkit::tell(&format!(
            "
            rule provided create
            app app1 root.n ann tags namespace.resourcequota={{\"resources\":{{{}}}}}
            ",
            types.join(",")
        ));
        let rejected = told.starts_with("app app1: rejected TOO_MANY_TYPES");
        assert_eq!(rejected, refused, "{count}: {told}");
    }
}

#[test]
fn a_second_application_of_the_same_id_is_rejected_and_the_first_stays() {
    check(
        "
        queue root.a
        node n1 vcore=1
        app app1 root.a ann
        app app1 root.a bob
        show app1
        ask a1 app1 vcore=1
        remove app1
        app app1 root.a bob
        show app1
        ",
        expect![[r#"
            app app1: rejected DUPLICATE_APPLICATION: application app1 already exists in partition default in state New. Choose another ID, or wait until the application ends.
              app1: New in root.a, no group, uses {}, user headroom none
            ask a1: app1 Accepted, a1 on n1, app1 Running
            remove app1: a1 released, app1 Completing, app1 gone
              app1: New in root.a, no group, uses {}, user headroom none
        "#]],
    );
}
