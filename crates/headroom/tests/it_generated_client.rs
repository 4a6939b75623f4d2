//! A Go client that a generator makes from the document of the API: it compiles, and works against the real process.
//!
//! `generated/` has the program that uses the client.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what failed")]

mod support;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::Folder;
use support::server::Server;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../api/openapi.json");
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/generated");

/// How many lines the program prints for checks.
const CHECKS: usize = 12;

const QUEUES: &str = "
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: limited
            userlimits: {minimumuserlimitpercent: 30}
    tenants: {enabled: true}
";

/// How to get what is missing.
const HELP: &str = "it needs Go, Java 11, and `pip install openapi-generator-cli` in an environment of its own; on Debian: \
                    apt-get install golang-go default-jre-headless";

/// Returns the tool that this variable names, or else the one on the search path.
fn tool(variable: &str, name: &str) -> Option<OsString> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let on_path =
        || std::env::split_paths(&paths).map(|one| one.join(name)).find(|one| one.is_file());
    std::env::var_os(variable).or_else(|| on_path().map(PathBuf::into_os_string))
}

/// Returns what the command prints, and fails unless it succeeds.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed =
        String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}: {printed}");
    printed
}

/// Generates the client next to a copy of the program, and builds both.
fn build(generator: &OsString, go: &OsString, folder: &Folder) -> PathBuf {
    for name in ["main.go", "go.mod", "go.sum"] {
        folder.write(name, std::fs::read(Path::new(PROGRAM).join(name)).unwrap());
    }
    let parts =
        "models,apis,supportingFiles,modelTests=false,apiTests=false,modelDocs=false,apiDocs=false";
    let mut generate = Command::new(generator);
    generate
        .current_dir(folder.path("."))
        .args(["generate", "-g", "go", "-i", DOCUMENT, "-o", "client"]);
    generate.args(["--package-name", "client", "--additional-properties=withGoMod=false"]);
    run(generate.args(["--global-property", parts]));
    let program = folder.path("program");
    let mut build = Command::new(go);
    build.current_dir(folder.path(".")).args(["build", "-mod=readonly", "-buildvcs=false", "-o"]);
    run(build.arg(&program).arg("."));
    program
}

#[test]
fn a_client_that_is_generated_from_the_document_compiles_and_works() {
    let generator = tool("HEADROOM_OPENAPI_GENERATOR", "openapi-generator-cli");
    let (Some(generator), Some(go)) = (generator, tool("HEADROOM_GO", "go")) else {
        println!("skipped: the generator or Go is missing; {HELP}");
        return;
    };
    let folder = Folder::new("generated-client");
    let program = build(&generator, &go, &folder);
    folder.write("queues.yaml", QUEUES);
    let server = Server::start(&folder, &["--queues", "queues.yaml"]);
    let printed = run(Command::new(program).arg(format!("http://{}", server.address)));
    println!("{printed}");
    assert_eq!(printed.matches("ok    ").count(), CHECKS, "{printed}");
}
