//! Tenants and their tasks against a simple model of their own: random commands, and after each of them
//! the same usage, the same states, the same lines, and the same starts. Source: tenants §5, TS-36.

mod dice;
mod drive;
mod model;
mod moves;

use moves::play;

/// How many steps from each seed: `HEADROOM_STEPS`, or enough for every day.
fn steps() -> u64 {
    number_in("HEADROOM_STEPS").unwrap_or(6_000)
}

fn number_in(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// What must have happened at least once, or the steps do not test it.
const REACHED: &[&str] = &[
    "started by Fifo",
    "started by Backfill",
    "started by Priority",
    "started by Urgency",
    "overtaken",
    "throttled",
    "evicted",
    "ended Succeeded",
    "ended Failed",
    "ended Cancelled",
    "ended Evicted",
    "ended Expired",
    "restarted",
    "requeued",
    "refused QUOTA",
    "refused EXCEEDS_QUOTA_ALWAYS",
    "refused TASK_STATE",
    "refused TENANT_BELOW_USE",
    "rejected EXCEEDS_QUOTA_ALWAYS",
    "rejected WAITING_LIST_FULL",
    "resized what runs",
    "resized what waits",
    "ranked",
    "suspended",
    "node lost",
    "node back",
    "came back with a node",
    "above its quota",
    "foreseen that it starts",
    "foreseen that it waits",
    "foreseen that it is declined",
];

#[test]
#[doc(alias = "TS-36")]
#[doc(alias = "TR-12")]
#[doc(alias = "TR-23")]
#[doc(alias = "TR-50")]
#[doc(alias = "TR-51")]
#[doc(alias = "TR-53")]
#[doc(alias = "TR-82")]
fn the_core_does_what_a_simple_model_of_tenants_does() {
    let first = number_in("HEADROOM_SEED").unwrap_or(1);
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    for seed in first..first + 3 {
        for (what, count) in play(seed, steps()) {
            *counts.entry(what).or_default() += count;
        }
    }
    for (what, count) in &counts {
        println!("{count:>9} {what}");
    }
    for what in REACHED {
        assert!(counts.contains_key(*what), "{what} never happened");
    }
}
