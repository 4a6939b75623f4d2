//! `cargo bench --bench engine`: what the engine with a journal on a disk does.
//!
//! `cargo bench -- B8` runs what has `B8` in its title. The disk is that of `HEADROOM_BENCH_DIR`, or
//! of temporary files. Nothing is simulated: each answer waits for the disk.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::time::{Duration, Instant};

use headroom_benches::durable::{Folder, Served, flushes};
use headroom_benches::snapshot;
use headroom_benches::table::{RUNS, head, measure, quantile, rate, spread, time};
use headroom_benches::tenants::Tenants;
use headroom_engine::SNAPSHOT_EVERY;

/// A title, and what prints the results under it.
type Section = (&'static str, fn(&str));

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let sections: [Section; 5] = [
        ("B1e  through the engine with a journal: from the first ask to the last placed", placed),
        ("B8  durable submissions", submitted),
        ("B5  recovery: 1,000,000 allocations from a snapshot and 100,000 records", recovered),
        ("TR-31  a release and the start that follows: 1,000 tenants, 10,000 tasks wait", released),
        ("TR-61  submission to start of one tenant, by how many tasks of another wait", isolated),
    ];
    for (title, section) in sections {
        if wanted.is_empty() || wanted.iter().any(|word| title.contains(word.as_str())) {
            section(title);
        }
    }
}

/// A furnished engine with room for so many asks.
fn served(asks: u64) -> (Served, Folder) {
    let folder = Folder::new("served");
    let served = Served::start(folder.path(), SNAPSHOT_EVERY);
    served.furnish(1_000, asks);
    (served, folder)
}

fn disk(folder: &Folder) {
    let times = flushes(folder, 1_000).expect("the disk works");
    let (median, most) = (times[times.len() / 2], quantile(&times, 99));
    println!("the disk alone, 4 KiB made durable 1,000 times: median {median:.1?}, p99 {most:.1?}");
}

fn placed(title: &str) {
    head(title);
    disk(&Folder::new("disk"));
    for asks in [10_000, 100_000] {
        let times = measure(
            || served(asks),
            |(served, _)| served.ask_and_place(asks, 1_000, 8),
            |(served, _)| served.check(),
        );
        rate(&format!("1,000 nodes × {asks} asks"), asks, &times, "/s", "goal: 50,000/s");
    }
}

fn submitted(title: &str) {
    head(title);
    disk(&Folder::new("disk"));
    let asks = 100_000;
    for (at_once, what) in [(1, "one client"), (8, "8 clients")] {
        let times = measure(
            || served(asks),
            |(served, _)| drop(served.ask(asks, 100, at_once)),
            |(served, _)| served.check(),
        );
        rate(
            &format!("{asks} asks in batches of 100, {what}"),
            asks,
            &times,
            "/s",
            "goal: 20,000/s",
        );
    }
    let (asks, mut tails) = (20_000, Vec::new());
    let times = measure(
        || served(asks),
        |(served, _)| tails.push(quantile(&served.ask(asks, 1, 64), 99)),
        |(served, _)| served.check(),
    );
    rate(&format!("{asks} single asks, 64 clients"), asks, &times, "/s", "");
    tails.remove(0);
    tails.sort_unstable();
    time("99 of 100 are answered within", &tails, "goal: 4 times the disk's p99");
}

fn recovered(title: &str) {
    head(title);
    let folder = Folder::new("large");
    let served = Served::start(folder.path(), u64::MAX);
    let mut commands = Vec::new();
    snapshot::commands(&mut |command| {
        commands.push(command);
        if commands.len() == 10_000 {
            served.send(std::mem::take(&mut commands));
        }
    });
    served.send(commands);
    let begun = Instant::now();
    drop(served);
    println!("made; the last snapshot took {:.1?}", begun.elapsed());
    // So many records as there may be before the next snapshot.
    let served = Served::start(folder.path(), u64::MAX);
    let mut chance = snapshot::Chance::of(2);
    for _ in 0..SNAPSHOT_EVERY / 1_000 {
        served.send((0..1_000).map(|_| snapshot::ask(&mut chance)).collect());
    }
    let killed = folder.copy("killed").expect("there is room for a copy");
    drop((served, folder));
    let mut times = Vec::new();
    for round in 0..=RUNS {
        let left = killed.copy("left").expect("there is room for a copy");
        let begun = Instant::now();
        let served = Served::start(left.path(), u64::MAX);
        served.send(vec![snapshot::ask(&mut chance)]);
        let took = begun.elapsed();
        served.check();
        assert_eq!(
            served.begin().replayed,
            SNAPSHOT_EVERY,
            "a snapshot, and the records behind it"
        );
        if round > 0 {
            times.push(took);
        }
    }
    times.sort_unstable();
    time("from the start to the first decision", &times, "goal: 5 s now, 2 s wanted");
}

/// What is small enough to be tried on any machine: `HEADROOM_BENCH_SMALL=1`. Its figures say nothing.
fn reduced(count: u64) -> u64 {
    if std::env::var_os("HEADROOM_BENCH_SMALL").is_some() { count / 100 } else { count }
}

fn released(title: &str) {
    head(title);
    disk(&Folder::new("disk"));
    let tenants = reduced(1_000);
    for (at_once, what) in [(false, "one after the other"), (true, "all at once")] {
        let run = || {
            let folder = Folder::new("tenants");
            let started = Tenants::start(folder.path(), tenants, 10, 10);
            assert_eq!(started.waiting(tenants - 1), 10, "the quota is used up");
            let times = started.release(tenants, at_once);
            assert_eq!(started.waiting(tenants - 1), 9, "one of them has started");
            started.check();
            times
        };
        report_spread(what, run, "goal: 10 ms; 1 s required");
    }
}

fn isolated(title: &str) {
    head(title);
    disk(&Folder::new("disk"));
    let mut all = Vec::new();
    for waiting in [0, reduced(10_000)] {
        let run = || {
            let folder = Folder::new("isolated");
            let started = Tenants::start(folder.path(), 1, 1, waiting);
            let tasks = reduced(2_000);
            started.add(1..2, tasks);
            let times = started.starts(1, tasks);
            assert_eq!(started.waiting(0), waiting, "those of the other go on waiting");
            started.check();
            times
        };
        all.push(report_spread(&format!("{waiting} wait"), run, ""));
    }
    let ratio = all[1].as_secs_f64() / all[0].as_secs_f64();
    println!("{:<44} {ratio:>16.2}                   goal: 2", "  the 99 of 100, with by without");
}

/// Print what half took at most, and what 99 of 100 did; the median of the latter.
fn report_spread(what: &str, run: impl FnMut() -> Vec<Duration>, goal: &str) -> Duration {
    let [medians, tails] = spread(run);
    time(&format!("{what}: half within"), &medians, "");
    time("  99 of 100 within", &tails, goal);
    tails[tails.len() / 2]
}
