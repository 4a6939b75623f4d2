//! The ring of records, and the bands of use.

use headroom_core::record::{Change, Detail, Kind, Ring};
use headroom_core::resource::Quantity;
use headroom_core::view::band;

fn ring_of(capacity: usize, count: u64) -> Ring<u64> {
    let mut ring = Ring::new(capacity);
    for id in 0..count {
        assert_eq!(ring.push(id), id);
    }
    ring
}

/// Returns what is stored, by a query: lowest and highest id, and the records.
fn query(ring: &Ring<u64>, start: u64, count: usize) -> (u64, u64, Vec<u64>) {
    let found = ring.query(start, count);
    (found.lowest, found.highest, found.records.copied().collect())
}

#[test]
#[doc(alias = "scheduling W38")]
fn ids_survive_wrapping_and_resizing() {
    let mut ring = ring_of(5, 8);
    assert_eq!(query(&ring, 0, 10), (3, 7, vec![]));
    assert_eq!(query(&ring, 5, 10), (3, 7, vec![5, 6, 7]));
    ring.resize(3);
    assert_eq!(query(&ring, 5, 10), (5, 7, vec![5, 6, 7]));
    assert_eq!(query(&ring, 4, 10), (5, 7, vec![]));
}

#[test]
fn a_query_outside_the_range_finds_nothing_and_says_the_range() {
    let ring = ring_of(5, 8);
    for (start, count, expected) in [
        (2, 1, vec![]),
        (3, 1, vec![3]),
        (3, 0, vec![]),
        (3, usize::MAX, vec![3, 4, 5, 6, 7]),
        (7, 9, vec![7]),
        (8, 1, vec![]),
        (u64::MAX, 1, vec![]),
    ] {
        assert_eq!(query(&ring, start, count), (3, 7, expected), "{count} from {start}");
    }
    let empty = ring_of(5, 0);
    assert_eq!(query(&empty, 0, 10), (0, 0, vec![]));
    assert_eq!((empty.is_empty(), empty.next_id()), (true, 0));
}

#[test]
fn a_ring_grows_and_shrinks_and_keeps_the_newest() {
    let mut ring = ring_of(3, 5);
    ring.resize(4);
    assert_eq!(query(&ring, 2, 10), (2, 4, vec![2, 3, 4]));
    ring.push(5);
    ring.push(6);
    assert_eq!(query(&ring, 3, 10), (3, 6, vec![3, 4, 5, 6]));
    assert_eq!(ring.newest(2).copied().collect::<Vec<_>>(), [5, 6]);
    assert_eq!(ring.newest(9).len(), 4);
    ring.resize(0);
    assert_eq!((ring.capacity(), ring.len()), (100_000, 4));
    ring.resize(1);
    assert_eq!(query(&ring, 6, 10), (6, 6, vec![6]));
}

#[test]
fn the_numbers_are_those_of_the_protocol_and_no_two_alike() {
    let numbers: Vec<i32> = Detail::ALL.iter().map(|detail| detail.number()).collect();
    assert!(numbers.is_sorted_by(|one, other| one < other));
    for (detail, number, word) in [
        (Detail::None, 0, "DETAILS_NONE"),
        (Detail::RequestTimeout, 102, "REQUEST_TIMEOUT"),
        (Detail::AppAccepted, 204, "APP_ACCEPTED"),
        (Detail::AppRunning, 206, "APP_RUNNING"),
        (Detail::AppRunnableQuota, 216, "APP_RUNNABLE_QUOTA"),
        (Detail::NodeDecommission, 300, "NODE_DECOMISSION"),
        (Detail::NodeSchedulable, 302, "NODE_SCHEDULABLE"),
        (Detail::NodeReservation, 306, "NODE_RESERVATION"),
        (Detail::QueuePreemption, 407, "QUEUE_PREEMPTION"),
        (Detail::AllocNodeRemoved, 504, "ALLOC_NODEREMOVED"),
        (Detail::GroupResource, 604, "UG_GROUP_RESOURCE"),
    ] {
        assert_eq!((detail.number(), detail.word()), (number, word));
    }
    let kinds = [Kind::Request, Kind::Application, Kind::Node, Kind::Queue, Kind::UserGroup];
    assert_eq!(kinds.map(Kind::number), [1, 2, 3, 4, 5]);
    assert_eq!(kinds.map(Kind::word), ["REQUEST", "APP", "NODE", "QUEUE", "USERGROUP"]);
    let changes = [Change::None, Change::Set, Change::Add, Change::Remove];
    assert_eq!(changes.map(Change::number), [0, 1, 2, 3]);
    assert_eq!(changes.map(Change::word), ["NONE", "SET", "ADD", "REMOVE"]);
}

#[test]
#[doc(alias = "scheduling W37")]
fn bands_of_use() {
    for (used, total, expected) in [
        (0, 10, 0),
        (1, 10, 0),
        (101, 1_000, 1),
        (35, 100, 3),
        (120, 100, 9),
        (100, 100, 9),
        (2, 10, 1),
    ] {
        let found = band(Quantity::of(used), Quantity::of(total));
        assert_eq!(found, expected, "{used} of {total}");
    }
}
