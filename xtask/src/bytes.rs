//! The step `same bytes`: a run gives the same bytes in debug and in optimised builds, and twice.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::scratch::Scratch;
use crate::step::{Bench, FEATURES};
use crate::tally::Tally;

/// What a run writes and that must not depend on the build.
const FILES: [&str; 6] = [
    "report.html",
    "report.json",
    "csv/jobs.csv",
    "csv/allocations.csv",
    "csv/nodes.csv",
    "csv/decisions.csv",
];

/// The profile of the optimised build: the one that users make first.
pub(crate) const OPTIMIZED: &str = "try";

/// Play the built-in example with both builds, and again with one of them; compare all bytes.
///
/// # Errors
/// When a build or a run fails.
pub(crate) fn run(bench: &Bench) -> Result<Tally> {
    // As the step with the tests does, which leaves nothing to compile: with other targets other
    // features are chosen, and everything is compiled once more.
    let arguments = ["test", "--workspace", "--tests", "--no-run", "--features", FEATURES];
    ensure!(bench.cargo(&arguments).status()?.success(), "the debug build fails");
    let target = bench.target();
    let runs = ["debug", OPTIMIZED, OPTIMIZED]
        .map(|build| play(bench, &target.join(build).join("headroom")));
    let [debug, optimized, again] = runs;
    let (debug, optimized, again) = (debug?, optimized?, again?);
    let mut same = true;
    for (number, file) in FILES.iter().enumerate() {
        for (what, other) in [("debug and optimised", &debug), ("two runs", &again)] {
            if optimized[number] != other[number] {
                eprintln!("{file} differs between {what}");
                same = false;
            }
        }
    }
    println!("{} files of {} bytes", FILES.len(), optimized.iter().map(Vec::len).sum::<usize>());
    Ok(Tally::of(same))
}

/// The files of a run by this program, in a directory of its own.
fn play(bench: &Bench, program: &Path) -> Result<Vec<Vec<u8>>> {
    let scratch = Scratch::new()?;
    let arguments =
        ["simulate", "--report", "report.html", "--json", "report.json", "--csv", "csv"];
    let mut command = bench.command(program, &arguments);
    let output = command.current_dir(scratch.path()).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(
        output.status.success(),
        "{} fails: {}",
        program.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    let read = |file: &&str| {
        fs::read(scratch.path().join(file)).with_context(|| format!("no {file} was written"))
    };
    FILES.iter().map(read).collect()
}
