//! `check` and `test`: which steps they take.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::failures::Failures;
use crate::step::{Bench, FEATURES, Step, one};
use crate::tally::Tally;
use crate::{bytes, code_of, equip, programs, readme, scenes, tidy};

/// How many histories each property test tries in the quick loop; `test` keeps proptest's 256.
const QUICK_CASES: &str = "32";
/// Histories of a whole cluster in the quick loop; every kind of event still happens.
const QUICK_HISTORIES: &str = "2000";

const FORMAT: Step = Step {
    name: "format",
    remedy: "run `cargo fmt --all`",
    work: |bench| one(bench.cargo(&["fmt", "--all", "--check"])),
};

const LINT: Step = Step {
    name: "lint",
    remedy: "fix what clippy names; `cargo clippy --fix` does the plain cases",
    work: |bench| {
        let everything = ["clippy", "--workspace", "--all-targets", "--features", FEATURES];
        one(bench.cargo(&[&everything[..], &DENIED].concat()))
    },
};

/// What users build first has no features, and other files stand in for them. `test` does not take this step, because
/// it would check every crate once more: there, the first build has no warnings.
const PLAIN_LINT: Step = Step {
    name: "lint without features",
    remedy: LINT.remedy,
    work: |bench| one(bench.cargo(&[&["clippy", "-p", "headroom"][..], &DENIED].concat())),
};

const DENIED: [&str; 3] = ["--", "-D", "warnings"];

const TESTS: Step = Step {
    name: "tests",
    remedy: "run the failed test alone: `cargo test -p <crate> <name>`",
    work: programs::run,
};

const DOC_TESTS: Step = Step {
    name: "doc tests",
    remedy: "run `cargo test -p <crate> --doc`",
    work: |bench| {
        let arguments = ["test", "--workspace", "--doc", "--no-fail-fast", "--features", FEATURES];
        bench.many(bench.cargo(&arguments))
    },
};

const DENY: Step = Step {
    name: "dependency policy",
    remedy: "see the rules and their reasons in deny.toml",
    work: deny,
};

const TIDY: Step = Step {
    name: "tidy",
    remedy: "each line names its rule; docs/testing.md says what the rules are",
    work: |bench| tidy::run(&bench.root),
};

const SCENES: Step = Step {
    name: "scenes",
    remedy: "write the missing tests, or correct docs/scenes.toml",
    work: |bench| scenes::run(&bench.root),
};

const FIRST_BUILD: Step = Step {
    name: "first build",
    remedy: "run `cargo build --profile try -p headroom`",
    work: first_build,
};

const README: Step = Step {
    name: "readme",
    remedy: "the commands under \"Try it\" in README.md must work as they stand",
    work: |bench| readme::run(bench),
};

const BYTES: Step = Step {
    name: "same bytes",
    remedy: "find what depends on the build, the machine or an address, and take it out",
    work: bytes::run,
};

/// The quick loop: stop at the first failure.
///
/// # Errors
/// When the caller's environment cannot be read.
pub(crate) fn check(root: PathBuf) -> Result<ExitCode> {
    let mut bench = bench(root)?;
    if env::var_os("PROPTEST_CASES").is_none() {
        bench.variables.push(("PROPTEST_CASES", QUICK_CASES.into()));
    }
    if env::var_os("HEADROOM_HISTORIES").is_none() {
        bench.variables.push(("HEADROOM_HISTORIES", QUICK_HISTORIES.into()));
    }
    for step in [FORMAT, LINT, PLAIN_LINT, TESTS, DOC_TESTS, DENY, TIDY] {
        if step.run(&bench).failed > 0 {
            return Ok(ExitCode::FAILURE);
        }
    }
    println!("check: all is well");
    Ok(ExitCode::SUCCESS)
}

/// Everything: go on after a failure, and count.
///
/// # Errors
/// When the caller's environment cannot be read.
pub(crate) fn test(root: PathBuf) -> Result<ExitCode> {
    let mut bench = bench(root)?;
    equip::all(&mut bench);
    let steps = [FORMAT, LINT, TESTS, DOC_TESTS, DENY, TIDY, SCENES, FIRST_BUILD, BYTES, README];
    let mut sum = Tally::default();
    let mut failed = Vec::new();
    let mut times = Vec::new();
    for step in steps {
        let (tally, seconds) = step.timed(&bench);
        sum += tally;
        times.push(format!("{} {seconds:.0} s", step.name));
        if tally.failed > 0 {
            failed.push(step.name);
        }
    }
    println!("times: {}", times.join(", "));
    if !failed.is_empty() {
        bench.failures.print();
        println!("failed steps: {}", failed.join(", "));
    }
    println!("{sum}");
    Ok(code_of(sum.failed == 0))
}

fn bench(root: PathBuf) -> Result<Bench> {
    let mut variables = Vec::new();
    for name in ["HEADROOM_TRACES", "HEADROOM_KUBERNETES"] {
        if let Some(folder) = env::var_os(name) {
            // Tests run in the directory of their crate, so a relative path would mislead them.
            let absolute =
                std::path::absolute(&folder).with_context(|| format!("{name} is no path"))?;
            variables.push((name, OsString::from(absolute)));
        }
    }
    Ok(Bench { root, variables, failures: Failures::default() })
}

/// The build that the README's first command makes, in the copy in which that command runs afterwards, so that it has
/// nothing left to compile. Another optimised build would take ten minutes more, and find nothing that this one does not.
fn first_build(bench: &Bench) -> Result<Tally> {
    let copy = readme::copy_of(bench)?;
    let arguments = ["build", "--profile", bytes::OPTIMIZED, "-p", "headroom"];
    one(readme::within(&copy, bench, bench.cargo(&arguments)))
}

fn deny(bench: &Bench) -> Result<Tally> {
    if !bench.has_cargo("deny") {
        println!("cargo-deny is missing: {}", equip::INSTALL_DENY);
        return Ok(Tally::skipped());
    }
    // Not `advisories`: see deny.toml.
    let mut command = bench.cargo(&["deny", "check"]);
    // The list of doubles covers crates that only some features bring in.
    command.args(["--allow", "unmatched-skip", "--allow", "unnecessary-skip"]);
    command.args(["bans", "licenses", "sources"]);
    one(command)
}
