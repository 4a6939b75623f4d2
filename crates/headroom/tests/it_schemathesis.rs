//! The served `OpenAPI` document against what the server does, tried by schemathesis: no error of the
//! server, no status, media type, header or body that is not in the document, and no request taken
//! that the document forbids.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what failed")]

mod support;

use std::path::PathBuf;
use std::process::Command;

use support::Folder;
use support::server::Server;

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemathesis.toml");
const HOOKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemathesis_hooks.py");

/// Default duration of a run in seconds. The tool begins with the limits of each parameter, and continues with random
/// requests.
const SECONDS: &str = "20";

/// Returns the tool. `None`, with a message, if it is not available.
fn tool() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("HEADROOM_SCHEMATHESIS") {
        return Some(path.into());
    }
    let paths = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&paths).map(|folder| folder.join("schemathesis"));
    let found = found.into_iter().find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: schemathesis is not installed (`pip install schemathesis`)");
    }
    found
}

/// Try all operations. `HEADROOM_EXAMPLES` says how many requests are made up for each, without a
/// bound of time.
fn run(server: &Server, folder: &Folder, arguments: &[&str]) {
    let Some(tool) = tool() else { return };
    let document = format!("http://{}/headroom/v1/openapi.json", server.address);
    let examples = std::env::var("HEADROOM_EXAMPLES").ok();
    let mut command = Command::new(tool);
    command.current_dir(folder.path(".")); // It keeps a cache where it runs.
    command.args(["--config-file", CONFIG, "run", &document, "--no-color"]);
    command.args(["--generation-database", "none", "--workers", "1"]);
    command.env("SCHEMATHESIS_HOOKS", HOOKS).env("PYTHONDONTWRITEBYTECODE", "1");
    match &examples {
        Some(count) => command.args(["--max-examples", count, "--continue-on-failure"]),
        None => command.args(["--max-examples", "5", "--max-time", SECONDS, "--seed", "1"]),
    };
    let output = command.args(arguments).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    println!("{told}");
}

#[test]
fn an_open_server_does_what_its_document_says() {
    let folder = Folder::new("schemathesis-open");
    let server = Server::start(&folder, &["--demo"]);
    // Here no request needs authentication, although the document is the same.
    let exempt = "ignored_auth,missing_required_header";
    let without = ["--exclude-checks", exempt, "--generation-with-security-parameters", "false"];
    run(&server, &folder, &without);
}

/// As admin, or in the role of `HEADROOM_ROLE`.
#[test]
fn a_server_with_identities_does_what_its_document_says() {
    let folder = Folder::new("schemathesis-roles");
    let role = std::env::var("HEADROOM_ROLE").unwrap_or_else(|_| "admin".into());
    let made = folder.succeed(&["token", "create", "one", "--role", &role, "--user", "ann"]);
    let server = Server::start(&folder, &["--auth-tokens", "headroom-tokens"]);
    let token = made.stdout.trim();
    run(&server, &folder, &["--header", &format!("Authorization: Bearer {token}")]);
}
