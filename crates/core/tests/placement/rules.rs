//! Which queue the rules find.

use expect_test::expect;

use crate::check;

#[test]
#[doc(alias = "queues W21")]
fn a_chain_of_rules_down_to_the_recovery_queue() {
    check(
        "
        queue root submit |devs
        queue root.users parent submit *
        rule user below fixed users
        rule tag namespace create
        app app1 - a.b groups devs tags namespace=ns1
        show app1
        app app2 - c tags namespace=ns1
        app app3 - c tags namespace=ns2
        app app4 - c tags namespace=ns2 application.create.force=true
        show app4
        ",
        expect![[r#"
            app app1: root.ns1 made
              app1: New in root.ns1, no group, uses {}, user headroom none
            app app2: rejected PL-REJECTED: no placement rule matched: rule 1 (user): queue root.users.c does not exist, and the rule sets create: false; rule 2 (tag): no access list of queue root.ns1 or above allows user c with 0 groups; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app3: rejected PL-REJECTED: no placement rule matched: rule 1 (user): queue root.users.c does not exist, and the rule sets create: false; rule 2 (tag): no access list of queue root or above allows user c with 0 groups; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app4: root.@recovery@ made
              app4: New in root.@recovery@, no group, uses {}, user headroom none
        "#]],
    );
}

#[test]
#[doc(alias = "queues W22")]
fn a_qualified_name_needs_no_parent_rule() {
    check(
        "
        queue root submit bob
        rule provided create below user create
        rule fixed late create
        app app1 x.y bob
        app app2 root.x.y bob
        app app3 root.x! bob
        app app4 - bob
        ",
        expect![[r#"
            app app1: root.bob made, root.bob.x_dot_y made
            app app2: root.x made, root.x.y made
            app app3: rejected PL-RULE-ERROR: placement rule 1 (provided) produces the invalid queue name "x!" of 2 characters. Use 1 to 64 characters of A-Z a-z 0-9 _ : # / @ -.
            app app4: root.late made
        "#]],
    );
}

#[test]
#[doc(alias = "queues W23")]
fn a_parent_rule_that_lands_on_a_leaf_is_an_error() {
    check(
        "
        queue root.prod
        queue root.default
        rule user create below tag place
        app app1 - ann tags place=root.prod
        app app2 - ann tags place=root.none
        show app2
        app app3 - ann tags place=root.prod application.create.force=true
        ",
        expect![[r#"
            app app1: rejected PL-RULE-ERROR: placement rule 1 (user) selects a queue below root.prod, which is a leaf. Change its parent rule to select a parent queue.
              app2: New in root.default, no group, uses {}, user headroom none
            app app3: rejected PL-RULE-ERROR: placement rule 1 (user) selects a queue below root.prod, which is a leaf. Change its parent rule to select a parent queue.
        "#]],
    );
}

#[test]
#[doc(alias = "queues W24")]
fn filters_name_or_search() {
    for (filter, user, groups, passes) in [
        ("deny user ^adm", "admin1", "x", false),
        ("deny user ^adm", "myadm", "x", true),
        ("deny user adm", "adm", "x", false),
        ("deny user adm", "admin1", "x", true),
        ("allow user svc$", "mysvc", "x", true),
        ("allow group dev,te*st", "ann", "dev", true),
        ("allow group dev,te*st", "ann", "teest", false),
        ("Deny user ann", "ann", "x", false),
    ] {
        let told = headroom_core::testkit::tell(&format!(
            "rule fixed here create {filter}\napp app1 - {user} groups {groups}\nshow app1"
        ));
        assert_eq!(told.contains("root.here made"), passes, "{filter} for {user}: {told}");
    }
}

#[test]
fn an_empty_rule_list_equals_provided_without_create() {
    let story = |rules: &str| {
        headroom_core::testkit::tell(&format!(
            "
            queue root.a
            {rules}
            app app1 root.a ann
            show app1
            app app2 A ann
            show app2
            app app3 root.b ann
            app app4 - ann
            "
        ))
    };
    assert_eq!(story(""), story("rule provided"));
    expect![[r#"
          app1: New in root.a, no group, uses {}, user headroom none
          app2: New in root.a, no group, uses {}, user headroom none
        app app3: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.b does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
        app app4: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): the application specifies no queue; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
    "#]].assert_eq(&story(""));
}

#[test]
fn rules_that_cannot_be_built_reject_everything_and_say_why() {
    for (rule, expected) in [
        ("recovery", "PR-RECOVERY"),
        ("somewhere", "PR-UNKNOWN"),
        ("fixed ''", "PR-VALUE"),
        ("tag ''", "PR-VALUE"),
        ("fixed a..b", "PR-VALUE"),
        ("fixed root.a below user", "PR-VALUE"),
        ("fixed root below user", "PR-VALUE"),
        ("user user (", "PR-FUSER"),
        ("user below user group [", "PR-FGROUP"),
    ] {
        let script = format!("rule {rule}\napp app1 root.a ann tags application.create.force=1");
        let told = headroom_core::testkit::tell(&script);
        assert!(told.contains("rejected PL-NO-RULES"), "{rule}: {told}");
        assert!(told.contains(expected), "{rule}: {told}");
    }
}

#[test]
fn a_queue_that_cannot_take_the_application_is_passed_over() {
    check(
        "
        queue root submit '' admin ''
        queue root.open submit *
        queue root.open.ann
        queue root.shut
        rule tag place
        rule user create below fixed open
        app app1 - ann tags place=root.none
        show app1
        app app2 - bob tags place=root.shut
        app app3 - cid tags place=root.open
        app app4 - dan tags place=root.open.ann
        show app4
        ",
        expect![[r#"
              app1: New in root.open.ann, no group, uses {}, user headroom none
            app app2: root.open.bob made
            app app3: root.open.cid made
              app4: New in root.open.ann, no group, uses {}, user headroom none
        "#]],
    );
}

#[test]
fn what_no_rule_takes_is_rejected_with_each_reason() {
    check(
        "
        queue root submit '' admin ''
        queue root.open parent submit *
        queue root.shut
        rule provided
        rule tag place allow user ann
        rule user below fixed open
        app app1 root.shut ann
        app app2 root.open ann tags place=root.shut
        app app3 - bob tags place=root.shut
        ",
        expect![[r#"
            app app1: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): no access list of queue root.shut or above allows user ann with 0 groups; rule 2 (tag): the application has no tag place; rule 3 (user): queue root.open.ann does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app2: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.open is a parent, but applications run only in leaves; rule 2 (tag): no access list of queue root.shut or above allows user ann with 0 groups; rule 3 (user): queue root.open.ann does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app3: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): the application specifies no queue; rule 2 (tag): the filter of the rule excludes user bob with 0 groups; rule 3 (user): queue root.open.bob does not exist, and the rule sets create: false; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
        "#]],
    );
}

#[test]
fn of_very_many_rules_a_refusal_names_sixteen() {
    let rules = "rule tag x\n".repeat(40);
    let told = headroom_core::testkit::tell(&format!("{rules}app app1 - ann"));
    assert!(told.contains("rule 16 (tag)") && !told.contains("rule 17 (tag)"), "{told}");
    assert!(told.contains("and 24 more"), "{told}");
}

#[test]
fn forced_ones_go_to_recovery_even_where_there_is_a_default() {
    check(
        "
        queue root submit ann
        queue root.default
        queue root.p.a
        app app1 root.none ann tags application.create.force=true
        app app2 root.p ann tags application.create.force=t
        app app3 root.p.a bob tags Application.Create.Force=1
        app app4 root.p.a ann tags application.create.force=true
        show app4
        app app5 root.none ann tags application.create.force=yes
        show app5
        app app6 root.none bob
        app app7 root.@recovery@ ann
        show app7
        ",
        expect![[r#"
            app app1: root.@recovery@ made
              app4: New in root.p.a, no group, uses {}, user headroom none
              app5: New in root.default, no group, uses {}, user headroom none
            app app6: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.none does not exist, and the rule sets create: false; at last: no access list of queue root.default or above allows user bob with 0 groups; submit to a leaf that accepts you, or change the rules
              app7: New in root.default, no group, uses {}, user headroom none
        "#]],
    );
}

#[test]
fn nobody_gets_into_the_recovery_queue_by_naming_it() {
    check(
        "
        rule provided create
        app app1 root.@recovery@ ann
        app app2 @Recovery@ ann
        app app3 root.@recovery@.x ann
        app app4 root.a.@recovery@ ann
        ",
        expect![[r#"
            app app1: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.@recovery@ is reserved for forced applications; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app2: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.@recovery@ is reserved for forced applications; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app3: rejected PL-REJECTED: no placement rule matched: rule 1 (provided): queue root.@recovery@.x is reserved for forced applications; at last: queue root.default does not exist; submit to a leaf that accepts you, or change the rules
            app app4: rejected PL-CREATE: queue root.a.@recovery@ cannot be created because "@recovery@" is not a valid queue name. Use 1 to 64 characters of A-Z a-z 0-9 _ : # / @ -, but not @recovery@.
        "#]],
    );
}

#[test]
fn dots_become_words_in_names_that_a_rule_makes() {
    check(
        "
        rule user create
        app app1 - a.b.c
        app app2 - .b
        app app3 - system:serviceaccount:ns:name
        app app4 - this-user-name-is-very-much-longer-than-sixty-four-characters-all
        ",
        expect![[r#"
            app app1: root.a_dot_b_dot_c made
            app app2: root._dot_b made
            app app3: root.system:serviceaccount:ns:name made
            app app4: rejected PL-RULE-ERROR: placement rule 1 (user) produces the invalid queue name "this-user-name-is-very-much-longer-than-sixty-four-characters-all" of 65 characters. Use 1 to 64 characters of A-Z a-z 0-9 _ : # / @ -.
        "#]],
    );
}

#[test]
fn a_parent_rule_of_a_parent_rule_that_lands_on_a_leaf_is_an_error() {
    check(
        "
        queue root.a
        rule user create below tag space create below fixed a
        app app1 - ann tags space=ns
        ",
        expect![[r#"
            app app1: rejected PL-RULE-ERROR: placement rule 1 (user) selects a queue below root.a, which is a leaf. Change its parent rule to select a parent queue.
        "#]],
    );
}

#[test]
fn only_root_and_paths_from_root_are_qualified() {
    check(
        "
        rule fixed rootbeer create
        app app1 - ann
        ",
        expect![[r#"
            app app1: root.rootbeer made
        "#]],
    );
    check(
        "
        rule user create below fixed root
        app app1 - ann
        ",
        expect![[r#"
            app app1: root.ann made
        "#]],
    );
}

#[test]
fn names_keep_no_capitals() {
    check(
        "
        queue root.a
        rule fixed Root.Teams.One create user one
        rule provided create
        app app1 ROOT.A ann
        app app2 root.A ann
        show app2
        app app3 - one
        ",
        expect![[r#"
            app app1: root.root_dot_a made
              app2: New in root.a, no group, uses {}, user headroom none
            app app3: root.teams made, root.teams.one made
        "#]],
    );
}

#[test]
fn a_filter_that_refuses_the_parent_refuses_the_child() {
    check(
        "
        queue root.default
        rule user create below fixed p create deny group dev
        app app1 - ann groups ops,dev
        show app1
        app app2 - ann groups ops
        ",
        expect![[r#"
              app1: New in root.default, no group, uses {}, user headroom none
            app app2: root.p made, root.p.ann made
        "#]],
    );
}

#[test]
fn paths_are_no_deeper_than_queues_may_be() {
    for (levels, made) in [(128, true), (129, false)] {
        let path = ".q".repeat(levels);
        let told =
            headroom_core::testkit::tell(&format!("rule provided create\napp app1 root{path} ann"));
        assert_eq!(told.contains("PL-RULE-ERROR"), !made, "{levels} levels");
    }
}

#[test]
fn a_queue_of_the_file_is_found_however_deep_it_is() {
    let path = ".q".repeat(200);
    let told = |rest: &str| {
        headroom_core::testkit::tell(&format!(
            "queue root{path}.leaf\nqueue root{path}.made parent\nrule provided create\napp app1 {rest} ann\nshow app1"
        ))
    };
    let leaf = told(&format!("root{path}.leaf"));
    assert!(leaf.contains(&format!("app1: New in root{path}.leaf,")), "{leaf}");
    for (levels, made) in [(128, true), (129, false)] {
        let told = told(&format!("root{path}.made{}", ".r".repeat(levels)));
        assert_eq!(
            told.contains("PL-RULE-ERROR"),
            !made,
            "{levels} levels below the file's: {told}"
        );
    }
}
