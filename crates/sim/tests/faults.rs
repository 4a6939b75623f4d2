//! Whatever goes wrong, nothing is lost and nothing counted twice: the world recounts every task
//! after every moment, and ends the run if one is missing.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod world;

use headroom_sim::fault::FaultSource;
use headroom_sim::outcome::{FaultCounts, JobState};
use headroom_sim::world::Shape;
use world::{count, faults, job, jobs, play, setup};

#[test]
fn random_faults_lose_nothing_whatever_the_shape() {
    for shape in [Shape::Fitting, Shape::Single, Shape::Tasks, Shape::Gang] {
        let mut sums = FaultCounts::default();
        let mut lost = 0;
        for seed in 0..6 {
            let mut setup = setup(shape, jobs(80, 8, seed));
            setup.faults = Some(FaultSource::Random(seed));
            let outcome = play(&setup);
            assert_eq!(count(&outcome, JobState::Finished), 80, "{shape:?}, seed {seed}");
            let found = outcome.counts.faults.unwrap();
            sums.nodes_lost += found.nodes_lost;
            sums.nodes_back += found.nodes_back;
            sums.nodes_drained += found.nodes_drained;
            sums.reconnects += found.reconnects;
            sums.recoveries += found.recoveries;
            sums.unknown_releases += found.unknown_releases;
            sums.refused += found.refused;
            sums.confirmed_late += found.confirmed_late;
            sums.confirmed_very_late += found.confirmed_very_late;
            sums.confirmed_twice += found.confirmed_twice;
            lost += outcome.allocations.iter().filter(|one| one.ended_by == "node-lost").count();
        }
        let struck = [
            sums.nodes_lost,
            sums.nodes_back,
            sums.nodes_drained,
            sums.reconnects,
            sums.recoveries,
            sums.unknown_releases,
            sums.refused,
        ];
        assert!(struck.iter().all(|count| *count > 0), "{shape:?}: {sums:?}");
        assert!(lost > 0, "{shape:?}: no task was lost with its node");
        if shape == Shape::Gang {
            let late = [sums.confirmed_late, sums.confirmed_very_late, sums.confirmed_twice];
            assert!(late.iter().all(|count| *count > 0), "{sums:?}");
        }
    }
}

#[test]
fn another_seed_gives_another_history() {
    let digest = |seed| {
        let mut setup = setup(Shape::Gang, jobs(30, 8, 1));
        setup.faults = Some(FaultSource::Random(seed));
        play(&setup).digest
    };
    assert_ne!(digest(1), digest(2));
}

#[test]
fn what_a_node_takes_with_it_is_asked_for_again_and_the_node_comes_back() {
    // It needs all of the cluster. Of a gang, placeholders go that are just being replaced, whose
    // members then wait like others; or the members themselves.
    for (shape, lost_at) in [(Shape::Tasks, 5_000), (Shape::Gang, 500), (Shape::Gang, 5_000)] {
        let mut setup = setup(shape, vec![job("j", "root.a", 0, 60_000, 80)]);
        let text =
            format!("faults:\n  - {{at_ms: {lost_at}, kind: lose, node: n0001, for_ms: 10000}}\n");
        setup.faults = Some(faults(&format!("lose-{shape:?}-{lost_at}.yaml"), &text));
        let outcome = play(&setup);
        let lost = outcome.allocations.iter().filter(|one| one.ended_by == "node-lost").count();
        assert_eq!((lost, count(&outcome, JobState::Finished)), (8, 1), "{shape:?} {lost_at}");
        let spans: Vec<(u64, Option<u64>)> = outcome
            .nodes
            .iter()
            .filter(|node| node.name == *"n0001")
            .map(|node| (node.from_ms, node.to_ms))
            .collect();
        assert_eq!(spans, [(0, Some(lost_at)), (lost_at + 10_000, None)]);
        let found = outcome.counts.faults.unwrap();
        assert_eq!((found.nodes_lost, found.nodes_back, found.total()), (1, 1, 1));
        let after = outcome.allocations.iter().filter(|one| one.start_ms == lost_at + 10_000);
        let again = after.clone().filter(|one| one.key.contains("again")).count();
        assert_eq!((after.count(), again), (8, if lost_at == 500 { 0 } else { 8 }), "{shape:?}");
    }
}

#[test]
fn an_rm_that_is_late_or_says_everything_twice_changes_times_only() {
    let mut setup = setup(Shape::Gang, vec![job("j", "root.a", 0, 60_000, 4)]);
    let text = "faults:\n  - {at_ms: 0, kind: late, for_ms: 10, after_ms: 45000}\n  - {at_ms: 0, kind: twice, for_ms: 10}\n";
    setup.faults = Some(faults("late.yaml", text));
    let outcome = play(&setup);
    let found = outcome.counts.faults.unwrap();
    // A second confirmation is harmless, and no refusal.
    assert_eq!((found.confirmed_late, found.confirmed_twice, found.refused), (4, 4, 0));
    let tasks: Vec<(u64, Option<u64>)> = outcome
        .allocations
        .iter()
        .filter(|one| !one.placeholder)
        .map(|one| (one.start_ms, one.end_ms))
        .collect();
    assert_eq!(tasks, [(45_000, Some(105_000)); 4]);
}

#[test]
fn what_the_node_file_plans_after_the_end_did_not_happen() {
    let mut setup = setup(Shape::Tasks, vec![job("long", "root.a", 0, 600_000, 9)]);
    setup.nodes.truncate(4);
    let minutes = [(0, Some(1)), (0, Some(5)), (6, None), (2, Some(6))];
    for (node, (from, to)) in setup.nodes.iter_mut().zip(minutes) {
        node.from_ms = from * 60_000;
        node.to_ms = to.map(|to: u64| to * 60_000);
    }
    setup.until_ms = Some(5 * 60_000);
    let outcome = play(&setup);
    let names = |position: usize| setup.nodes[position].name.clone();
    let nodes: Vec<_> =
        outcome.nodes.iter().map(|node| (node.name.clone(), node.from_ms, node.to_ms)).collect();
    assert_eq!(
        nodes,
        [(names(0), 0, Some(60_000)), (names(1), 0, Some(300_000)), (names(3), 120_000, None),]
    );
    // Both that the first nodes took with them run on the last, whose record has moved.
    let open: Vec<_> = outcome.allocations.iter().filter(|one| one.end_ms.is_none()).collect();
    assert_eq!(open.len(), 8);
    assert!(open.iter().all(|one| outcome.nodes[one.node].name == names(3)), "{open:?}");
}
