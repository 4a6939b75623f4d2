//! `cargo bench`: every speed that the project claims, measured and printed.
//!
//! `cargo bench -- B1` runs what has `B1` in its title.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use headroom_benches::change::Changes;
use std::cell::RefCell;
use std::time::Instant;

use headroom_benches::charge::Charges;
use headroom_benches::cluster::Cluster;
use headroom_benches::gangs::Rush;
use headroom_benches::queue_file::Live;
use headroom_benches::shared_charge::SharedCharges;
use headroom_benches::shares::{Sharing, leave, most_of_one};
use headroom_benches::table::{
    RUNS, head, measure, measure_by_turns, measure_core, measure_core_after, memory, rate, time,
};
use headroom_benches::waiting::Full;
use headroom_benches::weigh::{KINDS, weigh};
use headroom_benches::wide::{Width, wide};
use headroom_benches::{queue_file, runs, snapshot};
use headroom_core::Scheduler;
use headroom_core::userlimit::Formula;
use headroom_sim::outcome::JobState;
use headroom_sim::world::{Setup, run};

/// A title, and what prints the results under it.
type Section = (&'static str, fn(&str));

fn main() {
    if let Ok(shape) = std::env::var(MEMORY) {
        if let Some(path) = shape.strip_prefix(SNAPSHOT) {
            let (books, most) = snapshot::weigh(path).expect("the file is there");
            return println!("{books} B, {most} B at most");
        }
        return match weigh(&shape) {
            Some(bytes) => println!("{bytes}"),
            None => weigh_trackers(&shape),
        };
    }
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let sections: [Section; 15] = [
        ("B1  placements: from all asks accepted to all placed, in the core alone", placements),
        ("B1w  wide: 100,000 asks, 1,000 queues, 2,000 limited users, 10,000 nodes", broad),
        ("B4  growth: 10,000 placements where one of four grows from 1,000 to 100,000", growth),
        (
            "B5 parts: books to bytes and back, 1,000,000 allocations, 100,000 applications",
            snapshots,
        ),
        ("B6  memory of books and scheduler per row, texts not counted", weights),
        ("B9  gangs that others are stopped for: 1,000 nodes of 8 GPUs, 200 gangs of 64", gangs),
        ("B1  cost of a placement by how many asks wait: the first 1,000 on 1,000 nodes", waiting),
        ("Crowd  a release and the placement it allows, by how many users wait", crowd),
        ("Shares  asks of many users of one leaf, with user limits and without", shares),
        ("Changes  small ones where many wait, the next step included", changes),
        ("B3  a release and what it lets start, in a full cluster, by how many asks wait", full),
        ("B2  check and charge: user and group, a limit at each of 6 levels, 8 types", charges),
        ("SD-12  trackers by depth and queues of a user: check and charge, link, memory", nesting),
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

fn broad(title: &str) {
    head(title);
    let asks = Width::B1W.asks;
    for sizes in [1, 10, 100] {
        let times = measure(
            || wide(Width { sizes, ..Width::B1W }),
            |cluster| assert_eq!(cluster.place(u64::MAX), asks, "every ask finds room"),
            |cluster| cluster.books.check().expect("the books balance"),
        );
        rate(&format!("asks of {sizes} sizes"), asks, &times, "/s", "goal: 200,000/s");
    }
}

/// Placements of one run of B4.
const PLACED: u64 = 10_000;

#[expect(clippy::type_complexity, reason = "a table of what grows")]
fn growth(title: &str) {
    head(title);
    let grows: [(&str, fn(u64) -> Width); 4] = [
        ("queues", |count| Width { queues: count, ..Width::B4 }),
        ("users, each with an application", |count| Width {
            users: count,
            applications: count,
            ..Width::B4
        }),
        ("applications", |count| Width { applications: count, ..Width::B4 }),
        ("nodes", |count| Width { nodes: count, ..Width::B4 }),
    ];
    for (what, of) in grows {
        let mut medians = Vec::new();
        for count in [1_000, 100_000] {
            let times = measure(
                || wide(of(count)),
                |cluster| assert_eq!(cluster.place(PLACED), PLACED, "there is room"),
                |cluster| cluster.books.check().expect("the books balance"),
            );
            rate(&format!("{count} {what}"), PLACED, &times, "/s", "");
            medians.push(times[times.len() / 2].as_secs_f64());
        }
        let exponent = (medians[1] / medians[0]).ln() / 100.0_f64.ln();
        println!("{:<44} {exponent:>16.2}                   goal: 0.3", "  exponent");
    }
}

fn snapshots(title: &str) {
    head(title);
    let books = snapshot::books();
    let bytes = snapshot::written(&books);
    let size = format!("{} bytes", bytes.len());
    let times = measure_core(|| drop(snapshot::written(&books)));
    time("books to bytes, in memory", &times, &size);
    assert_eq!(snapshot::read(&bytes), books, "they are the same");
    let path = std::env::temp_dir().join(format!("headroom-bench-{}", std::process::id()));
    std::fs::write(&path, &bytes).expect("there is room for the file");
    let weight = weighed(&format!("{SNAPSHOT}{}", path.display()));
    drop(std::fs::remove_file(&path));
    let stored = RefCell::new(None);
    let forget = || drop(stored.take());
    let times =
        measure_core_after(forget, || drop(stored.borrow_mut().replace(snapshot::read(&bytes))));
    time("bytes to books, in memory", &times, &format!("goal: 2 s; {weight}"));
    let times = measure_core(|| drop(Scheduler::new(&books)));
    time("a scheduler for them", &times, "");
    let times = measure_core(|| books.check().expect("the books balance"));
    time("every invariant checked", &times, "");
}

/// Before the path of a snapshot to weigh.
const SNAPSHOT: &str = "snapshot ";

fn weights(title: &str) {
    head(title);
    for (kind, count, goal) in KINDS {
        let goal = if goal > 0 { format!("goal: {goal} B") } else { String::new() };
        println!("{:<44} {:>14} B  {goal}", format!("{kind}, of {count}"), weighed(kind));
    }
}

fn gangs(title: &str) {
    head(title);
    let (mut medians, mut tails) = (Vec::new(), Vec::new());
    for _ in 0..=RUNS {
        let mut rush = Rush::of_gangs();
        rush.run();
        rush.plans.sort_unstable();
        let (count, running) = (rush.plans.len(), rush.gangs_that_run());
        assert!(
            running >= 28 && rush.useless == 0,
            "{running} gangs run, {} in vain",
            rush.useless
        );
        medians.push(rush.plans[count / 2]);
        tails.push(rush.plans[count * 99 / 100]);
        if medians.len() > RUNS {
            println!("{count} plans, {} victims, none in vain, {running} gangs run", rush.victims);
        }
    }
    medians.remove(0);
    tails.remove(0);
    medians.sort_unstable();
    tails.sort_unstable();
    time("half of the plans within", &medians, "");
    time("99 of 100 within", &tails, "goal: 20 ms");
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

fn shares(title: &str) {
    head(title);
    let smooth = Some(Formula::Smooth);
    for users in [100, 1_000, 10_000] {
        let (without, with) = (Sharing::without(users), |of| Sharing::with(users, of));
        for (what, of, each) in [
            ("in order, no limits", without, 20),
            ("in order, smooth", with(Formula::Smooth).free(), 20),
            ("by use (fair), no limits", without.fair(), 10),
            ("by use (fair), smooth", with(Formula::Smooth).free().fair(), 10),
            ("in turns, smooth", with(Formula::Smooth), 10),
            ("in turns, yarn3", with(Formula::Yarn3), 10),
        ] {
            let placed = users * each;
            let times = measure(
                || of.cluster(),
                |cluster| assert_eq!(cluster.place(placed), placed, "there is room"),
                |cluster| {
                    cluster.books.check().expect("the books balance");
                    // With the others the floor of one in a hundred lets the first have more.
                    let is_equal = of.limits == smooth && !of.is_free;
                    assert!(!is_equal || most_of_one(cluster) <= 11, "shares are equal");
                },
            );
            rate(&format!("{users} users {what}"), placed, &times, "/s", "");
        }
        for (what, of) in [("no limits", without), ("smooth", with(Formula::Smooth))] {
            let times = measure(
                || {
                    let mut cluster = of.cluster();
                    // Whoever has an application is known before anything is placed.
                    assert_eq!(cluster.place(1), 1, "there is room");
                    cluster
                },
                |cluster| leave(cluster, users),
                |cluster| cluster.books.check().expect("the books balance"),
            );
            rate(&format!("{users} users leave: {what}"), users, &times, "/s", "20 asks each");
        }
    }
}

fn changes(title: &str) {
    head(title);
    let balanced = |all: &Changes| all.cluster.books.check().expect("the books balance");
    for waiting in [1_000, 100_000] {
        let many = || Changes::new(waiting);
        let times = measure(many, Changes::change_quota, balanced);
        time(&format!("another quota by a tag, {waiting} asks wait"), &times, "");
        let times = measure(many, Changes::resize, balanced);
        time(&format!("another size of an ask, {waiting} asks wait"), &times, "");
    }
    let times = measure(|| Changes::new(1), |all| all.make_queues(32_000), balanced);
    time("32,000 queues made by submissions, in order", &times, "");
    let by_priority = |count| {
        move || {
            let mut all = Changes::new(1);
            all.ask_by_priority(count);
            all
        }
    };
    for count in [1_000, 80_000] {
        let times = measure(by_priority(count), |all| all.change_priority(1_000), balanced);
        time(&format!("1,000 asks again, {count} priorities"), &times, "");
    }
}

/// How many releases make one run.
const RELEASES: u64 = 1_000;

fn full(title: &str) {
    head(title);
    for asks in [1_000, 10_000, 100_000, 1_000_000] {
        let mut full = Full::waiting(asks);
        let start = Instant::now();
        let reserved = full.keep_nodes();
        time(&format!("{asks} wait: reserving {reserved} nodes"), &[start.elapsed()], "");
        let (mut medians, mut tails) = (Vec::new(), Vec::new());
        // With a thousand asks there is one to start for each release of a single run.
        let runs = if asks == 1_000 { 1 } else { RUNS };
        let releases = if asks == 1_000 { 500 } else { RELEASES };
        for _ in 0..runs {
            let times = full.release(releases);
            medians.push(times[times.len() / 2]);
            tails.push(times[times.len() * 99 / 100]);
        }
        full.check();
        medians.sort_unstable();
        tails.sort_unstable();
        time(&format!("{asks} wait: half of the releases within"), &medians, "");
        time(&format!("{asks} wait: 99 of 100 within"), &tails, "goal: 200 µs");
    }
}

fn charges(title: &str) {
    head(title);
    for users in [1_000, 100_000] {
        let mut subject = Charges::zipf(6, 8, users, 1_000_000);
        let times = measure_core(|| subject.charge_all());
        subject.check();
        let peer = if users == 100_000 { "TigerBeetle: about 1,200,000 transfers/s" } else { "" };
        rate(&format!("Zipf(1.0) over {users} users"), 1_000_000, &times, "/s", peer);
    }
    for users in [1_000, 100_000] {
        let mut subject = Charges::branched(6, 8, users, 1_000_000);
        let times = measure_core(|| subject.charge_all());
        subject.check();
        let what = format!("the same, {users} users at home in all 6 queues");
        rate(&what, 1_000_000, &times, "/s", "");
    }
    shared_charges();
}

/// The same in a leaf that 1,000 active users share, and what the user limit adds to it.
fn shared_charges() {
    let [mut without, mut with] =
        [false, true].map(|with| SharedCharges::zipf(1_000, A_TURN, with));
    let times = measure_by_turns(200, || without.charge_all(), || with.charge_all());
    without.check();
    with.check();
    let medians = times.each_ref().map(|times| times[times.len() / 2].as_secs_f64());
    for (what, times) in ["one leaf of 1000 users, no user limits", "smooth"].iter().zip(&times) {
        rate(what, A_TURN as u64, times, "/s", "");
    }
    println!("{:<44} {:>16.3}", "  time with by time without", medians[1] / medians[0]);
}

/// Charges in one turn.
const A_TURN: usize = 5_000;

fn nesting(title: &str) {
    head(title);
    for (depth, queues) in shapes() {
        let mut subject = Charges::nested(depth + 1, queues, users_of(depth, queues), CHARGES);
        let times = measure_core(|| subject.charge_all());
        subject.check();
        let bytes = memory_of(depth, queues);
        let what = format!("depth {depth}, {queues} queues of each user");
        rate(&what, CHARGES as u64, &times, "/s", &format!("{bytes} B a user"));
        let times = measure_core(|| subject.link_all());
        rate("  link and unlink", CHARGES as u64, &times, "/s", "");
    }
}

/// Charges in one run of the nested trackers.
const CHARGES: usize = 200_000;

/// Depth, and queues of each user.
fn shapes() -> impl Iterator<Item = (usize, usize)> {
    [1, 4, 16, 64].into_iter().flat_map(|depth| [1, 10, 1_000].map(|queues| (depth, queues)))
}

/// As many users as make 640,000 levels, at least ten.
fn users_of(depth: usize, queues: usize) -> usize {
    (640_000 / (depth * queues)).clamp(10, 100_000)
}

/// What one user's levels take, measured in a process of its own.
fn memory_of(depth: usize, queues: usize) -> String {
    weighed(&format!("{depth} {queues}"))
}

/// What this program says of the weight of something, in a process of its own.
fn weighed(what: &str) -> String {
    let mut again =
        std::process::Command::new(std::env::current_exe().expect("a program has a file"));
    let output = again.env(MEMORY, what).output().expect("the program runs again");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Says which shape of nested trackers to weigh, instead of all benchmarks.
const MEMORY: &str = "HEADROOM_BENCH_MEMORY";

fn weigh_trackers(shape: &str) {
    let mut numbers = shape.split(' ').filter_map(|number| number.parse::<usize>().ok());
    let (depth, queues) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(1));
    let users = users_of(depth, queues);
    // The queues are not weighed, nor are the names of their limits.
    let few = Charges::nested(depth + 1, queues, 0, 0);
    let before = memory();
    let many = Charges::nested(depth + 1, queues, users, 0);
    let after = memory();
    println!("{}", after.saturating_sub(before) / users as u64);
    drop((few, many));
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
        let other = queue_file::changed(&text);
        let live = || Live::at_work(&text, queues);
        let waiting = live().waiting();
        assert!(waiting > 0, "somebody waits");
        let same = |live: &Live| assert_eq!(live.waiting(), waiting, "nothing is lost");
        let times = measure(live, |live| live.configure(&other), same);
        time("the same over a live one, all changed", &times, "goal: 1 s");
        let one = text.replacen("{vcore: 500}", "{vcore: 499}", 1);
        let times = measure(live, |live| live.configure(&one), same);
        time("the same over a live one, one limit changed", &times, "goal: 1 s");
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
