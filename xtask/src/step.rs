//! Running other programs, step by step.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::failures::Failures;
use crate::tally::Tally;

/// The parts that can be left out and are tested, and released, all the same.
pub(crate) const FEATURES: &str = "headroom/kubernetes,headroom/otlp,headroom/profiler";

/// Where and with what every step runs.
pub(crate) struct Bench {
    /// The project.
    pub(crate) root: PathBuf,
    /// Environment variables that the steps get beside those of the caller.
    pub(crate) variables: Vec<(&'static str, OsString)>,
    /// What failing tests printed.
    pub(crate) failures: Failures,
}

/// One thing that must hold.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// What to do when it does not.
    pub(crate) remedy: &'static str,
    pub(crate) work: fn(&Bench) -> Result<Tally>,
}

impl Step {
    /// Run it, and print how it went and how long it took. An error counts as one failure.
    pub(crate) fn run(&self, bench: &Bench) -> Tally {
        self.timed(bench).0
    }

    /// The same; the seconds that it took stand beside the tally.
    pub(crate) fn timed(&self, bench: &Bench) -> (Tally, f64) {
        println!("==> {}", self.name);
        let start = Instant::now();
        let tally = (self.work)(bench).unwrap_or_else(|error| {
            eprintln!("{error:#}");
            Tally::of(false)
        });
        let seconds = start.elapsed().as_secs_f64();
        println!("<== {}: {tally} ({seconds:.1} s)", self.name);
        if tally.failed > 0 {
            println!("    to do: {}", self.remedy);
        }
        (tally, seconds)
    }
}

impl Bench {
    /// Where Cargo puts what it builds.
    pub(crate) fn target(&self) -> PathBuf {
        let ours = || self.root.join("target");
        env::var_os("CARGO_TARGET_DIR").map_or_else(ours, |path| self.root.join(path))
    }

    /// The program with these arguments, to run in the project.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.root);
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    /// The Cargo that started us, with these arguments.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        self.command(cargo, arguments)
    }

    /// Whether `cargo <name> --version` works: the subcommand is installed.
    pub(crate) fn has_cargo(&self, name: &str) -> bool {
        let mut command = self.cargo(&[name, "--version"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// Run `cargo test` and add up what its test programs report. What fails is kept, to be said again
    /// at the end.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn many(&self, mut command: Command) -> Result<Tally> {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", shown(&command)))?;
        let output = child.stdout.take().context("the output was not piped")?;
        let mut hearing = self.failures.hear();
        // Lines, not text: a test may print bytes that are no UTF-8.
        for line in BufReader::new(output).split(b'\n') {
            let line = line.context("cannot read what the tests print")?;
            hearing.line(&String::from_utf8_lossy(line.trim_ascii_end()));
        }
        let mut tally = hearing.end();
        let status = child.wait().context("cannot wait for the tests")?;
        if !status.success() && tally.failed == 0 {
            // It did not compile.
            eprintln!("{} ended with {status}", shown(&command));
            tally += Tally::of(false);
        }
        Ok(tally)
    }
}

/// Run a program that is one test: it holds when the program says so.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn one(mut command: Command) -> Result<Tally> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(&command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(&command));
    }
    Ok(Tally::of(true))
}

fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter();
    let words = words.chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench() -> Bench {
        Bench { root: ".".into(), variables: Vec::new(), failures: Failures::default() }
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_reports_of_test_programs_are_added() {
        let line = "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out";
        for (script, expected) in [
            (format!("echo '{line}'; echo '{line}'"), "4 passed, 0 failed, 2 skipped"),
            (format!("echo '{line}'; exit 1"), "2 passed, 1 failed, 1 skipped"),
            ("exit 101".to_owned(), "0 passed, 1 failed"),
        ] {
            let tally = bench().many(shell(&script)).unwrap();
            assert_eq!(tally.to_string(), expected, "{script}");
        }
    }

    #[test]
    fn a_program_that_fails_is_an_error() {
        let failed = one(shell("exit 3")).unwrap_err().to_string();
        assert_eq!(failed, "sh -c exit 3 ended with exit status: 3");
        assert_eq!(one(shell("true")).unwrap(), Tally::of(true));
    }

    #[test]
    fn a_step_that_cannot_run_has_failed() {
        let step = Step {
            name: "none",
            remedy: "nothing",
            work: |bench| one(bench.command("headroom-no-such-program", &[])),
        };
        assert_eq!(step.run(&bench()), Tally::of(false));
    }
}
