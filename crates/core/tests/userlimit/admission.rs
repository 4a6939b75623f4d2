//! When an ask is too much for its user.

use headroom_core::Name;
use headroom_core::resource::{Quantity, Resources};
use headroom_core::testkit::tell_world;
use headroom_core::userlimit::{Calculator, Enforcement, Leaf, Limit, Rules};

use super::{memory, smooth, vector};

/// Under strict, progress and overshoot.
fn admitted(
    rules: &Rules,
    leaf: &Leaf,
    limit: &Limit,
    used: &Resources,
    ask: &Resources,
) -> [bool; 3] {
    let all = [Enforcement::Strict, Enforcement::Progress, Enforcement::Overshoot];
    all.map(|enforcement| Rules { enforcement, ..rules.clone() }.admits(leaf, limit, used, ask))
}

#[test]
#[doc(alias = "UH-15")]
fn each_enforcement_draws_its_own_line() {
    let (rules, leaf) = (smooth("100", None), Leaf { total: memory(100), ..Leaf::default() });
    let of = |hard| {
        let limit = Limit { soft: memory(30), hard: memory(hard), limit: memory(30) };
        admitted(&rules, &leaf, &limit, &memory(30), &memory(8))
    };
    assert_eq!(of(40), [false, true, true]);
    assert_eq!(of(36), [false, false, true]);
}

#[test]
#[doc(alias = "UH-17")]
fn a_dominant_share_may_hide_what_is_over_in_another_type() {
    let leaf = Leaf { total: vector(&[1_000, 200]), ..Leaf::default() };
    let limit = Limit { limit: vector(&[300, 30]), ..Limit::default() };
    let passes = |calculator| {
        let rules = Rules { calculator, ..smooth("100", None) };
        admitted(&rules, &leaf, &limit, &vector(&[290, 50]), &vector(&[1, 1]))[2]
    };
    assert!(passes(Calculator::Dominant), "0.29 of 0.30");
    assert!(!passes(Calculator::Componentwise), "50 cores of 30");
}

#[test]
fn a_type_that_the_ask_does_not_need_keeps_nobody() {
    let (rules, leaf) = (smooth("100", None), Leaf::default());
    let limit = vector(&[300, 30]);
    let limit = Limit { soft: limit.clone(), hard: limit.clone(), limit };
    let of = |ask| admitted(&rules, &leaf, &limit, &vector(&[290, 50]), &ask);
    assert_eq!(of(memory(8)), [true; 3]);
    assert_eq!(of(vector(&[8, 1])), [false; 3]);
}

#[test]
#[doc(alias = "UH-31")]
fn an_ask_counts_as_whole_increments_and_the_minimum_at_least() {
    let rules = Rules { step: memory(1_024), ..Rules::default() };
    let all = [100, 1_024, 1_300, 2_048, 2_049];
    let by = |increment| all.map(|ask| rules.normalised(&memory(ask), &memory(increment)));
    assert_eq!(by(512), [1_024, 1_024, 1_536, 2_048, 2_560].map(memory));
    // As CapacityScheduler has it, where the increment is the minimum (M-8).
    assert_eq!(by(1_024), [1_024, 1_024, 2_048, 2_048, 3_072].map(memory));
}

#[test]
#[doc(alias = "C8")]
#[doc(alias = "UH-31")]
fn an_ask_counts_between_the_minimum_and_the_maximum_allocation() {
    let counted = |largest: &str| {
        let world = tell_world(&format!(
            "queue root.q share smooth step mb=1024 increment mb=512 {largest}
             node n1 mb=100000"
        ));
        let books = &world.books;
        let (partition, _) = books.partitions().first_key_value().unwrap();
        let leaf = books.queue_at(*partition, "root.q").unwrap();
        let mb = books.types().find(&Name::new("mb")).unwrap();
        [100, 1_024, 1_300, 2_048, 2_049].map(|amount| {
            let mut ask = Resources::new();
            ask.set(mb, Quantity::of(amount));
            books.users_of(leaf).unwrap().normalised(&ask).get_or_zero(mb).get()
        })
    };
    assert_eq!(counted(""), [1_024, 1_024, 1_536, 2_048, 2_560]);
    // The largest is no whole number of increments.
    assert_eq!(counted("largest mb=2304"), [1_024, 1_024, 1_536, 2_048, 2_304]);
    // An allocation that grew beyond it counts as it is.
    assert_eq!(counted("largest mb=2048"), [1_024, 1_024, 1_536, 2_048, 2_049]);
}
