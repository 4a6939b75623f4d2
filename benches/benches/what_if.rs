//! `cargo bench --bench what_if`: what it costs to ask why something waits, and what another queue file would do.
//!
//! `cargo bench -- B10` runs what has `B10` in its title.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use headroom_benches::cluster::Cluster;
use headroom_benches::durable::{Folder, Served};
use headroom_benches::explained::{cures, some_that_wait, verdicts};
use headroom_benches::table::{RUNS, head, measure, rate, spread, time};
use headroom_benches::waiting::Full;
use headroom_benches::{runs, snapshot};
use headroom_core::explain::{explain, first_in};
use headroom_core::plan::{Reach, plan};
use headroom_core::resource::Amounts;
use headroom_core::{Name, Scheduler, Timestamp};
use headroom_engine::{Handle, SNAPSHOT_EVERY, WriterState};
use headroom_sim::world::{Setup, run};

/// A title, and what prints the results under it.
type Section = (&'static str, fn(&str));

fn main() {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let sections: [Section; 3] = [
        ("Explain  one of 100,000 asks that wait, 10,000 nodes, 1,000 queues", explained),
        ("Explain  with placements through the engine with a journal", while_placing),
        ("B10  another queue file, on a copy of 1,000,000 allocations", copied),
    ];
    for (title, section) in sections {
        if wanted.is_empty() || wanted.iter().any(|word| title.contains(word.as_str())) {
            section(title);
        }
    }
}

fn explained(title: &str) {
    head(title);
    let mut full = Full::waiting(100_000);
    full.look_at_all();
    let looked = |full: &Full, what: &str| {
        let cluster = full.cluster();
        let asks = some_that_wait(cluster, 1_000);
        let [halves, tails] = spread(|| verdicts(cluster, &asks));
        time(&format!("{what}verdict and checks, 1,000: half within"), &halves, "");
        time("  99 of 100 within", &tails, "goal: 10 ms");
        let asks = some_that_wait(cluster, 20);
        let (mut found, mut ran_out) = (0, 0);
        let [halves, tails] = spread(|| {
            let cures = cures(cluster, &asks);
            (found, ran_out) = (cures.found, cures.ran_out);
            cures.times
        });
        time(&format!("{what}all remedies, 20: half within"), &halves, "");
        time("  the slowest", &tails, "goal: 1 s");
        println!("remedies for {found} of 20 asks; {ran_out} searches reached the time limit");
    };
    looked(&full, "");
    let reserved = full.keep_nodes();
    println!("from now on {reserved} asks have a reserved node, so every node is reserved");
    looked(&full, "reserved: ");
    full.check();
    one_application();
}

/// The same where two applications have all that waits, and no node has room.
fn one_application() {
    let mut cluster = Cluster::b1_with_room(10_000, 110_000, 10_000);
    cluster.place(u64::MAX);
    let asks = some_that_wait(&cluster, 1_000);
    let [halves, tails] = spread(|| verdicts(&cluster, &asks));
    time("where two applications have them: half within", &halves, "");
    time("  99 of 100 within", &tails, "goal: 10 ms");
    cluster.books.check().expect("the books balance");
}

/// How many explanations a second are asked for.
const PER_SECOND: u64 = 100;
/// Asks of a run.
const ASKS: u64 = 200_000;

fn while_placing(title: &str) {
    head(title);
    let (mut times, mut explanations) = ([Vec::new(), Vec::new()], 0);
    for round in 0..=RUNS {
        for explains in [false, true] {
            let folder = Folder::new("explained");
            let served = Served::start(folder.path(), SNAPSHOT_EVERY);
            served.furnish(1_000, ASKS);
            let count = Arc::new(AtomicU64::new(0));
            let asker = explains.then(|| {
                let count = Arc::clone(&count);
                served.spawn_with(|handle| ask_why(handle, count))
            });
            let start = Instant::now();
            served.ask_and_place(ASKS, 1_000, 8);
            let took = start.elapsed();
            if let Some(asker) = asker {
                asker.abort();
            }
            served.check();
            if round > 0 {
                times[usize::from(explains)].push(took);
                explanations += count.load(Ordering::Relaxed);
            }
        }
    }
    for times in &mut times {
        times.sort_unstable();
    }
    rate("without explanations", ASKS, &times[0], "/s", "");
    rate("with 100 explanations a second", ASKS, &times[1], "/s", "");
    let ratio = times[1][RUNS / 2].as_secs_f64() / times[0][RUNS / 2].as_secs_f64();
    println!("{:<44} {ratio:>16.3}                   goal: 1.05", "  time with by time without");
    let seconds: f64 = times[1].iter().map(Duration::as_secs_f64).sum();
    println!("{explanations} explanations in {seconds:.1} s");
}

/// Ask why the first ask of an application waits, as the server does, so often a second, however late the answers are.
async fn ask_why(handle: Handle, count: Arc<AtomicU64>) {
    let every = Duration::from_secs(1) / u32::try_from(PER_SECOND).unwrap_or(1);
    let mut due = tokio::time::interval(every);
    loop {
        due.tick().await;
        let (handle, count) = (handle.clone(), Arc::clone(&count));
        tokio::spawn(async move {
            let look = |moment: &WriterState<'_>| {
                let WriterState { books, scheduler, .. } = *moment;
                let partition = books.partition(books.partition_named(&Name::new("default"))?);
                let application = *partition.applications.get("app-a")?;
                let ask = first_in(books, scheduler, application)?;
                Some((books.clone(), explain(books, scheduler, ask)))
            };
            if handle.inspect_at(look).await.is_ok() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
}

fn copied(title: &str) {
    head(title);
    let books = snapshot::books();
    let mut copies = Vec::new();
    let times = measure(|| (), |()| copies.push(books.clone()), |()| ());
    time("a copy of the books", &times, "goal: 2 ms");
    drop(copies);
    let times = measure(|| (), |()| drop(Scheduler::new(&books)), |()| ());
    time("the indexes of a scheduler for it", &times, "");
    let now = Timestamp::from_millis(1_000);
    let file = snapshot::configuration(Some(&Amounts::from([("vcore", 1 << 30)])));
    let announced = || {
        let found = plan(&books, now, &file, Reach::default()).expect("the file is legal");
        assert!(found.at_rest && !found.is_empty(), "it does something, and comes to rest");
    };
    let times = measure(|| (), |()| announced(), |()| ());
    time("a plan: a maximum in each of 100 queues", &times, "");
    books.check().expect("the books balance");
    let mut setup = Setup { until_ms: Some(24 * 3_600_000), ..runs::million() };
    let other = changed(&setup);
    let times = measure(
        || (),
        |()| {
            run(&setup, &mut ()).expect("the run is legal");
            setup.configuration = other.clone();
            run(&setup, &mut ()).expect("the run is legal");
        },
        |()| (),
    );
    time("24 hours, 71,000 jobs, 10,000 nodes, two files", &times, "");
}

/// The same file with a maximum in each queue.
fn changed(setup: &Setup) -> headroom_core::config::Configuration {
    let mut file = setup.configuration.clone();
    for queue in &mut file.partitions[0].root.children {
        queue.max = Amounts::from([("vcore", 100_000)]);
    }
    file
}
