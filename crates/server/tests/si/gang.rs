//! Item 5 of the list: gangs. What a member takes the place of is stopped by the RM first.

use headroom_api::si::v1::node_info::ActionFromRm;
use headroom_api::si::v1::{AddApplicationRequest, Allocation, TerminationType};

use crate::support::{QUEUES, Rm, Server, ask, new, placed, until, vcores};

const REPLACED: TerminationType = TerminationType::PlaceholderReplaced;
const TIMEOUT: TerminationType = TerminationType::Timeout;

fn placeholder(key: &str, size: i64) -> Allocation {
    Allocation { task_group_name: "tg".into(), placeholder: true, ..ask("gang", key, size) }
}

fn member(key: &str, size: i64) -> Allocation {
    Allocation { task_group_name: "tg".into(), ..ask("gang", key, size) }
}

/// A gang of this size, whose placeholders have two minutes.
async fn gang(server: &Server, style: &str, nodes: &[(&str, i64)]) -> Rm {
    let mut rm = Rm::on(server, QUEUES).await;
    rm.create(nodes).await;
    let mut one = new("gang", "root.a");
    one.placeholder_ask = vcores(4);
    one.gang_scheduling_style = style.into();
    one.execution_timeout_milli_seconds = 120_000;
    rm.add(one);
    assert_eq!(rm.applications.next().await.accepted.len(), 1);
    rm
}

/// Have the placeholders take their places.
async fn hold(server: &Server, rm: &mut Rm, keys: &[&str]) {
    rm.ask(keys.iter().map(|key| placeholder(key, 2)).collect());
    rm.states(1).await;
    server.turn(10).await;
    assert_eq!(rm.allocated(keys.len()).await.len(), keys.len());
}

/// Turn once the ask is in the books.
async fn turn_with(server: &Server, count: usize) {
    until("the asks are there", async || {
        server.handle.views().at_least(0).await.books.allocations().iter().count() == count
    })
    .await;
    server.turn(10).await;
}

/// Item 5: a member on the node of its placeholder, a smaller one too.
#[tokio::test]
async fn a_member_takes_the_place_of_its_placeholder_once_that_is_stopped() {
    for size in [2, 1] {
        let server = Server::start().await;
        let mut rm = gang(&server, "Soft", &[("n1", 4)]).await;
        hold(&server, &mut rm, &["p1", "p2"]).await;
        rm.ask(vec![member("m1", size)]);
        turn_with(&server, 3).await;
        let replaced = rm.released(1).await;
        assert_eq!(replaced[0].1, REPLACED, "size {size}");
        rm.allocations.silent().await;
        rm.release("gang", &replaced[0].0, REPLACED);
        assert_eq!(rm.allocated(1).await, [("m1".to_owned(), "n1".to_owned())]);
        assert_eq!(rm.states(1).await, ["Running"]);
        // A confirmation that comes twice is harmless.
        rm.release("gang", &replaced[0].0, REPLACED);
        rm.allocations.silent().await;
    }
}

/// Item 5: a member that is larger than its placeholder has that given up, and waits like others.
#[tokio::test]
async fn a_placeholder_that_is_too_small_is_given_up() {
    let server = Server::start().await;
    let mut rm = gang(&server, "Soft", &[("n1", 4)]).await;
    hold(&server, &mut rm, &["p1", "p2"]).await;
    rm.ask(vec![member("m1", 3)]);
    turn_with(&server, 3).await;
    let given_up = rm.released(2).await;
    assert!(given_up.iter().all(|(_, kind)| *kind == TIMEOUT), "{given_up:?}");
    for (key, kind) in given_up {
        rm.release("gang", &key, kind);
    }
    turn_with(&server, 1).await;
    assert_eq!(rm.allocated(1).await, [("m1".to_owned(), "n1".to_owned())]);
}

/// Item 5: the node of a placeholder is drained; its member runs on another.
#[tokio::test]
async fn a_member_may_run_on_another_node_than_its_placeholder() {
    let server = Server::start().await;
    let mut rm = gang(&server, "Soft", &[("n1", 4)]).await;
    hold(&server, &mut rm, &["p1", "p2"]).await;
    let elsewhere = Allocation {
        allocation_tags: [("yunikorn.apache.org/requiredNode".to_owned(), "n2".to_owned())].into(),
        ..member("m1", 2)
    };
    rm.create(&[("n2", 4)]).await;
    rm.ask(vec![elsewhere]);
    turn_with(&server, 3).await;
    let replaced = rm.released(1).await;
    assert_eq!(replaced[0].1, REPLACED);
    rm.release("gang", &replaced[0].0, REPLACED);
    assert_eq!(rm.allocated(1).await, [("m1".to_owned(), "n2".to_owned())]);
}

/// Item 5: the node of the placeholder goes while the RM stops it.
#[tokio::test]
async fn the_node_of_a_swap_may_go() {
    let server = Server::start().await;
    let mut rm = gang(&server, "Soft", &[("n1", 4)]).await;
    hold(&server, &mut rm, &["p1", "p2"]).await;
    rm.ask(vec![member("m1", 2)]);
    turn_with(&server, 3).await;
    rm.released(1).await;
    rm.act("n1", ActionFromRm::Decomission);
    let gone = rm.released(2).await;
    assert!(gone.iter().all(|(_, kind)| *kind == TerminationType::StoppedByRm), "{gone:?}");
    rm.create(&[("n2", 4)]).await;
    server.turn(10).await;
    assert_eq!(
        rm.allocated(1).await,
        [("m1".to_owned(), "n2".to_owned())],
        "the member waits again"
    );
}

/// Item 5, scheduler interface §7.1: if the node of the placeholder is removed and the member is on
/// another node, the removal counts as a confirmation.
#[tokio::test]
async fn the_node_of_a_placeholder_may_go_whose_member_runs_elsewhere() {
    let server = Server::start().await;
    let mut rm = gang(&server, "Soft", &[("n1", 4)]).await;
    hold(&server, &mut rm, &["p1", "p2"]).await;
    rm.create(&[("n2", 4)]).await;
    let requires = ("yunikorn.apache.org/requiredNode".to_owned(), "n2".to_owned());
    rm.ask(vec![Allocation { allocation_tags: [requires].into(), ..member("m1", 2) }]);
    turn_with(&server, 3).await;
    let replaced = rm.released(1).await.remove(0);
    assert_eq!(replaced.1, REPLACED);
    rm.act("n1", ActionFromRm::Decomission);
    // All that was there first, in one message; then the member.
    let mut gone = rm.allocations.next().await;
    gone.released.sort_by(|one, other| one.allocation_key.cmp(&other.allocation_key));
    let keys: Vec<&str> = gone.released.iter().map(|one| &*one.allocation_key).collect();
    assert_eq!((keys, gone.new.len()), (vec!["p1", "p2"], 0));
    let stopped = TerminationType::StoppedByRm;
    assert!(gone.released.iter().all(|one| one.termination_type() == stopped), "{gone:?}");
    assert_eq!(rm.allocated(1).await, [("m1".to_owned(), "n2".to_owned())]);
    // The confirmation comes late, and there is nothing left to confirm.
    rm.release("gang", &replaced.0, REPLACED);
    rm.allocations.silent().await;
    let shown = server.json("/ws/v1/partition/default/node/n2").await;
    assert_eq!(shown["allocated"]["vcore"], 2_000, "{shown}");
}

/// Scheduler interface §7.3: a running application releases its placeholders at the timeout, and continues.
#[tokio::test]
async fn a_gang_that_runs_gives_up_what_was_not_used_in_time() {
    let server = Server::start().await;
    let mut rm = gang(&server, "Hard", &[("n1", 4)]).await;
    hold(&server, &mut rm, &["p1", "p2"]).await;
    rm.ask(vec![member("m1", 2)]);
    turn_with(&server, 3).await;
    let replaced = rm.released(1).await.remove(0).0;
    rm.release("gang", &replaced, REPLACED);
    assert_eq!(rm.allocated(1).await, [("m1".to_owned(), "n1".to_owned())]);
    assert_eq!(rm.states(1).await, ["Running"]);
    server.turn(121_000).await;
    let left = if replaced == "p1" { "p2" } else { "p1" };
    assert_eq!(rm.released(1).await, [(left.to_owned(), TIMEOUT)]);
    rm.release("gang", left, TIMEOUT);
    rm.allocations.silent().await;
    rm.applications.silent().await;
    let shown = server.json("/ws/v1/partition/default/application/gang").await;
    assert_eq!(shown["applicationState"], "Running", "{shown}");
    assert_eq!(shown["usedResource"]["vcore"], 2_000, "{shown}");
}

/// Scheduler interface §7.3: an application without members left releases its unused placeholders.
#[tokio::test]
async fn a_gang_that_completes_gives_up_what_nobody_took() {
    let server = Server::start().await;
    let mut rm = gang(&server, "Soft", &[("n1", 4)]).await;
    hold(&server, &mut rm, &["p1", "p2"]).await;
    rm.ask(vec![member("m1", 2)]);
    turn_with(&server, 3).await;
    let replaced = rm.released(1).await.remove(0).0;
    rm.release("gang", &replaced, REPLACED);
    rm.allocated(1).await;
    assert_eq!(rm.states(1).await, ["Running"]);
    rm.release("gang", "m1", TerminationType::StoppedByRm);
    assert_eq!(rm.released(1).await, [("m1".to_owned(), TerminationType::StoppedByRm)]);
    assert_eq!(rm.states(1).await, ["Completing"]);
    server.turn(31_000).await;
    let left = if replaced == "p1" { "p2" } else { "p1" };
    assert_eq!(rm.released(1).await, [(left.to_owned(), TIMEOUT)]);
    rm.release("gang", left, TIMEOUT);
    until("nothing is left", async || {
        server.turn(31_000).await;
        server.handle.views().at_least(0).await.books.allocations().iter().count() == 0
    })
    .await;
    assert_eq!(rm.states(1).await, ["Completed"]);
}

/// Item 5: a gang that is not complete in time starts over, or fails. What it holds is stopped.
#[tokio::test]
async fn a_gang_that_is_not_complete_in_time_resumes_or_fails() {
    for (style, expected) in [("Soft", ["Resuming", "Accepted"]), ("Hard", ["Failing", "Failed"])] {
        let server = Server::start().await;
        let mut rm = gang(&server, style, &[("n1", 3)]).await;
        rm.ask(vec![placeholder("p1", 2), placeholder("p2", 2)]);
        rm.states(1).await;
        server.turn(10).await;
        let held = rm.allocated(1).await.remove(0).0;
        server.turn(121_000).await;
        let update = rm.applications.next().await.updated.remove(0);
        assert_eq!((&*update.state, &*update.message), (expected[0], "ResourceReservationTimeout"));
        let mut given_up = rm.released(2).await;
        given_up.sort();
        assert_eq!(given_up, ["p1", "p2"].map(|key| (key.to_owned(), TIMEOUT)), "{style}");
        // What only waited is gone already; what was held counts until the RM has stopped it.
        for key in ["p1", "p2"] {
            rm.release("gang", key, TIMEOUT);
        }
        assert_eq!(rm.states(1).await, [expected[1]], "{style}, {held} was held");
    }
}

/// Scheduler interface §2.3: the style is case-sensitive. A timeout of 0 or with an overflow is 15 minutes.
#[tokio::test]
async fn a_style_that_nobody_knows_is_soft_and_a_time_that_is_none_is_a_quarter_of_an_hour() {
    for (style, millis) in [("hard", i64::MAX), ("", 0), ("odd", -1)] {
        let server = Server::start().await;
        let mut rm = Rm::on(&server, QUEUES).await;
        rm.create(&[("n1", 3)]).await;
        let one = new("gang", "root.a");
        rm.add(AddApplicationRequest {
            placeholder_ask: vcores(4),
            gang_scheduling_style: style.into(),
            execution_timeout_milli_seconds: millis,
            ..one
        });
        assert_eq!(rm.applications.next().await.accepted.len(), 1);
        rm.ask(vec![placeholder("p1", 2), placeholder("p2", 2)]);
        rm.states(1).await;
        server.turn(10).await;
        rm.allocated(1).await;
        server.turn(15 * 60_000 - 20).await;
        rm.applications.silent().await;
        server.turn(20).await;
        assert_eq!(rm.states(1).await, ["Resuming"], "{style:?}, {millis} ms");
    }
}

/// Item 5: an allocation that was there before its gang.
#[tokio::test]
async fn a_placeholder_may_come_back_as_it_ran() {
    let server = Server::start().await;
    let mut rm = gang(&server, "Soft", &[("n1", 4)]).await;
    rm.ask(vec![Allocation {
        task_group_name: "tg".into(),
        placeholder: true,
        ..placed("gang", "p1", 2, "n1")
    }]);
    let echo = rm.allocations.next().await.new.remove(0);
    assert!(echo.placeholder);
    assert_eq!((&*echo.task_group_name, &*echo.node_id), ("tg", "n1"));
}
