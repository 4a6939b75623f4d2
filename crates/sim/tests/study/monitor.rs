//! What a round of `CapacityScheduler`'s monitor takes, and what Headroom takes a queue to want.

use headroom_core::userlimit::Decimal;
use headroom_sim::study::monitor::{Monitor, Side, whole_asks};

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

#[test]
#[doc(alias = "UH-26")]
fn a_round_takes_a_part_of_a_part() {
    let monitor = Monitor::by_default();
    assert_eq!(monitor.this_round(100, &[30]), [2], "30 is scaled to 10, and a fifth of it");
    assert_eq!(monitor.this_round(100, &[10]), [2], "10 is not scaled");
    assert_eq!(monitor.this_round(100, &[20, 10]), [1, 0], "6 and 3, and a fifth of each");
    let sides = [
        Side { guaranteed: 30, used: 60, demand: 0 },
        Side { guaranteed: 70, used: 40, demand: 30 },
    ];
    assert_eq!(monitor.round(100, &sides), [2, 0]);
    assert_eq!(Monitor::at_once(false).round(100, &sides), [30, 0]);
}

#[test]
#[doc(alias = "UH-27")]
fn a_little_above_the_guarantee_is_left_alone() {
    for (dead_zone, ignored, taken) in [("0.1", 55, [0, 8]), ("0.2", 60, [0, 0])] {
        let monitor = Monitor { dead_zone: decimal(dead_zone), ..Monitor::at_once(false) };
        assert_eq!(monitor.ignored_up_to(50), ignored);
        let from = [52, 58].map(|used| {
            let above = Side { guaranteed: 50, used, demand: 0 };
            let below = Side { guaranteed: 50, used: 100 - used, demand: 20 };
            monitor.round(100, &[above, below])[0]
        });
        assert_eq!(from, taken, "dead zone {dead_zone}");
    }
}

#[test]
fn demand_of_whole_asks_ends_with_the_promise() {
    // UH-40: 24 of 30 and 7 asks of 8 that wait, and nothing and ten of them.
    assert_eq!([whole_asks(24, 30, 8, 7), whole_asks(0, 30, 8, 10)], [8, 32]);
    assert_eq!([whole_asks(24, 30, 8, 0), whole_asks(30, 30, 8, 7)], [0, 0]);
}

#[test]
#[doc(alias = "UH-25")]
fn version_3_takes_nothing_for_a_queue_beyond_its_guarantee() {
    let sides = [
        Side { guaranteed: 30, used: 68, demand: 60 },
        Side { guaranteed: 30, used: 32, demand: 8 },
        Side { guaranteed: 40, used: 0, demand: 0 },
    ];
    assert_eq!(Monitor::at_once(false).ideal(100, &sides), [60, 40, 0]);
    assert_eq!(Monitor::at_once(true).ideal(100, &sides), [68, 32, 0]);
}
