//! Asks that nothing holds back, while the scheduler has not come to them.

use std::collections::BTreeMap;

use headroom_core::books::{Allocation, ApplicationState, Books};
use headroom_core::explain::{Check, Explanation, Verdict, explain};
use headroom_core::id::{AllocationId, ApplicationId, PartitionId};
use headroom_core::testkit::{World, tell_world};
use headroom_core::{AskEvent, Blocker, Event, Kind, Name, NodeEvent, Scheduler, Timestamp};

use crate::shown::{find, shown};

/// What a story ends with before the scheduler has made a step for its last line, which adds a node.
fn before_it_moves(script: &str) -> (World, Books) {
    let world = tell_world(script);
    let added =
        |(_, event): &(Timestamp, Event)| matches!(event, Event::Node(NodeEvent::Added { .. }));
    let last = world.journal.iter().rposition(added).expect("it adds a node");
    let books = world.replayed_to(last + 1);
    (world, books)
}

/// The verdict of an ask and what it fails: code and scope.
fn told(script: &str, key: &str) -> (&'static str, Option<String>) {
    let (world, books) = before_it_moves(script);
    let (ask, scheduler) = (find(&world, key), Scheduler::new(&books));
    let found = explain(&books, &scheduler, ask).expect("it waits");
    let failed = |one: &Check| {
        let (code, scope) = (one.code.as_str(), one.blocker.subject(&books));
        let next = one.holders.first().map(|next| &books.application(next.application).name);
        format!("{code} {scope}: {}", next.map_or("unknown", Name::as_str))
    };
    (found.verdict.word(), found.blocked_by().next().map(failed))
}

fn held_back(by: &str) -> (&'static str, Option<String>) {
    ("heldBack", Some(by.into()))
}

#[test]
fn the_more_urgent_of_an_application_goes_first() {
    let script = "
        queue root.a
        node n1 vcore=1
        app app1 root.a ann
        ask plain app1 vcore=2
        ask urgent app1 vcore=2 prio 5
        wait 1s
        ask urgent2 app1 vcore=2 prio 5
        node n2 vcore=8
        ";
    assert_eq!(told(script, "urgent"), ("startsNext", None));
    assert_eq!(told(script, "urgent2"), held_back("ORDER_BEHIND root.a: app1"));
    assert_eq!(told(script, "plain"), held_back("PRIORITY_BEHIND root.a: app1"));
}

#[test]
fn the_earlier_application_goes_first_where_nothing_is_more_urgent() {
    let script = "
        queue root.a
        node n1 vcore=1
        app app1 root.a ann
        ask early app1 vcore=2
        app app2 root.a bob
        ask late app2 vcore=2
        node n2 vcore=8
        ";
    assert_eq!(told(script, "early"), ("startsNext", None));
    assert_eq!(told(script, "late"), held_back("ORDER_BEHIND root.a: app1"));
}

#[test]
fn the_queue_goes_first_that_uses_less_of_its_share() {
    let script = "
        queue root.a guaranteed vcore=4
        queue root.b guaranteed vcore=4
        node n1 vcore=2
        app app1 root.a ann
        ask running app1 vcore=2
        ask more app1 vcore=2
        app app2 root.b bob
        ask first app2 vcore=2
        node n2 vcore=8
        ";
    assert_eq!(told(script, "first"), ("startsNext", None));
    assert_eq!(told(script, "more"), held_back("SHARE_BEHIND root: app2"));
}

#[test]
fn whoever_is_put_aside_goes_before_nobody() {
    let script = "
        queue root.a max vcore=1
        queue root.b
        app app1 root.a ann
        app app2 root.b bob
        node n1 vcore=1
        ask large app1 vcore=2 prio 9
        ask next app2 vcore=2
        node n2 vcore=8
        ";
    let (world, books) = before_it_moves(script);
    let mut scheduler = Scheduler::new(&books);
    // As soon as it was looked at it stands before nobody.
    let mut events = Vec::new();
    scheduler.next(&books, world.now, &mut events);
    let found = explain(&books, &scheduler, find(&world, "next")).expect("it waits");
    assert_eq!(found.verdict, Verdict::StartsNext);
}

/// Of those that wait in a partition at most one is next, and if the scheduler places one, it is that one.
///
/// Members that replace a placeholder are left out: whether there is one for them is determined when it is their
/// turn, so more than one can appear to be next. Partitions with questions to the RM are also left out, because the
/// RM can refuse the first ask every node with free capacity.
pub(crate) fn is_kept(books: &Books, now: Timestamp, counts: &mut BTreeMap<&'static str, u64>) {
    let scheduler = Scheduler::new(books);
    let mut next: BTreeMap<PartitionId, AllocationId> = BTreeMap::new();
    let mut first: BTreeMap<PartitionId, Vec<(AllocationId, ApplicationId)>> = BTreeMap::new();
    // Within the events of one command an application may have asked and not been accepted yet, which nobody sees.
    let accepted =
        |row: &Allocation| books.application(row.application).state != ApplicationState::New;
    let waiting = books.allocations().iter().filter(|(_, row)| row.is_pending() && accepted(row));
    for (ask, _) in waiting {
        let found = explain(books, &scheduler, ask).expect("it waits");
        let partition = books.application(books.allocation(ask).application).partition;
        let asks_the_rm = books.partition(partition).questions.is_some();
        let is_known = found.checks.iter().any(|one| one.blocker.row().kind == Kind::Node);
        if found.verdict == Verdict::StartsNext && is_known && !asks_the_rm {
            let other = next.insert(partition, ask);
            let other = other.and_then(|one| explain(books, &scheduler, one));
            let told = |one: &Explanation| shown(books, one);
            let (one, other) = (told(&found), other.as_ref().map(told));
            assert_eq!(other, None, "only one is the next, and {ask} is too: {one}");
        }
        count(&found, counts);
        let others = found.blocked_by().filter(|one| matches!(one.blocker, Blocker::Order(..)));
        let named = others.flat_map(|one| &one.holders).map(|next| (ask, next.application));
        first.entry(partition).or_default().extend(named);
    }
    let (mut scheduler, mut events) = (Scheduler::new(books), Vec::new());
    scheduler.next(books, now, &mut events);
    let Some(Event::Ask(AskEvent::Placed { ask, .. })) = events.first() else { return };
    let partition = books.application(books.allocation(*ask).application).partition;
    let application = books.allocation(*ask).application;
    if next.contains_key(&partition) {
        for (other, named) in first.get(&partition).into_iter().flatten() {
            assert_eq!(*named, application, "{other} names another one than {ask}");
            *counts.entry("named as placed").or_default() += 1;
        }
    }
    if let Some(said) = next.get(&partition) {
        let told = |ask| {
            let found = explain(books, &Scheduler::new(books), ask).expect("it waits");
            format!("{:?}\n{}", books.allocation(ask), shown(books, &found))
        };
        assert_eq!(said, ask, "reported as the next: {}, not {}", told(*said), told(*ask));
        *counts.entry("placed as said").or_default() += 1;
    }
}

fn count(found: &Explanation, counts: &mut BTreeMap<&'static str, u64>) {
    *counts.entry(found.verdict.word()).or_default() += 1;
    if let Some(one) = found.blocked_by().find(|one| matches!(one.blocker, Blocker::Order(..))) {
        *counts.entry(one.code.as_str()).or_default() += 1;
    }
}
