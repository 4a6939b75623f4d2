//! What becomes of an ask when those before it go first.

use headroom_core::explain::explain;
use headroom_core::explain::remedy::{IN_TURN_STEPS, InTurnOutcome, RemedyKind, TRIALS, remedies};
use headroom_core::testkit::tell_world;

use crate::shown::find;

#[test]
fn in_its_turn_an_ask_starts_with_what_is_left_by_those_before_it() {
    let script = "
        queue root.a max vcore=4
        node n1 vcore=8
        app app1 root.a ann
        ask a1 app1 vcore=4
        app app2 root.a bob
        ask b1 app2 vcore=1
        app app3 root.a cid
        ask c1 app3 vcore=1
        ";
    let world = tell_world(script);
    let turns = |key| {
        let ask = find(&world, key);
        let waits = explain(&world.books, &world.scheduler, ask).expect("it is there");
        let mut found = remedies(&world.books, world.now, &waits, &[RemedyKind::Raise], TRIALS);
        found.look_in_turn(&world.books, world.now, ask, IN_TURN_STEPS);
        let turn = found.found[0].in_turn;
        found.look_in_turn(&world.books, world.now, ask, 0);
        (found.in_turn, turn, found.found[0].in_turn)
    };
    // With the maximum raised by one there is room for the first of them alone.
    let (waits, unknown) = (Some(InTurnOutcome::Waits), Some(InTurnOutcome::Unknown));
    assert_eq!(turns("b1"), (unknown, Some(InTurnOutcome::Starts), unknown));
    assert_eq!(turns("c1"), (unknown, waits, unknown));
}
