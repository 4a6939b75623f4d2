//! The step `tests`: all test programs are built at once, and then run several at a time, since many of them
//! wait for sockets, or for one test that has only one thread.

use std::cmp::Reverse;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::failures::Failures;
use crate::step::{Bench, FEATURES};
use crate::tally::Tally;

/// A program that Cargo has built of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Program {
    /// Its crate and what it was made of, as `headroom-core tests/histories.rs`.
    name: String,
    executable: PathBuf,
    /// Where Cargo would run it: the directory of its crate.
    directory: PathBuf,
}

/// What Cargo says of something that it has built, as far as it matters here.
#[derive(Deserialize)]
struct Built {
    reason: String,
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    profile: Option<Profile>,
}

#[derive(Deserialize)]
struct Target {
    src_path: PathBuf,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Build all test programs of the workspace, run them, and add up what they report.
///
/// # Errors
/// When they cannot be built.
pub(crate) fn run(bench: &Bench) -> Result<Tally> {
    let start = Instant::now();
    let programs = build(bench)?;
    println!("{} test programs, built in {:.1} s", programs.len(), start.elapsed().as_secs_f64());
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    let prepared = programs.into_iter().map(|program| {
        let mut command = bench.command(&program.executable, &[]);
        command.current_dir(&program.directory);
        command.env("CARGO_MANIFEST_DIR", &program.directory);
        (program.name, command)
    });
    Ok(run_all(prepared.collect(), at_once, &bench.failures))
}

fn build(bench: &Bench) -> Result<Vec<Program>> {
    let form = "--message-format=json-render-diagnostics";
    let arguments = ["test", "--workspace", "--tests", "--no-run", "--features", FEATURES, form];
    let mut command = bench.cargo(&arguments);
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let output = child.stdout.take().context("the output was not piped")?;
    let mut programs = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line.context("cannot read what cargo prints")?;
        programs.extend(built(&line));
    }
    let status = child.wait().context("cannot wait for cargo")?;
    if !status.success() {
        bail!("the tests do not build: cargo ended with {status}");
    }
    // The largest first: these are mostly the ones that take longest, and none of them should be last.
    let size = |path: &Path| fs::metadata(path).map_or(0, |data| data.len());
    programs.sort_by_cached_key(|one| (Reverse(size(&one.executable)), one.name.clone()));
    Ok(programs)
}

/// The test program that a line of Cargo's tells of, if it does.
fn built(line: &str) -> Option<Program> {
    let built: Built = serde_json::from_str(line).ok()?;
    if built.reason != "compiler-artifact" || !built.profile?.test {
        return None;
    }
    let directory = built.manifest_path?.parent()?.to_path_buf();
    let source = built.target?.src_path;
    let source = source.strip_prefix(&directory).unwrap_or(&source);
    let of = directory.file_name()?.to_string_lossy();
    let name = format!("{of} {}", source.display());
    Some(Program { name, executable: built.executable?, directory })
}

/// Run programs, so many at once. What one of them prints is printed when it has ended, in one piece.
fn run_all(programs: Vec<(String, Command)>, at_once: usize, failures: &Failures) -> Tally {
    let left = Mutex::new(programs.into_iter());
    let next = || left.lock().ok().and_then(|mut left| left.next());
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..at_once {
            let (tell, next) = (tell.clone(), &next);
            scope.spawn(move || {
                while let Some((name, mut command)) = next() {
                    println!("    running {name}");
                    let start = Instant::now();
                    let output = command.stdin(Stdio::null()).output();
                    let _ = tell.send((name, output, start.elapsed().as_secs_f64()));
                }
            });
        }
        drop(tell);
        let mut sum = Tally::default();
        for (name, output, seconds) in told {
            println!("==== {name} ({seconds:.1} s)");
            sum += match output {
                Ok(output) => heard(&name, &output, failures),
                Err(error) => {
                    println!("cannot start {name}: {error}");
                    Tally::of(false)
                }
            };
        }
        sum
    })
}

/// Print what a program has printed, and count what it reports.
fn heard(name: &str, output: &Output, failures: &Failures) -> Tally {
    // Text or not: a test may print bytes that are no UTF-8.
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    let mut hearing = failures.hear();
    String::from_utf8_lossy(&output.stdout).lines().for_each(|line| hearing.line(line));
    let mut tally = hearing.end();
    if !output.status.success() {
        println!("{name} ended with {}", output.status);
        if tally.failed == 0 {
            tally += Tally::of(false);
        }
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_scripts(scripts: &[&str], at_once: usize) -> (Tally, Vec<String>) {
        let programs = scripts.iter().map(|script| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            ((*script).to_owned(), command)
        });
        let failures = Failures::default();
        let tally = run_all(programs.collect(), at_once, &failures);
        (tally, failures.lines())
    }

    #[test]
    fn each_program_runs_once_and_its_report_is_added() {
        let passed = "echo 'running 1 test'; echo 'test result: ok. 3 passed; 0 failed; 1 ignored'";
        for at_once in [1, 2, 8] {
            let (tally, lines) = run_scripts(&[passed; 5], at_once);
            assert_eq!(tally.to_string(), "15 passed, 0 failed, 5 skipped");
            assert!(lines.is_empty(), "{lines:?}");
        }
    }

    #[test]
    fn a_program_that_dies_or_cannot_start_has_failed() {
        let died = "echo 'running 2 tests'; echo 'test a ... ok'; kill -9 $$";
        let (tally, lines) = run_scripts(&[died, "exit 3", "true"], 2);
        assert_eq!(tally.to_string(), "0 passed, 2 failed");
        assert_eq!(lines.len(), 1, "{lines:?}");
        let absent = ("absent".to_owned(), Command::new("headroom-no-such-program"));
        assert_eq!(run_all(vec![absent], 1, &Failures::default()), Tally::of(false));
    }

    #[test]
    fn what_cargo_says_of_programs_is_understood() {
        let said = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/p/crates/core/Cargo.toml","target":{{"kind":["test"],"name":"histories","src_path":"/p/crates/core/tests/histories.rs"}},"profile":{{"opt_level":"2","test":{test}}},"executable":{executable}}}"#
            )
        };
        let expected = Program {
            name: "core tests/histories.rs".into(),
            executable: "/p/target/debug/deps/histories-1".into(),
            directory: "/p/crates/core".into(),
        };
        assert_eq!(built(&said(true, r#""/p/target/debug/deps/histories-1""#)), Some(expected));
        for other in [
            said(false, r#""/p/target/debug/headroom""#),
            said(true, "null"),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
            "no JSON".to_owned(),
        ] {
            assert_eq!(built(&other), None, "{other}");
        }
    }
}
