//! What preemption would do for an ask that waits, and why it does nothing. No-starvation NS-42.

use std::fmt::Write;

use expect_test::{Expect, expect};

use headroom_core::explain::{PreemptionFound, explain, preemption};
use headroom_core::testkit::tell_world;

use crate::shown::find;

#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands at the call")]
fn check(script: &str, asks: &[&str], expected: Expect) {
    let world = tell_world(script);
    let books = &world.books;
    let mut text = String::new();
    for key in asks {
        let ask = find(&world, key);
        let explanation = explain(books, &world.scheduler, ask).expect("it is there");
        write!(text, "{key}: ").expect("text takes all");
        let Some(outlook) = preemption(books, &explanation, world.now) else {
            text.push_str("none\n");
            continue;
        };
        let tried = outlook.tried.map(|at| format!(", tried at {}", at.as_millis()));
        let tried = tried.unwrap_or_default();
        let found = match outlook.found {
            PreemptionFound::Pending => "pending".to_owned(),
            PreemptionFound::AsksManager(nodes) => format!("asks about {nodes} nodes"),
            PreemptionFound::Nothing(barrier) => barrier.to_string(),
            PreemptionFound::Stops(plan) => {
                let key = |id: &_| books.allocation(*id).key.to_string();
                let victims: Vec<String> = plan.victims.iter().map(key).collect();
                format!("stops {} on {}", victims.join(", "), books.node(plan.node).name)
            }
        };
        writeln!(text, "from {}{tried}: {found}", outlook.from.as_millis())
            .expect("text takes all");
    }
    expected.assert_eq(&text);
}

#[test]
#[doc(alias = "NS-42")]
fn who_would_be_stopped_is_known_before_the_time_has_come() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=4
        node n1 c=4
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=2 on n1 preemptable
        ask v2 A c=2 on n1 preemptable
        ask x B c=2 preempts
        ask quiet B c=2
        wait 5s
        ",
        &["x", "quiet", "v1"],
        expect![[r#"
            x: from 30000: stops v2 on n1
            quiet: none
            v1: none
        "#]],
    );
}

#[test]
#[doc(alias = "NS-42")]
fn what_is_stopping_already_is_told_so() {
    check(
        "
        queue root.q1
        queue root.q2 guaranteed c=4
        node n1 c=4
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=4 on n1 preemptable
        ask x B c=2 preempts
        wait 31s
        ",
        &["x"],
        expect![[r#"
            x: from 30000: pending
        "#]],
    );
}

#[test]
#[doc(alias = "NS-42")]
fn each_reason_why_nothing_is_stopped_has_its_sentence() {
    check(
        "
        tenants root.tenants
        node n1 vcore=6
        tenant a
        tenant b guaranteed vcore=2
        tenant c guaranteed vcore=6
        task t1 a ann vcore=6 fixed
        task u1 b bob vcore=3
        task u2 b bob vcore=1
        task w1 c eve vcore=2 x2
        wait 61s
        ",
        &["u1", "u2", "w1.1"],
        expect![[r#"
            u1: from 30000, tried at 61000: nothing is preempted for the ask: the unused guarantee of its queue is smaller than the ask
            u2: from 30000: nothing is preempted for the ask now: preempted allocations would not lift its first wait reason
            w1.1: from 30000: nothing is preempted for the ask: the members of a task that start together preempt nothing
        "#]],
    );
    check(
        "
        preemption off
        queue root.q1
        queue root.q2 guaranteed c=4
        node n1 c=4
        app A root.q1 ann
        app B root.q2 bob
        ask v1 A c=4 on n1 preemptable
        ask x B c=2 preempts
        ask huge B c=9 preempts
        ",
        &["x", "huge"],
        expect![[r#"
            x: from 30000: nothing is preempted for the ask: `preemption.enabled` of its partition is false
            huge: none
        "#]],
    );
    check(
        "
        queue root.q1 guaranteed c=4
        queue root.q2 guaranteed c=4
        queue root.q3
        queue root.q4 guaranteed c=1 prop application.sort.policy=fifo-strict
        node n1 c=4
        app A root.q1 ann
        app B root.q2 bob
        app C root.q3 bob
        app D root.q4 bob
        ask v1 A c=4 on n1 preemptable
        ask x B c=2 made 0s preempts
        ask y C c=2 preempts
        ask d1 D c=2
        ask d2 D c=1 preempts
        wait 61s
        ",
        &["x", "y", "d2"],
        expect![[r#"
            x: from 30000, tried at 61000: nothing is preempted for the ask: the usage of queues above their guarantees, at the same or a lower priority, does not free enough capacity on one node
            y: none
            d2: from 30000: nothing is preempted for the ask now: preempted allocations would not lift its first wait reason
        "#]],
    );
}
