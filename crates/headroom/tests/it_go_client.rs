//! A client that others have generated: a resource manager in Go, on the published module of the
//! scheduler interface, against the real process. What it checks stands in `go/`.
//!
//! It is next to this test, and not below `clients/`: that folder is for users, and this client only tests the
//! server. It is in this crate because only here the process is available.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what failed")]

mod support;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::{Command, Output};

use support::Folder;
use support::server::Server;

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/go");

/// How many lines the program has for checks: none is left out unseen.
const CHECKS: usize = 27;

/// How to get what is missing.
const HELP: &str = "on Debian: apt-get install golang-go; elsewhere https://go.dev/dl; then \
                    `go mod download` in crates/headroom/tests/go, once, with a network";

/// Runs Go's tool with these arguments. `None` if it is missing and not required. `cargo xtask test` requires it,
/// where it could be installed.
fn go(arguments: &[&str]) -> Option<Output> {
    let named = std::env::var_os("HEADROOM_GO");
    let binary = named.clone().unwrap_or_else(|| OsString::from("go"));
    let ran = Command::new(&binary).args(arguments).current_dir(PROGRAM).output();
    match ran {
        Ok(output) => Some(output),
        Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => None,
        Err(error) => panic!("{}: {error}", binary.display()),
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned()
}

/// Returns the program. `None`, with a message, if there is no Go, or the modules are not available.
fn built() -> Option<PathBuf> {
    // What was downloaded once is not asked for again, so this needs no network then.
    let Some(modules) = go(&["mod", "download"]) else {
        println!("skipped: go is missing; {HELP}");
        return None;
    };
    if !modules.status.success() && std::env::var_os("HEADROOM_GO").is_none() {
        println!("skipped: the modules cannot be had; {HELP}: {}", said(&modules));
        return None;
    }
    assert!(modules.status.success(), "{}", said(&modules));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("si-client");
    let out = path.to_str().unwrap();
    let build = go(&["build", "-mod=readonly", "-buildvcs=false", "-o", out, "."]).unwrap();
    assert!(build.status.success(), "{}", said(&build));
    Some(path)
}

#[test]
fn a_client_of_the_published_go_module_sees_what_it_expects() {
    let Some(program) = built() else { return };
    let folder = Folder::new("go-client");
    let mut server = Server::start(&folder, &[]);
    let ran = Command::new(program).arg(&server.address).output().unwrap();
    let lines = said(&ran);
    println!("{lines}");
    assert_eq!(ran.status.code(), Some(0), "{lines}");
    assert_eq!(lines.matches("ok    ").count(), CHECKS, "{lines}");
    server.signal("TERM");
    assert_eq!(server.end().0.code(), Some(0), "{}", folder.read("log"));
    // All that it did is decided alike again.
    folder.succeed(&["journal", "verify"]);
}
