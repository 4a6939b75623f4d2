//! Nothing starves: random clusters, queues, and floods of small jobs, with a bound on each wait.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod days;
mod draw;
mod floods;
mod loads;
mod traces;
#[path = "../world/mod.rs"]
mod world;

use std::collections::{BTreeMap, BTreeSet};

use floods::Flood;
use headroom_core::resource::Quantity;
use headroom_sim::outcome::{AllocationRecord, Outcome};
use headroom_sim::world::run;

/// The number in a variable of the environment, or the usual one.
fn count_of(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().unwrap())
}

/// The seeds to try: so many, from `HEADROOM_SEED` on.
fn seeds(count: u64) -> std::ops::Range<u64> {
    let first = count_of("HEADROOM_SEED", 0);
    first..first + count
}

/// The large jobs that waited longer than their bound, with how long.
fn late(flood: &Flood, keys: bool) -> Vec<(String, u64, u64)> {
    let setup = flood.setup(keys);
    let outcome = run(&setup, &mut ()).unwrap_or_else(|why| panic!("{}{why}", flood.shown()));
    let mut late = Vec::new();
    for (name, bound) in &flood.bounds {
        let job = outcome.jobs.iter().find(|job| *job.name == **name).unwrap();
        let waited = job.start_ms.unwrap_or(outcome.end_ms) - job.submit_ms;
        if waited > *bound {
            late.push((name.clone(), waited, *bound));
        }
    }
    late
}

#[test]
#[doc(alias = "NS-24")]
fn a_large_job_starts_in_time_whatever_floods_come() {
    let (mut starved, mut beyond, mut bounded) = (BTreeMap::new(), Vec::new(), 0);
    let count = count_of("HEADROOM_FLOODS", 20);
    for seed in seeds(count) {
        let flood = Flood::draw(seed);
        bounded += u64::from(!flood.bounds.is_empty());
        for (name, waited, bound) in late(&flood, true) {
            beyond.push(format!("{name} waited {waited} of {bound} ms in {}", flood.shown()));
        }
        let without = !late(&flood, false).is_empty();
        *starved.entry((flood.policy, without)).or_insert(0) += 1;
    }
    println!(
        "{count} set-ups, {bounded} with a bound, without the keys (policy, starved): {starved:?}"
    );
    assert!(bounded * 4 > count * 3, "too few set-ups with a bound");
    assert!(beyond.is_empty(), "{} too late:\n{}", beyond.len(), beyond.join("\n"));
}

/// Delay from which a confirmation is very late, ms. A twentieth of the confirmations of a day with faults is.
const VERY_LATE_MS: u64 = 300_000;

/// Work of an allocation, in units of the type times ms.
fn work(one: &AllocationRecord, end_ms: u64) -> u64 {
    let size: i64 = one.resources.iter().map(|(_, amount)| amount.get()).sum();
    u64::try_from(size).unwrap() * (one.end_ms.unwrap_or(end_ms) - one.start_ms)
}

/// The preemptions of a day: the victim, the position of the job that it stopped for, and when it was asked, ms.
fn preemptions(outcome: &Outcome) -> impl Iterator<Item = (&AllocationRecord, usize, u64)> {
    let stopped = outcome.allocations.iter().filter(|one| one.ended_by == "preempted");
    stopped.filter_map(|one| one.preempted_for.map(|(job, at_ms)| (one, job, at_ms)))
}

/// What a day lost to preemption, and what the jobs did that preempted.
#[derive(Debug, Default)]
struct Balance {
    preempted: u64,
    lost: u64,
    done: u64,
    /// Preemptions after which the job that preempted got nothing.
    in_vain: Vec<String>,
    /// The same, if the resource manager needed so long to stop the victim that a gang gave up meanwhile.
    too_late: u64,
    /// Jobs that took from each other in turn.
    in_turn: Vec<String>,
}

/// When something new came: a job, or the end of a task that nobody stopped.
fn news(outcome: &Outcome) -> BTreeSet<u64> {
    let ends = outcome.allocations.iter().filter(|one| one.ended_by != "preempted");
    let ends = ends.filter_map(|one| one.end_ms);
    outcome.jobs.iter().map(|job| job.submit_ms).chain(ends).collect()
}

impl Balance {
    fn of(outcome: &Outcome) -> Self {
        let mut balance = Self::default();
        let mut preemptors = BTreeSet::new();
        let mut taken = Vec::new();
        for (victim, taker, asked_ms) in preemptions(outcome) {
            balance.preempted += 1;
            balance.lost += if victim.placeholder { 0 } else { work(victim, outcome.end_ms) };
            preemptors.insert(taker);
            let mut later = outcome.allocations.iter();
            let starts = later.any(|one| one.job == taker && one.start_ms >= asked_ms);
            let ended_ms = victim.end_ms.unwrap_or(outcome.end_ms);
            if !starts && outcome.jobs[taker].gang && ended_ms - asked_ms >= VERY_LATE_MS {
                balance.too_late += 1;
            } else if !starts {
                let name = |job: usize| &outcome.jobs[job].name;
                let text = format!("{} of {} for {}", victim.key, name(victim.job), name(taker));
                balance.in_vain.push(format!("{text} at {asked_ms} ms"));
            }
            taken.push((asked_ms, taker, victim.job));
        }
        let news = news(outcome);
        for (first_ms, taker, giver) in &taken {
            let back = |(at_ms, one, other): &&(u64, usize, usize)| {
                (one, other) == (giver, taker) && at_ms > first_ms
            };
            let Some((back_ms, ..)) = taken.iter().find(back) else { continue };
            if news.range(first_ms..=back_ms).next().is_none() {
                let name = |job: usize| &outcome.jobs[job].name;
                balance.in_turn.push(format!("{} and {}", name(*taker), name(*giver)));
            }
        }
        let real = outcome.allocations.iter().filter(|one| !one.placeholder);
        let of_preemptors = real.filter(|one| preemptors.contains(&one.job));
        let kept = of_preemptors.filter(|one| !matches!(one.ended_by, "preempted" | "node-lost"));
        balance.done = kept.map(|one| work(one, outcome.end_ms)).sum();
        balance
    }
}

#[test]
#[doc(alias = "NS-45")]
fn preemption_does_not_thrash() {
    let (mut preempted, mut lost, mut done, mut busy, mut too_late) = (0, 0, 0, 0, 0);
    let (days, mut wrong) = (count_of("HEADROOM_DAYS", 100), Vec::new());
    for seed in seeds(days) {
        let setup = days::draw(seed);
        let outcome = run(&setup, &mut ()).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let balance = Balance::of(&outcome);
        if !balance.in_vain.is_empty() || !balance.in_turn.is_empty() {
            wrong.push(format!("seed {seed}: {balance:?}"));
        }
        preempted += balance.preempted;
        too_late += balance.too_late;
        busy += u64::from(balance.preempted > 0);
        (lost, done) = (lost + balance.lost, done + balance.done);
    }
    let hours = |work: u64| work / 1_000 / 3_600_000;
    println!(
        "{days} days, {busy} with {preempted} preemptions: {} core-hours lost, {} done by jobs that preempted, {too_late} stopped too late",
        hours(lost),
        hours(done)
    );
    assert!(wrong.is_empty(), "{} of {days} days:\n{}", wrong.len(), wrong.join("\n"));
    assert!(too_late * 1_000 <= preempted, "{too_late} of {preempted} victims stopped too late");
    assert!(busy * 10 > days, "too few days with preemptions");
    assert!(lost < done, "more was lost than the jobs that preempted did");
}

/// What the nodes did for jobs until then, in units of a type times ms.
fn used(outcome: &Outcome, resource: &str, until_ms: u64) -> u64 {
    let real = outcome.allocations.iter().filter(|one| !one.placeholder);
    let part = |one: &AllocationRecord| {
        let end_ms = one.end_ms.unwrap_or(outcome.end_ms).min(until_ms);
        let size = one.resources.get(resource).map_or(0, Quantity::get);
        u64::try_from(size).unwrap() * end_ms.saturating_sub(one.start_ms)
    };
    real.map(part).sum()
}

/// The waits of large jobs, ms.
fn waits_of_large(outcome: &Outcome) -> Vec<u64> {
    let large = outcome.jobs.iter().filter(|job| job.name.starts_with("large"));
    large.filter_map(|job| Some(job.start_ms? - job.submit_ms)).collect()
}

fn p95(mut waits: Vec<u64>) -> u64 {
    waits.sort_unstable();
    waits[(waits.len() * 95).div_ceil(100) - 1]
}

#[test]
#[doc(alias = "NS-24")]
fn what_prevents_starvation_does_not_leave_nodes_idle() {
    let loads = count_of("HEADROOM_LOADS", 20);
    let (mut sums, mut waits) = ([0, 0], [Vec::new(), Vec::new()]);
    let mut capacity = 0;
    for seed in seeds(loads) {
        let load = loads::Load::draw(seed);
        capacity += load.capacity();
        for (place, keys) in [false, true].into_iter().enumerate() {
            let outcome = run(&load.setup(keys), &mut ()).unwrap_or_else(|why| panic!("{why}"));
            sums[place] += used(&outcome, "vcore", loads::OPEN_MS);
            waits[place].extend(waits_of_large(&outcome));
        }
    }
    let percent = sums.map(|sum| u128::from(sum) * 10_000 / u128::from(capacity));
    let p95 = waits.map(|waits| p95(waits) / 1_000);
    println!(
        "{loads} loads, off and on: {percent:?} of 10,000 used, p95 wait of large jobs {p95:?} s"
    );
    assert!(percent[1] * 100 >= percent[0] * 97, "{percent:?}");
    assert!(p95[1] < p95[0], "{p95:?}");
}

/// Prints a row for each trace: the used part of the cluster while jobs came, and the waits of large jobs.
#[test]
#[doc(alias = "NS-24")]
fn real_traces_are_not_delayed_by_what_prevents_starvation() {
    if count_of("HEADROOM_LOADS", 20) < 200 {
        println!("skipped: takes minutes, and runs with HEADROOM_LOADS=200");
        return;
    }
    let Some(folder) = std::env::var_os("HEADROOM_TRACES").map(std::path::PathBuf::from) else {
        println!("skipped: HEADROOM_TRACES is not set");
        return;
    };
    for trace in traces::TRACES {
        let mut percent = Vec::new();
        for keys in [false, true] {
            let setup = trace.setup(&folder, keys);
            let until_ms = setup.until_ms.unwrap();
            let amounts = setup.nodes.iter().map(|node| node.resources.get(trace.resource));
            let capacity: i64 = amounts.map(|amount| amount.map_or(0, Quantity::get)).sum();
            let outcome = run(&setup, &mut ()).unwrap_or_else(|why| panic!("{why}"));
            let whole = u128::from(capacity.cast_unsigned()) * u128::from(until_ms);
            let used = u128::from(used(&outcome, trace.resource, until_ms)) * 10_000 / whole;
            let waits = trace.waits_of_large(&setup, &outcome);
            let mean = waits.iter().sum::<u64>() / waits.len() as u64 / 1_000;
            println!(
                "{}, keys {keys}: {used} of 10,000 used; {} large jobs waited {mean} s on average, p95 {} s; end {} s, \
                 {} preemptions, {} decisions",
                trace.name,
                waits.len(),
                p95(waits) / 1_000,
                outcome.end_ms / 1_000,
                preemptions(&outcome).count(),
                outcome.decisions,
            );
            percent.push(used);
        }
        assert!(percent[1] * 100 >= percent[0] * 97, "{}: {percent:?}", trace.name);
    }
}
