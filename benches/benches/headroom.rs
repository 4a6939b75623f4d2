//! `cargo bench`: every speed that the project claims, measured and printed.
//!
//! `cargo bench -- B1` runs what has `B1` in its title.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use headroom_benches::cluster::Cluster;
use headroom_benches::table::{head, measure, rate, time};
use headroom_benches::{queue_file, runs};
use headroom_sim::outcome::JobState;
use headroom_sim::world::{Setup, run};

/// A title, and what prints the results under it.
type Section = (&'static str, fn(&str));

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let sections: [Section; 5] = [
        ("B1  placements: from all asks accepted to all placed, in the core alone", placements),
        ("B1  cost of a placement by how many asks wait: the first 1,000 on 1,000 nodes", waiting),
        ("Crowd  a release and the placement it allows, by how many users wait", crowd),
        ("Simulator: whole runs, reading not included", simulations),
        ("Queue file: from its text to the configuration", queue_files),
    ];
    for (title, section) in sections {
        if wanted.is_empty() || wanted.iter().any(|word| title.contains(word.as_str())) {
            section(title);
        }
    }
}

fn placements(title: &str) {
    head(title);
    for (nodes, asks, peer) in [
        (500, 10_000, ""),
        (1_000, 10_000, "YuniKorn core: about 4,000/s"),
        (2_000, 10_000, ""),
        (5_000, 10_000, ""),
        (1_000, 50_000, "YuniKorn core: 487/s"),
        (1_000, 100_000, "YuniKorn core: no end in 300 s"),
    ] {
        let times = measure(
            || Cluster::b1(nodes, asks),
            |cluster| {
                assert_eq!(cluster.place(u64::MAX), asks, "every ask finds room");
            },
            |cluster| cluster.books.check().expect("the books balance"),
        );
        rate(&format!("{nodes} nodes × {asks} asks"), asks, &times, "/s", peer);
    }
}

fn waiting(title: &str) {
    head(title);
    for asks in [1_000, 10_000, 100_000] {
        let times = measure(
            || Cluster::b1_with_room(1_000, asks, 100_000),
            |cluster| {
                assert_eq!(cluster.place(1_000), 1_000, "there is room for the first ones");
            },
            |cluster| cluster.books.check().expect("the books balance"),
        );
        rate(&format!("1,000 placements, {asks} asks wait"), 1_000, &times, "/s", "");
    }
}

fn crowd(title: &str) {
    head(title);
    for users in [1_000, 10_000, 100_000] {
        let times = measure(
            || Cluster::crowd(users),
            |cluster| cluster.release_and_place(500),
            |cluster| cluster.books.check().expect("the books balance"),
        );
        rate(&format!("500 releases, {users} users wait"), 500, &times, "/s", "");
    }
}

fn simulations(title: &str) {
    head(title);
    if let Some(traces) = runs::traces() {
        simulation("HPC2N, 3,145 jobs as tasks", &runs::hpc2n(&traces), "goal: 1 s");
        simulation("openb, 8,152 tasks, 1,523 nodes", &runs::openb(&traces, "1"), "goal: 2 s");
        let compressed = runs::openb(&traces, "0.005");
        simulation("openb, arrivals 200 times as dense", &compressed, "goal: 2 s");
    } else {
        println!("skipped: HEADROOM_TRACES is not set");
    }
    let million = runs::million();
    simulation("1,000,000 jobs, 10,000 nodes, 1,000 queues", &million, "goal: 60 s");
}

fn queue_files(title: &str) {
    head(title);
    for queues in [1_000, 10_000] {
        let text = queue_file::many(queues);
        let loads = || assert!(headroom_config::read(&text).is_ok(), "the file is legal");
        let times = measure(|| (), |()| loads(), |()| ());
        let what = format!("load a queue file, {queues} queues, {queues} limits");
        time(&what, &times, "goal: 1 s");
        let reviews = || {
            let review = headroom_config::review(&text);
            assert!(
                review.diagnostics.is_empty(),
                "there is nothing to say: {}",
                review.diagnostics
            );
        };
        let times = measure(|| (), |()| reviews(), |()| ());
        time("the same with advice, as `headroom validate`", &times, "");
    }
}

fn simulation(what: &str, setup: &Setup, goal: &str) {
    let times = measure(
        || (),
        |()| {
            let outcome = run(setup, &mut ()).expect("the run is legal, and its books balance");
            let ended = |state| matches!(state, JobState::Finished | JobState::Impossible);
            assert!(outcome.jobs.iter().all(|job| ended(job.state)), "every job comes to its end");
        },
        |()| (),
    );
    time(what, &times, goal);
}
