//! What an ask is refused for, in the order in which `CapacityScheduler` looks: one story for each check,
//! with its code, its letter, and both sides of the comparison.

use expect_test::{Expect, expect};
use headroom_core::explain::explain;
use headroom_core::letter;
use headroom_core::testkit::{tell, tell_world};

/// Tell a story; the last thing that waits in it, or was rejected, with the letter of its code.
#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands at the call")]
fn last_obstacle(script: &str, expected: Expect) {
    let told = tell(script);
    let is_code = |word: &&str| letter(word.trim_end_matches(':')).is_some();
    let lines = told.lines().rev();
    let found = lines.map(str::trim).find_map(|line| {
        let code = line.split_whitespace().find(is_code)?.trim_end_matches(':');
        Some(format!("({}) {line}\n", letter(code)?))
    });
    expected.assert_eq(&found.unwrap_or_else(|| format!("nothing is refused:\n{told}")));
}

/// The checks that the last waiting ask of a story fails, with the letters of their codes: it is impossible, and why.
#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands at the call")]
fn obstacles(script: &str, expected: Expect) {
    let world = tell_world(script);
    let waiting = world.books.allocations().iter().filter(|(_, row)| row.is_pending());
    let (ask, _) = waiting.last().expect("an ask waits");
    let explanation = explain(&world.books, &world.scheduler, ask).expect("it is there");
    let failed = explanation.blocked_by().map(|check| {
        let code = check.code.as_str();
        letter(code).map_or_else(|| format!("{code}\n"), |letter| format!("({letter}) {code}\n"))
    });
    expected.assert_eq(&failed.collect::<String>());
}

#[test]
#[doc(alias = "SD-47")]
fn a_label_that_no_node_has() {
    obstacles(
        "
        queue root exclusive gpu
        queue root.a
        node n1 vcore=4
        node n2 vcore=4 labelled gpu
        app app1 root.a ann
        ask mine app1 vcore=1 labelled fpga
        ",
        expect![[r#"
            IMPOSSIBLE
            (a) NO_PARTITION_ACCESS
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn a_node_that_the_application_refuses() {
    obstacles(
        "
        queue root.a
        node n1 vcore=4
        node n2 vcore=2
        app app1 root.a ann
        ask mine app1 vcore=3 not-on n1
        ",
        expect![[r#"
            IMPOSSIBLE
            (a) NODE_BLOCKED
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn a_node_that_is_kept_for_another_ask() {
    last_obstacle(
        "
        queue root.a
        node n1 vcore=10
        node n2 vcore=10
        app full root.a ann
        ask f1 full vcore=5 on n1
        ask f2 full vcore=7 on n2
        app first root.a ann
        ask large first vcore=8
        wait 3s
        app second root.a bob
        ask small second vcore=4
        ",
        expect![[r#"
            (b) small waits NODE_RESERVED: 1 of 2 nodes has enough free capacity, but 1 of those is reserved for other asks. Wait until such an ask is placed or withdrawn, or add nodes.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn a_kept_node_without_room_yet() {
    last_obstacle(
        "
        queue root.a
        node n1 vcore=10
        node n2 vcore=10
        app full root.a ann
        ask f1 full vcore=6 on n1
        ask f2 full vcore=6 on n2
        app next root.a ann
        ask large next vcore=8
        wait 3s
        ",
        expect![[r#"
            (b) large waits NODE_RESOURCES: node n1 is reserved for the ask and has vcore 4 free, but the ask needs vcore 8. Wait for a release on this node, or for capacity on another node.
        "#]],
    );
}

/// A node with less free than the minimum allocation is one that fits nothing.
#[test]
#[doc(alias = "SD-47")]
fn no_node_with_as_much_as_the_smallest_ask() {
    last_obstacle(
        "
        queue root.a guaranteed vcore=10 share p=100;f=off;min=1
        node n1 vcore=10
        node n2 vcore=10
        app full root.a ann
        ask f1 full vcore=9500m on n1
        ask f2 full vcore=9200m on n2
        ask small full vcore=1
        ",
        expect![[r#"
            (b) small waits NO_NODE_FITS: the ask needs 1000m vcore, but no node that the ask can use has more than 800m free. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn the_maximum_of_the_leaf() {
    last_obstacle(
        "
        queue root.a max vcore=6
        node n1 vcore=10
        app app1 root.a ann
        ask a1 app1 vcore=4
        ask a2 app1 vcore=3
        ",
        expect![[r#"
            (c) a2 waits QUEUE_MAX: queue root.a has 2 of 6 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn the_maximum_of_a_queue_above() {
    last_obstacle(
        "
        queue root.p parent max vcore=6
        queue root.p.a max vcore=9
        node n1 vcore=10
        app app1 root.p.a ann
        ask a1 app1 vcore=4
        ask a2 app1 vcore=3
        ",
        expect![[r#"
            (c) a2 waits QUEUE_MAX: queue root.p has 2 of 6 vcore available, but the ask needs 3. Wait for a release, or raise the maximum.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn the_size_of_the_cluster() {
    last_obstacle(
        "
        queue root.a
        node n1 vcore=5
        node n2 vcore=5
        app app1 root.a ann
        ask a1 app1 vcore=4
        ask a2 app1 vcore=4
        ask a3 app1 vcore=4
        ",
        expect![[r#"
            (c) a3 waits ROOT_CAPACITY: the cluster has 2 of 10 vcore available, but the ask needs 4. Wait for a release, or add nodes.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn the_share_of_a_user() {
    last_obstacle(
        "
        queue root.a
        queue root.b guaranteed vcore=30 share strict;p=30;f=100
        node n1 vcore=100
        app full root.a eve
        app app1 root.b ann
        app app2 root.b bob
        app app3 root.b cid
        ask a1 app1 vcore=8
        ask b1 app2 vcore=8
        ask c1 app3 vcore=8
        ask f1 full vcore=76
        ask a2 app1 vcore=8
        ask b2 app2 vcore=8
        ask c2 app3 vcore=8
        release f1
        ",
        expect![[r#"
            (d) c2 waits USER_SHARE: user cid at root.b uses 8000m vcore of a fair share of 10667m, and the ask needs 8000m more. Wait for a release by this user, or until the other active users reach their shares.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn the_cap_of_a_user() {
    last_obstacle(
        "
        queue root.a guaranteed vcore=10 share p=100;f=1
        node n1 vcore=100
        app app1 root.a ann
        ask a1 app1 vcore=8
        ask a2 app1 vcore=4
        ",
        expect![[r#"
            (d) a2 waits USER_HARD_CAP: user ann at root.a uses 8 vcore of a user cap of 10, and the ask needs 4 more. Wait for a release by this user, or raise `userlimitfactor`.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn an_absolute_limit_of_a_user() {
    last_obstacle(
        "
        queue root.a
        limit root.a user ann vcore=5
        node n1 vcore=10
        app app1 root.a ann
        ask a1 app1 vcore=4
        ask a2 app1 vcore=3
        ",
        expect![[r#"
            (d) a2 waits ABS_USER_LIMIT: user ann at root.a has 1 of 5 vcore available, but the ask needs 3. Wait for a release, or raise the limit.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn an_absolute_limit_of_a_group() {
    last_obstacle(
        "
        queue root.a
        limit root.a group dev vcore=5
        node n1 vcore=10
        app app1 root.a ann groups dev
        ask a1 app1 vcore=4
        ask a2 app1 vcore=3
        ",
        expect![[r#"
            (d) a2 waits ABS_GROUP_LIMIT: group dev at root.a has 1 of 5 vcore available, but the ask needs 3. Wait for a release, or raise the limit.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn what_the_drivers_of_a_queue_may_have() {
    last_obstacle(
        "
        queue root.a guaranteed vcore=20 max vcore=20 counts driver=0.1
        node n1 vcore=100
        app app1 root.a ann
        app app2 root.a bob
        ask d1 app1 vcore=2
        ask d2 app2 vcore=1
        ",
        expect![[r#"
            (e) d2 waits DRIVER_LIMIT_QUEUE: drivers in queue root.a use 2 of at most 2 vcore, and the driver of this application needs 1 more. Wait for an application to end, or raise `maximumdriverresourcepercent`.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn what_the_drivers_of_a_user_may_have() {
    last_obstacle(
        "
        queue root.a guaranteed vcore=40 max vcore=80 share p=25;f=1 counts driver=0.2
        node n1 vcore=100
        app app1 root.a ann
        app app2 root.a bob
        app app3 root.a ann
        ask d1 app1 vcore=3
        ask d3 app3 vcore=3
        ",
        expect![[r#"
            (e) d3 waits DRIVER_LIMIT_USER: drivers of user ann at root.a use 3 of at most 4 vcore, and the driver of this application needs 3 more. Wait for an application of this user to end, or raise `maximumdriverresourcepercent`.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn how_many_may_have_started() {
    last_obstacle(
        "
        queue root.a counts parallel=1
        node n1 vcore=100
        app app1 root.a ann
        app app2 root.a bob
        ask d1 app1 vcore=1
        ask d2 app2 vcore=1
        ",
        expect![[r#"
            (e) d2 waits PARALLEL_LIMIT: queue root.a has 1 of at most 1 active application. Wait for one to end, or raise `maxparallelapps`.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn how_many_there_may_be() {
    last_obstacle(
        "
        queue root.a counts max=1
        node n1 vcore=100
        app app1 root.a ann
        app app2 root.a bob
        ",
        expect![[r#"
            (e) app app2: rejected MAX_APPS_QUEUE: queue root.a has 1 of at most 1 applications. Wait for one to end, or raise `maximumapplications`.
        "#]],
    );
    last_obstacle(
        "
        queue root.a counts max=9;per-user=1
        node n1 vcore=100
        app app1 root.a ann
        app app2 root.a ann
        ",
        expect![[r#"
            (e) app app2: rejected MAX_APPS_USER: user ann has 1 of at most 1 applications in queue root.a. Wait for one to end, or raise maximumapplicationsperuser.
        "#]],
    );
}

#[test]
#[doc(alias = "SD-47")]
fn every_code_has_the_letter_of_its_check() {
    let of = |codes: &[&str]| codes.iter().filter_map(|code| letter(code)).collect::<String>();
    assert_eq!(of(&["NO_PARTITION_ACCESS", "NODE_BLOCKED"]), "aa");
    assert_eq!(of(&["NODE_RESERVED", "NODE_RESOURCES", "NO_NODE_FITS"]), "bbb");
    assert_eq!(of(&["QUEUE_MAX", "ROOT_CAPACITY", "QUEUE_STATE"]), "ccc");
    assert_eq!(of(&["USER_SHARE", "USER_HARD_CAP", "ABS_USER_LIMIT", "ABS_GROUP_LIMIT"]), "dddd");
    let counts = ["DRIVER_LIMIT_QUEUE", "DRIVER_LIMIT_USER", "PARALLEL_LIMIT", "MAX_APPS"];
    assert_eq!(of(&counts), "eeee");
    assert_eq!(of(&["MAX_APPS_QUEUE", "MAX_APPS_USER", "USER_APPS", "GROUP_APPS"]), "eeee");
    assert_eq!(letter("BACKOFF"), None);
}
