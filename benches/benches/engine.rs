//! `cargo bench --bench engine`: what the engine with a journal on a disk does.
//!
//! `cargo bench -- B8` runs what has `B8` in its title. The disk is that of `HEADROOM_BENCH_DIR`, or
//! of temporary files. Nothing is simulated: each answer waits for the disk.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::time::Instant;

use headroom_benches::durable::{Folder, Served, flushes};
use headroom_benches::snapshot;
use headroom_benches::table::{RUNS, head, measure, quantile, rate, time};
use headroom_engine::SNAPSHOT_EVERY;

/// A title, and what prints the results under it.
type Section = (&'static str, fn(&str));

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let sections: [Section; 3] = [
        ("B1e  through the engine with a journal: from the first ask to the last placed", placed),
        ("B8  durable submissions", submitted),
        ("B5  recovery: 1,000,000 allocations from a snapshot and 100,000 records", recovered),
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
