//! Metrics of waiting asks, and of leaves that hold back applications.

use headroom_core::WaitCode;
use headroom_core::resource::Quantity;
use headroom_core::view::{DriversView, drivers};

use super::own::seconds;
use super::scrape::Scrape;
use super::text::{Exposition, Kind, Label};

use Kind::{Counter, Gauge};

/// Label of asks that are not checked yet.
const NEXT: &str = "NEXT";

pub(super) fn write(out: &mut Exposition, scrape: &Scrape<'_>) {
    let codes = || WaitCode::ALL.into_iter().map(WaitCode::as_str).chain([NEXT]);
    let asks = scrape.partitions().flat_map(|(id, name)| {
        // All codes, so that one without waiting asks becomes 0 instead of its last value.
        codes().map(move |code| {
            let count = scrape.waiting.get(&(id, code)).copied().unwrap_or(0);
            (vec![("partition", name), ("reason", code)], count)
        })
    });
    let help = "Waiting asks, by the check that failed when the ask was last checked.";
    out.samples(("headroom_waiting_asks", Gauge, help), asks);
    let oldest = scrape.partitions().map(|(id, name)| {
        let age = scrape.oldest.get(&id).map_or(0, |at| scrape.now.since(*at).get());
        (vec![("partition", name)], seconds(age))
    });
    let help = "Age of the oldest waiting ask; 0 without a waiting ask.";
    out.samples(("headroom_oldest_wait_seconds", Gauge, help), oldest);
    let letters = WaitCode::ALL.map(|code| {
        let letter = code.letter().map(String::from).unwrap_or_default();
        (code, letter)
    });
    let counts = letters.iter().map(|(code, letter)| {
        let labels = vec![("reason", code.as_str()), ("check", letter.as_str())];
        (labels, scrape.view.work.waits.get(*code))
    });
    let help = "Number of times that an ask began to wait, by the check that failed.";
    out.samples(("headroom_held_back_total", Counter, help), counts);
    of_leaves(out, &drivers(&scrape.view.books));
}

fn of_leaves(out: &mut Exposition, leaves: &[DriversView]) {
    for (name, help, count) in [
        (
            "headroom_parked_applications",
            "Applications of a leaf that are not activated yet.",
            (|leaf| leaf.parked) as fn(&DriversView) -> u64,
        ),
        ("headroom_activated_applications", "Activated applications of a leaf.", |leaf| {
            leaf.activated
        }),
    ] {
        out.samples((name, Gauge, help), leaves.iter().map(|leaf| (labels(leaf), count(leaf))));
    }
    let limited = leaves.iter().filter_map(|leaf| Some((leaf, leaf.limit.as_ref()?)));
    let of = |leaf, resource| [labels(leaf), vec![("resource", resource)]].concat();
    let limits = limited.clone().flat_map(|(leaf, limit)| {
        limit.iter().map(move |(resource, amount)| (of(leaf, resource.as_str()), amount.get()))
    });
    let help = "Driver limit of a leaf, in core units.";
    out.samples(("headroom_driver_limit", Gauge, help), limits);
    let used = limited.flat_map(|(leaf, limit)| {
        limit.iter().map(move |(resource, _)| {
            let used = leaf.used.get(resource).map_or(0, Quantity::get);
            (of(leaf, resource.as_str()), used)
        })
    });
    let help = "Usage of the drivers of a leaf, in core units.";
    out.samples(("headroom_driver_used", Gauge, help), used);
}

fn labels(leaf: &DriversView) -> Vec<Label<'_>> {
    vec![("partition", leaf.partition.as_str()), ("queue", leaf.path.as_str())]
}
