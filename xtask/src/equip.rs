//! Making a fresh machine fit to test on: what is missing is installed, or named.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{Bench, one};

/// How to get the checker of the dependency policy.
pub(crate) const INSTALL_DENY: &str = "cargo install cargo-deny --locked --version 0.20.2";

/// The version of the tool that tries the server's document.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// What the Python client and its tests need.
const PYTHON_CLIENT: &str =
    "httpx==0.28.1 pydantic==2.14.3 mypy==2.4.1 pytest==9.2.0 flit_core==3.12.0";

/// The generator of clients, which runs on Java.
const OPENAPI_GENERATOR: &str = "openapi-generator-cli==7.26.0";

/// Names that the browser goes by.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// A client of the scheduler interface that is not ours.
const FOREIGN_CLIENT: &str = "crates/headroom/tests/go";

/// A program on a client that is generated.
const GENERATED_CLIENT: &str = "crates/headroom/tests/generated";

/// Look for every tool and install what is missing. What cannot be installed is named; the
/// step that needs it then says what it means.
pub(crate) fn all(bench: &mut Bench) {
    components(bench);
    if !bench.has_cargo("deny") {
        let words: Vec<_> = INSTALL_DENY.split(' ').skip(1).collect();
        install("cargo-deny", INSTALL_DENY, bench.cargo(&words));
    }
    browser(bench);
    promtool(bench);
    schemathesis(bench);
    python(bench);
    openapi_generator(bench);
    go(bench);
}

/// The parts of the Rust toolchain that a minimal profile leaves out.
fn components(bench: &Bench) {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !bench.has_cargo(subcommand) {
            let by_hand = format!("rustup component add {component}");
            let command = bench.command("rustup", &["component", "add", component]);
            install(component, &by_hand, command);
        }
    }
}

/// The browser that opens the simulator's report and the server's page in tests.
fn browser(bench: &mut Bench) {
    if env::var_os("HEADROOM_CHROMIUM").is_some() {
        return;
    }
    if find_browser().is_none() {
        let by_hand = "apt-get update && apt-get install -y --no-install-recommends chromium";
        if find("apt-get").is_some() && is_root() {
            install("chromium", by_hand, bench.command("sh", &["-c", by_hand]));
        } else {
            println!("chromium is missing; on Debian, as root: {by_hand}");
        }
    }
    if let Some(path) = find_browser() {
        let path = OsString::from(path);
        bench.variables.push(("HEADROOM_CHROMIUM", path));
    }
}

/// The tool by which Prometheus judges metrics and alert rules.
fn promtool(bench: &mut Bench) {
    if env::var_os("HEADROOM_PROMTOOL").is_some() {
        return;
    }
    if find("promtool").is_none() {
        let by_hand = "apt-get update && apt-get install -y --no-install-recommends prometheus";
        if find("apt-get").is_some() && is_root() {
            install("promtool", by_hand, bench.command("sh", &["-c", by_hand]));
        } else {
            println!("promtool is missing; on Debian, as root: {by_hand}");
        }
    }
    if let Some(path) = find("promtool") {
        // A test that is told where it is fails when it cannot be run.
        bench.variables.push(("HEADROOM_PROMTOOL", OsString::from(path)));
    }
}

/// The tool that tries the server's `OpenAPI` document, in a Python environment of its own below the
/// build folder.
fn schemathesis(bench: &mut Bench) {
    if env::var_os("HEADROOM_SCHEMATHESIS").is_some() {
        return;
    }
    let folder = bench.target().join("schemathesis");
    let ours = folder.join("bin/schemathesis");
    if find("schemathesis").is_none() && !ours.is_file() {
        let folder = folder.display();
        let by_hand =
            format!("python3 -m venv {folder} && {folder}/bin/pip install --quiet {SCHEMATHESIS}");
        install("schemathesis", &by_hand, bench.command("sh", &["-c", &by_hand]));
    }
    if let Some(path) = Some(ours).filter(|path| path.is_file()).or_else(|| find("schemathesis")) {
        bench.variables.push(("HEADROOM_SCHEMATHESIS", OsString::from(path)));
    }
}

/// A Python environment with what the Python client needs, below the build folder.
fn python(bench: &mut Bench) {
    if env::var_os("HEADROOM_PYTHON").is_some() {
        return;
    }
    let folder = bench.target().join("python-client");
    if environment(bench, &folder, PYTHON_CLIENT) {
        bench.variables.push(("HEADROOM_PYTHON", folder.join("bin/python").into()));
    }
}

/// The generator of clients, below the build folder, and the Java that runs it.
fn openapi_generator(bench: &mut Bench) {
    if env::var_os("HEADROOM_OPENAPI_GENERATOR").is_some() {
        return;
    }
    if find("java").is_none() {
        let by_hand =
            "apt-get update && apt-get install -y --no-install-recommends default-jre-headless";
        if find("apt-get").is_some() && is_root() {
            install("java", by_hand, bench.command("sh", &["-c", by_hand]));
        } else {
            println!("java is missing; on Debian, as root: {by_hand}");
        }
    }
    let folder = bench.target().join("openapi-generator");
    if environment(bench, &folder, OPENAPI_GENERATOR) && find("java").is_some() {
        let path = folder.join("bin/openapi-generator-cli");
        bench.variables.push(("HEADROOM_OPENAPI_GENERATOR", path.into()));
    }
}

/// Makes a Python environment with these packages. Returns whether it has them.
fn environment(bench: &Bench, folder: &Path, packages: &str) -> bool {
    // The list of an earlier version of the project may be shorter.
    let list = folder.join("packages.txt");
    let has_all = || fs::read_to_string(&list).is_ok_and(|there| there.trim() == packages);
    if !has_all() {
        let place = folder.display();
        let by_hand = format!(
            "python3 -m venv {place} && {place}/bin/pip install --quiet {packages} && echo {packages} > {place}/packages.txt"
        );
        install(packages, &by_hand, bench.command("sh", &["-c", &by_hand]));
    }
    has_all()
}

/// The toolchain of the foreign client, and the modules that it is made of.
fn go(bench: &mut Bench) {
    if env::var_os("HEADROOM_GO").is_some() {
        return;
    }
    if find("go").is_none() {
        let by_hand = "apt-get update && apt-get install -y --no-install-recommends golang-go";
        if find("apt-get").is_some() && is_root() {
            install("go", by_hand, bench.command("sh", &["-c", by_hand]));
        } else {
            println!("go is missing; on Debian, as root: {by_hand}");
        }
    }
    if let Some(path) = find("go") {
        for folder in [FOREIGN_CLIENT, GENERATED_CLIENT] {
            let mut modules = bench.command("go", &["mod", "download"]);
            modules.current_dir(bench.root.join(folder));
            if let Err(error) = one(modules) {
                println!("{error:#}; the modules of {folder} cannot be had");
                return;
            }
        }
        // A test that is told where it is fails when it cannot be run.
        bench.variables.push(("HEADROOM_GO", OsString::from(path)));
    }
}

fn install(what: &str, by_hand: &str, command: Command) {
    println!("{what} is missing, installing it: {by_hand}");
    if let Err(error) = one(command) {
        println!("{error:#}; please install it yourself: {by_hand}");
    }
}

fn find_browser() -> Option<PathBuf> {
    BROWSERS.iter().find_map(|name| find(name))
}

/// The first program of this name on the search path.
fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_on_the_search_path() {
        assert!(find("sh").is_some());
        assert!(find("headroom-no-such-program").is_none());
    }
}
