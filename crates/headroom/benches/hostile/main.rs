//! `cargo bench -p headroom --bench hostile`: what strangers who mean it harm cost a server, and its other clients.
//!
//! The server is the binary in a process of its own; the strangers and an ordinary client share the
//! machine with it. `cargo bench -p headroom --bench hostile -- bodies` does what has `bodies` in its title.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

mod attack;
mod bodies;
mod client;
mod connections;
mod http2;
#[path = "../support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::runtime::Runtime;

use crate::attack::{Attack, Counts};
use crate::bodies::{bombs, deep, endless, files, members, refusals, unfinished};
use crate::client::{Latencies, Ordinary, Series};
use crate::connections::{idle, slow, unread};
use crate::http2::{closed_windows, empty_asks, huge_messages, resets, unread_rm};
use crate::support::{Server, allow_files};

/// How long each goes on. A connection that says nothing is ended after 10 s.
const GOES_ON: Duration = Duration::from_secs(12);
/// How long the server has to recover from one before the next begins.
const REST: Duration = Duration::from_secs(2);
/// How much memory may grow, in MiB.
const GROWTH_MAX: u64 = 256;
/// How long 99 of 100 requests of an ordinary client may take.
const P99_MAX: Duration = Duration::from_millis(50);

fn main() -> Result<()> {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let attacks: [(&str, Option<Attack>); 15] = [
        ("nothing", None),
        ("10,000 idle connections", Some(idle)),
        ("64 slow clients, heads and bodies", Some(slow)),
        ("bodies of 1 GiB, 16 at once", Some(endless)),
        ("bodies of 16 MiB that do not end, 64 at once", Some(unfinished)),
        ("queue files of 16 MiB, 8 at once", Some(files)),
        ("gzip bombs, 8 at once", Some(bombs)),
        ("JSON nested 1,000,000 deep, 8 at once", Some(deep)),
        ("messages of 16 MiB that do not end, 400 at once", Some(huge_messages)),
        ("messages with 8,000,000 asks, 4 at once", Some(empty_asks)),
        ("streams opened and reset, 8 connections", Some(resets)),
        ("100 followers who never read", Some(unread)),
        ("1,000 members with 400,000 blocked nodes, 4 at once", Some(members)),
        ("refused tasks with ids of 240 bytes, 8 at once", Some(refusals)),
        ("answers behind closed windows, 16 connections", Some(closed_windows)),
    ];
    println!("{} files may be open", allow_files()?);
    println!("goals: memory grows by {GROWTH_MAX} MiB at most, p99 {P99_MAX:?} at most\n");
    let runtime = Runtime::new()?;
    let is_wanted =
        |title: &str| wanted.is_empty() || wanted.iter().any(|word| title.contains(word.as_str()));
    let server = Server::start()?;
    let ordinary = Ordinary::start(server.address);
    std::thread::sleep(REST);
    let begin = server.memory()?.now;
    for (title, attack) in attacks {
        if is_wanted(title) {
            suffer(&runtime, &server, &ordinary, begin, (title, attack))?;
        }
    }
    drop(server);
    let title = "an RM that reads no answers";
    if is_wanted(title) {
        // There is one RM at a time, so nobody else submits.
        let server = Server::start()?;
        std::thread::sleep(REST);
        let begin = server.memory()?.now;
        suffer(
            &runtime,
            &server,
            &Ordinary::reading(server.address),
            begin,
            (title, Some(unread_rm)),
        )?;
    }
    Ok(())
}

/// Have it done to the server, and print what that cost.
fn suffer(
    runtime: &Runtime,
    server: &Server,
    ordinary: &Ordinary,
    begin: u64,
    (title, attack): (&str, Option<Attack>),
) -> Result<()> {
    server.forget_peak()?;
    let before = server.memory()?.now;
    drop(ordinary.take());
    let (counts, began) = (Counts::default(), Instant::now());
    let under_way = attack.map(|attack| runtime.spawn(attack(server.address, counts.clone())));
    std::thread::sleep(GOES_ON);
    let Latencies { reads, submissions, connections } = ordinary.take();
    let memory = server.memory()?;
    if let Some(under_way) = under_way {
        under_way.abort();
    }
    println!("{title}, {:.0?}: {counts}", began.elapsed());
    let mib = |bytes: u64| bytes >> 20;
    let grown = mib(memory.peak.saturating_sub(begin));
    let verdict = if grown <= GROWTH_MAX { "" } else { "  TOO MUCH" };
    let (before, now, peak) = (mib(before), mib(memory.now), mib(memory.peak));
    println!(
        "  memory: {before} MiB before, {peak} at most, {now} at the end; grown by {grown}{verdict}"
    );
    for (what, series) in
        [("reads", reads), ("submissions", submissions), ("new connections", connections)]
    {
        if series.count() + series.failed > 0 {
            told(what, series);
        }
    }
    std::thread::sleep(REST);
    Ok(())
}

fn told(what: &str, mut series: Series) {
    let [half, most, longest] = series.quantiles();
    let verdict = if most <= P99_MAX && series.failed == 0 { "" } else { "  TOO SLOW" };
    let (count, failed) = (series.count(), series.failed);
    println!(
        "  {count:>5} {what}: p50 {half:.1?}, p99 {most:.1?}, max {longest:.1?}, {failed} failed{verdict}"
    );
}
