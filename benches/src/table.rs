//! A table of results: median and worst of several runs, with the figures of peers.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::time::{Duration, Instant};

/// How often everything is run after one warm-up.
pub const RUNS: usize = 5;

/// Time `run` on a fresh `setup`, [`RUNS`] times after a warm-up; sorted. A result counts only
/// if `check` passes afterwards.
pub fn measure<T>(
    mut setup: impl FnMut() -> T,
    mut run: impl FnMut(&mut T),
    check: impl Fn(&T),
) -> Vec<Duration> {
    let mut times = Vec::new();
    for round in 0..=RUNS {
        let mut subject = setup();
        let start = Instant::now();
        run(&mut subject);
        let took = start.elapsed();
        check(&subject);
        if round > 0 {
            times.push(took);
        }
    }
    times.sort_unstable();
    times
}

/// Like [`measure`] for what one thread does by itself on something that is there already: the
/// time that it had a processor, so that other work on the machine counts less.
pub fn measure_core(run: impl FnMut()) -> Vec<Duration> {
    measure_core_after(|| (), run)
}

/// The same, with something that is done before each run and not measured.
pub fn measure_core_after(mut prepare: impl FnMut(), mut run: impl FnMut()) -> Vec<Duration> {
    let mut times = Vec::new();
    for round in 0..=RUNS {
        prepare();
        let (start, on_core) = (Instant::now(), on_core());
        run();
        let took =
            self::on_core().zip(on_core).and_then(|(after, before)| after.checked_sub(before));
        if round > 0 {
            times.push(took.unwrap_or_else(|| start.elapsed()));
        }
    }
    times.sort_unstable();
    times
}

/// Time two things by turns, so that what else the machine does hits both alike: the quickest of five runs of
/// each, so many times; sorted. For what is over in well under a millisecond: longer runs are interrupted.
pub fn measure_by_turns(
    turns: usize,
    mut one: impl FnMut(),
    mut other: impl FnMut(),
) -> [Vec<Duration>; 2] {
    let quickest = |run: &mut dyn FnMut()| {
        let times = (0..RUNS).map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        });
        times.min().unwrap_or_default()
    };
    let mut all = [Vec::new(), Vec::new()];
    for turn in 0..=turns {
        let times = [quickest(&mut one), quickest(&mut other)];
        if turn > 0 {
            for (all, time) in all.iter_mut().zip(times) {
                all.push(time);
            }
        }
    }
    for one in &mut all {
        one.sort_unstable();
    }
    all
}

/// What half of what a run times took at most, and what 99 of 100 did, of [`RUNS`] runs after a warm-up; both sorted. A run
/// gives its times sorted.
pub fn spread(mut run: impl FnMut() -> Vec<Duration>) -> [Vec<Duration>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    for round in 0..=RUNS {
        let times = run();
        if round > 0 {
            all[0].push(quantile(&times, 50));
            all[1].push(quantile(&times, 99));
        }
    }
    for times in &mut all {
        times.sort_unstable();
    }
    all
}

/// How long this thread had a processor so far, where the system tells.
fn on_core() -> Option<Duration> {
    let numbers = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = numbers.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Print the head: the machine, and what the columns are.
pub fn head(title: &str) {
    println!(
        "\n{title}\nmachine: {}; median and worst of {RUNS} runs after a warm-up\n",
        machine()
    );
    println!("{:<44} {:>16} {:>16}  peer", "what", "median", "worst");
}

/// Print one result as a rate: `count` things done in each run.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate is for reading"
)]
pub fn rate(what: &str, count: u64, times: &[Duration], unit: &str, peer: &str) {
    let per_second = |time: &Duration| thousands((count as f64 / time.as_secs_f64()) as u64);
    let (median, worst) = (&times[times.len() / 2], &times[times.len() - 1]);
    println!(
        "{what:<44} {:>14} {unit} {:>14} {unit}  {peer}",
        per_second(median),
        per_second(worst)
    );
}

/// Print one result as a time.
pub fn time(what: &str, times: &[Duration], peer: &str) {
    let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!("{what:<44} {:>16} {:>16}  {peer}", format!("{median:.1?}"), format!("{worst:.1?}"));
}

/// What so many of 100 took at most; `sorted` is not empty.
pub fn quantile(sorted: &[Duration], of_100: usize) -> Duration {
    sorted[(sorted.len() * of_100).div_ceil(100).max(1) - 1]
}

/// Memory that this process holds now, in bytes; 0 where the system does not tell.
pub fn memory() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    resident.unwrap_or_default() * 4_096
}

/// A number for reading.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The processor's name and how many of them, as the system tells.
pub fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let count = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{} × {count}", name.map_or("unknown processor", |(_, name)| name))
}
