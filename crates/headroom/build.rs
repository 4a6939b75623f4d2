//! Tells the program how it was built, for `headroom version`.

#![allow(clippy::print_stdout, reason = "that is how a build script talks to Cargo")]

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// The commit, for whoever builds where there is no repository.
const COMMIT: &str = "HEADROOM_COMMIT";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={COMMIT}");
    println!("cargo:rustc-env=HEADROOM_TARGET={}", env::var("TARGET").unwrap_or_default());
    println!("cargo:rustc-env=HEADROOM_PROFILE={}", profile());
    if env::var_os(COMMIT).is_some() {
        return; // It reaches the program as it is.
    }
    // While one works on it, each commit would have the program built anew for nothing.
    if env::var("PROFILE").is_ok_and(|profile| profile == "release")
        && let Some(commit) = commit()
    {
        println!("cargo:rustc-env={COMMIT}={commit}");
        // The date of the commit, not of the build: the same sources make the same program.
        if let Some(date) = git(&["show", "--no-patch", "--format=%cI", "HEAD"]) {
            println!("cargo:rustc-env=HEADROOM_DATE={date}");
        }
    }
}

/// The profile that is built. `PROFILE` has `release` for all that inherit from that, so it is read from the path of what this
/// build writes: `target/try/build/headroom-1a2b/out`.
fn profile() -> String {
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let name = out.ancestors().nth(3).and_then(|path| path.file_name());
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The commit that is built, marked if files differ from it.
fn commit() -> Option<String> {
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    // The log of the head grows with every commit, whatever the branch.
    for watched in ["HEAD", "logs/HEAD"] {
        println!("cargo:rerun-if-changed={}", git(&["rev-parse", "--git-path", watched])?);
    }
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}-modified") })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
