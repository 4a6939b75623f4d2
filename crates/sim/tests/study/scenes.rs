//! The scenes as the real core plays them, and as the real `CapacityScheduler` did.

use headroom_sim::study::{End, Point, Run};

use super::{STUDY, played, run};

/// What the queues have in the end, by name.
fn ends(end: &End) -> Vec<(&str, i64)> {
    end.queues.iter().map(|one| (one.name.as_str(), one.used)).collect()
}

fn users(end: &End) -> Vec<i64> {
    end.users.iter().map(|one| one.used).collect()
}

/// What the queue used, each value once.
fn climb(points: &[Point]) -> Vec<i64> {
    let mut used: Vec<i64> = points.iter().map(|point| point.used).collect();
    used.dedup();
    used
}

/// What its user might have at each of these.
fn limit_at(points: &[Point], used: i64) -> Vec<i64> {
    let mut limits: Vec<i64> =
        points.iter().filter(|point| point.used == used).map(|point| point.limit).collect();
    limits.dedup();
    limits
}

#[test]
#[doc(alias = "SD-41")]
fn a_running_leaf_goes_along_the_table() {
    for (formula, column) in [("yarn27", 0), ("yarn3", 1), ("smooth", 2)] {
        let run = run("1", formula);
        let of_table = |used: i64| {
            let row = STUDY.tables.scene_1.iter().find(|row| row.used == used).unwrap();
            [row.yarn27, row.yarn3, row.smooth][column]
        };
        assert_eq!(climb(&run.points), (1..=12).map(|count| count * 8).collect::<Vec<_>>());
        for point in &run.points {
            let row = of_table(point.used);
            // What the formulas of CapacityScheduler give is shown; ours looks at what there is.
            let limit = if formula == "smooth" { row.capped } else { row.raw };
            let expected = (limit, row.headroom);
            assert_eq!((point.limit, point.headroom), expected, "{formula} {point:?}");
        }
        assert_eq!((run.stopped.containers, run.dead_zones.len()), (0, 0));
    }
    // The real ones do the same; 3.4.3 as well where 2.7.3 counts a container more.
    for (recorded, formula) in played("1").recorded.iter().zip(["yarn27", "yarn3"]) {
        assert_eq!(recorded.used, 96);
        for point in recorded.points.iter().filter(|point| point.used > 0) {
            assert_eq!(limit_at(&run("1", formula).points, point.used), [point.limit]);
        }
    }
}

#[test]
#[doc(alias = "SD-42")]
fn the_formulas_of_capacity_scheduler_get_stuck_and_ours_does_not() {
    let zone = |run: &Run| run.dead_zones.last().map(|zone| (zone.used, zone.demand));
    let yarn27 = run("2a", "yarn27");
    assert_eq!(ends(&yarn27.end), [("a", 76), ("b", 24)]);
    assert_eq!(zone(yarn27), Some((24, 6)));
    assert!(yarn27.stopped.containers > 60, "round after round is stopped for nothing");
    let yarn3 = run("2a", "yarn3");
    assert_eq!((ends(&yarn3.end), zone(yarn3)), (vec![("a", 92), ("b", 8)], Some((8, 1))));
    let smooth = run("2a", "smooth");
    assert_eq!((ends(&smooth.end), zone(smooth)), (vec![("a", 68), ("b", 32)], None));
    assert_eq!(smooth.stopped.amount, 32, "what is stopped is what is had");
    // The real ones: the same ends, the same dead zones.
    let recorded: Vec<_> = played("2a")
        .recorded
        .iter()
        .map(|one| (one.version.as_str(), one.used, one.dead_zones.last().map(|zone| zone.demand)))
        .collect();
    assert_eq!(recorded, [("2.7.3", 24, Some(6)), ("3.4.3", 8, Some(1))]);
    let variant = |place: usize| &STUDY.variants[place];
    for place in [0, 1] {
        assert_eq!(ends(&variant(place).run.end), [("a", 68), ("b", 32)], "whole asks alone");
    }
    for (place, formula) in [(2, "yarn27"), (3, "yarn3"), (4, "smooth")] {
        let balance = &variant(place).run;
        assert_eq!(ends(&balance.end), [("a", 52), ("b", 48)], "{formula}");
        assert_eq!((balance.formula, balance.preemption), (formula, "balance"));
        assert_eq!(balance.stopped.amount, 48, "{formula}: nothing is stopped in vain");
    }
}

#[test]
#[doc(alias = "SD-43")]
fn the_limit_jumps_to_what_is_used_and_an_ask_and_the_queue_climbs() {
    // With a minimum allocation as large as an ask the monitor asks for a whole one each time.
    let climbing = run("2b-large-step", "yarn27");
    assert_eq!(climb(&climbing.points), [0, 8, 16, 24, 32, 40, 48]);
    for (used, limit) in [(24, 32), (32, 40), (40, 48), (48, 56)] {
        assert_eq!(limit_at(&climbing.points, used), [limit], "at {used}");
    }
    assert_eq!(ends(&climbing.end), [("a", 48), ("b", 48)]);
    // Version 3 takes nothing for a queue beyond its guarantee.
    let yarn3 = run("2b-large-step", "yarn3");
    assert_eq!(climb(&yarn3.points), [0, 8, 16, 24, 32]);
    assert_eq!(ends(&yarn3.end), [("a", 64), ("b", 32)]);
    let ends_of = |id: &str| -> Vec<(i64, i64)> {
        played(id).recorded.iter().map(|one| (one.others, one.used)).collect()
    };
    assert_eq!(ends_of("2b-large-step"), [(48, 48), (64, 32)], "the real ones");
    // With a small one the limit jumps as well, and the demand is one step: no climb (M-1).
    let small = run("2b", "yarn27");
    assert_eq!(climb(&small.points), [0, 24, 32]);
    assert_eq!((limit_at(&small.points, 24), limit_at(&small.points, 32)), (vec![30], vec![40]));
    assert_eq!(small.points.last().unwrap().demand, 1);
}

#[test]
#[doc(alias = "SD-44")]
fn three_users_block_each_other_and_ours_go_on() {
    let yarn27 = run("3", "yarn27");
    assert_eq!(users(&yarn27.end), [8, 8, 8]);
    let zone = yarn27.dead_zones.last().unwrap();
    assert_eq!((zone.used, zone.demand, zone.to_ms), (24, 6, played("3").end_ms));
    let last = yarn27.points.last().unwrap();
    assert!(last.users.iter().all(|user| (user.used, user.limit) == (8, 10)), "{last:?}");
    let smooth = run("3", "smooth");
    assert_eq!((users(&smooth.end), smooth.dead_zones.len()), (vec![16, 8, 8], 0));
    let variants = &STUDY.variants;
    assert_eq!(users(&variants[5].run.end), [16, 16, 16], "with balance");
    // `strict` blocks all three on an empty cluster, whatever the formula; `progress` goes on.
    for strict in [&variants[6].run, &variants[7].run] {
        assert_eq!((users(&strict.end), strict.end.free), (vec![8, 8, 8], 76));
        assert_eq!(strict.dead_zones.len(), 1, "{}", strict.formula);
    }
    assert_eq!(users(&variants[8].run.end), [32, 32, 32]);
}

#[test]
#[doc(alias = "SD-46")]
fn a_smaller_factor_lets_all_have_the_same() {
    let mut rows = Vec::new();
    for one in &STUDY.smaller_factor {
        let of = |end: &End| -> Vec<i64> { end.queues.iter().map(|one| one.used).collect() };
        assert_eq!((one.large.factor, one.small.factor), ("100", "1.67"));
        rows.push((one.scene, one.formula, of(&one.large.end), of(&one.small.end)));
    }
    let expected = [
        ("2a", "yarn27", vec![76, 24], vec![52, 48]),
        ("2a", "yarn3", vec![92, 8], vec![52, 48]),
        ("2a", "smooth", vec![68, 32], vec![50, 48]),
        ("3", "yarn27", vec![76, 24], vec![52, 48]),
        ("3", "yarn3", vec![76, 24], vec![52, 48]),
        ("3", "smooth", vec![68, 32], vec![50, 48]),
    ];
    assert_eq!(rows, expected);
    for one in STUDY.smaller_factor.iter().filter(|one| one.scene == "3") {
        assert_eq!(users(&one.small.end), [16, 16, 16], "{}", one.formula);
    }
}
