//! The tables of the seed's arithmetic, number by number.

use headroom_sim::study::{Cell, Next, Outcome, tables};

const fn cell((raw, capped, headroom): (i64, i64, i64)) -> Cell {
    Cell { raw, capped, headroom }
}

#[test]
#[doc(alias = "SD-41")]
fn one_user_has_the_guarantee_and_then_what_he_uses_and_a_container() {
    // User-headroom §7.1: used; limit and headroom of each formula, the limit before and after what
    // bounds it (decision L-13).
    let expected = [
        (0, (40, 40, 40), (12, 12, 12), (40, 40, 40)),
        (8, (40, 40, 32), (12, 12, 4), (40, 40, 32)),
        (16, (40, 40, 24), (17, 17, 1), (40, 40, 24)),
        (24, (40, 40, 16), (25, 25, 1), (40, 40, 16)),
        (32, (40, 40, 8), (33, 33, 1), (40, 40, 8)),
        (40, (48, 48, 8), (41, 41, 1), (48, 48, 8)),
        (48, (56, 56, 8), (49, 49, 1), (56, 56, 8)),
        (56, (64, 64, 8), (57, 57, 1), (64, 64, 8)),
        (64, (72, 72, 8), (65, 65, 1), (72, 72, 8)),
        (72, (80, 80, 8), (73, 73, 1), (80, 80, 8)),
        (80, (88, 88, 8), (81, 81, 1), (88, 88, 8)),
        (88, (96, 96, 8), (89, 89, 1), (96, 96, 8)),
        (96, (104, 100, 4), (97, 97, 1), (104, 100, 4)),
    ];
    let rows = tables().scene_1;
    assert_eq!(rows.len(), expected.len());
    for (row, (used, yarn27, yarn3, smooth)) in rows.into_iter().zip(expected) {
        assert_eq!(row.used, used);
        assert_eq!(row.yarn27, cell(yarn27), "yarn27 at {used}");
        assert_eq!(row.yarn3, cell(yarn3), "yarn3 at {used}");
        assert_eq!(row.smooth, cell(smooth), "smooth at {used}");
        let next = if used == 96 { Next::NoQueueMax } else { Next::Yes };
        assert_eq!(row.next, next, "at {used}");
    }
}

#[test]
fn the_table_of_scene_2() {
    // User-headroom §7.2: used; limit; demand by yarn27, yarn3 with 30 and with 100; ideal of A and B
    // by 2.7.3 and by version 3; freed, and what comes of it; whole asks.
    let expected = [
        (0, 30, [30, 9, 30], [70, 30], [70, 30], 30, Outcome::Starts(3), 32),
        (24, 30, [6, 1, 6], [70, 30], [70, 30], 6, Outcome::Stuck, 8),
        (32, 40, [8, 1, 1], [60, 40], [68, 32], 8, Outcome::Starts(1), 0),
        (40, 48, [8, 1, 1], [52, 48], [60, 40], 8, Outcome::Starts(1), 0),
        (48, 56, [8, 1, 1], [50, 50], [52, 48], 2, Outcome::End, 0),
    ];
    let rows = tables().scene_2;
    assert_eq!(rows.len(), expected.len());
    for (row, (used, limit, demands, ideal_2_7, ideal_3, frees, outcome, asks)) in
        rows.into_iter().zip(expected)
    {
        assert_eq!((row.used, row.yarn27_limit), (used, limit));
        let found = [row.yarn27_demand, row.yarn3_demand_p30, row.yarn3_demand_p100];
        assert_eq!(found, demands, "demands at {used}");
        assert_eq!((row.ideal_2_7, row.ideal_3), (ideal_2_7, ideal_3), "at {used}");
        assert_eq!((row.frees, row.outcome), (frees, outcome), "at {used}");
        assert_eq!(row.whole_asks, asks, "whole asks at {used}");
    }
}

#[test]
fn the_table_of_scene_3() {
    // User-headroom §7.3: of each user; of all; limit; headroom of each; demand; and below the table
    // share by smooth, and whole asks.
    let expected = [
        ([0, 0, 0], 0, 10, [10, 10, 10], 30, 10, 32),
        ([8, 8, 8], 24, 10, [2, 2, 2], 6, 11, 8),
        ([16, 8, 8], 32, 14, [0, 6, 6], 12, 14, 0),
        ([16, 16, 8], 40, 16, [0, 0, 8], 8, 16, 0),
        ([16, 16, 16], 48, 19, [3, 3, 3], 9, 19, 0),
        ([24, 16, 16], 56, 22, [0, 6, 6], 12, 22, 0),
    ];
    let rows = tables().scene_3;
    assert_eq!(rows.len(), expected.len());
    for (row, (users, used, limit, headroom, demand, share, asks)) in rows.iter().zip(expected) {
        assert_eq!((row.users, row.used), (users, used));
        assert_eq!((row.limit, row.headroom, row.demand), (limit, headroom, demand), "{users:?}");
        assert_eq!((row.smooth_share, row.whole_asks), (share, asks), "{users:?}");
    }
    // At (8, 8, 8) no user has a container left of the share. `progress` lets each continue, and then those who do
    // not exceed theirs.
    assert_eq!((rows[1].progress, rows[1].strict), ([true; 3], [false; 3]));
    assert_eq!(rows[2].progress, [false, true, true]);
    assert_eq!(rows[3].progress, [true, true, true]);
}

#[test]
fn what_the_monitor_takes_by_default() {
    let monitor = &super::STUDY.monitor;
    assert_eq!((monitor.need, monitor.first_round, monitor.guaranteed), (30, 2, 30));
    let ignored: Vec<_> =
        monitor.ignored_up_to.iter().map(|one| (one.dead_zone, one.up_to)).collect();
    assert_eq!(ignored, [("0.1", 33), ("0.2", 36)]);
}
