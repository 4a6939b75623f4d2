//! `cargo bench -p headroom --bench serving`: reads of a server that is deciding (B7).
//!
//! The server is the real binary, a process of its own with its journal on a disk, that of
//! `HEADROOM_BENCH_DIR` or of temporary files. Both who asks for decisions and who reads are this
//! process, on the same machine, and both are open loops: what is due is sent when it is due,
//! however late the answers are, and a read's time counts from when it was due.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod decisions;
mod reads;
#[path = "../support/mod.rs"]
mod support;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Result, ensure};
use headroom_benches::durable::{Folder, flushes};
use headroom_benches::table::{RUNS, machine, quantile, thousands};
use tokio::time::{Instant, sleep, sleep_until};

use crate::decisions::{Decisions, HELD};
use crate::support::Server;

/// How many decisions a second are asked for, and how many must be made.
const ASKED: u64 = 20_000;
const MADE_MIN: u64 = 19_000;
/// How many reads a second.
const READS: u64 = 2_000;
/// How long a run is.
const RUN: Duration = Duration::from_secs(10);

/// What a run saw.
struct Run {
    made: u64,
    /// Of each kind of read, what each took, sorted.
    reads: Vec<(&'static str, Vec<Duration>)>,
    all: Vec<Duration>,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<()> {
    if std::env::args().skip(1).any(|word| !word.starts_with('-') && !"B7".contains(&word)) {
        return Ok(());
    }
    println!("\nB7  {READS} reads/s with {ASKED} decisions/s, through the server");
    println!("machine: {}; {RUNS} runs of {RUN:?} after a warm-up\n", machine());
    let folder = Folder::new("serving");
    let times = flushes(&folder, 1_000)?;
    let (median, most) = (quantile(&times, 50), quantile(&times, 99));
    println!("the disk alone, 4 KiB made durable 1,000 times: median {median:.1?}, p99 {most:.1?}");
    let server = Server::start()?;
    let decisions = Decisions::begin(server.address, ASKED).await?;
    while decisions.made() < HELD as u64 {
        ensure!(!decisions.has_ended(), "the stream of allocations has ended");
        sleep(Duration::from_millis(100)).await;
    }
    let mut runs = Vec::new();
    for round in 0..=RUNS {
        let run = run(server.address, &decisions).await?;
        print(round, &run);
        if round > 0 {
            runs.push(run);
        }
    }
    decisions.end().await?;
    server.check().await?;
    conclude(&mut runs);
    Ok(())
}

async fn run(address: SocketAddr, decisions: &Decisions) -> Result<Run> {
    let begin = Instant::now();
    let before = decisions.made();
    let reads = reads::run(address, READS, RUN).await?;
    sleep_until(begin + RUN).await;
    let made = decisions.made() - before;
    let took = begin.elapsed();
    ensure!(!decisions.has_ended(), "the stream of allocations has ended");
    let mut all: Vec<Duration> =
        reads.iter().flat_map(|(_, times)| times.iter().copied()).collect();
    all.sort_unstable();
    let per_second = u128::from(made) * 1_000_000 / took.as_micros();
    Ok(Run { made: u64::try_from(per_second)?, reads, all })
}

fn print(round: usize, run: &Run) {
    let name = if round == 0 { "warm-up".to_owned() } else { format!("run {round}") };
    let told = |times: &[Duration]| {
        let [half, most, all] = [50, 99, 100].map(|of_100| quantile(times, of_100));
        format!("median {half:.1?}, p99 {most:.1?}, worst {all:.1?}")
    };
    println!("{name:<8} {:>7} decisions/s, {}", thousands(run.made), told(&run.all));
    for (kind, times) in &run.reads {
        println!("         {:>7} {kind}: {}", thousands(times.len() as u64), told(times));
    }
}

fn conclude(runs: &mut [Run]) {
    let made = |run: &Run| thousands(run.made);
    runs.sort_by_key(|run| std::cmp::Reverse(run.made));
    let (median, worst) = (&runs[RUNS / 2], &runs[RUNS - 1]);
    println!(
        "decisions/s: median {}, worst {}; goal {}",
        made(median),
        made(worst),
        thousands(MADE_MIN)
    );
    let mut most: Vec<Duration> = runs.iter().map(|run| quantile(&run.all, 99)).collect();
    most.sort_unstable();
    println!(
        "p99 of reads: median {:.1?}, worst {:.1?}; goal 10 ms",
        most[RUNS / 2],
        most[RUNS - 1]
    );
}
