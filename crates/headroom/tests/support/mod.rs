//! What the tests of the binary share: running it in a folder of its own, and an independent
//! check of what it wrote.

#![allow(dead_code)] // Not every test file needs everything.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says what failed")]

pub(crate) mod checker;
pub(crate) mod moves;
pub(crate) mod server;
pub(crate) mod wrong;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder with the files that the project brings along.
pub(crate) const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// A folder of a test's own; the name must be used once. It stays for who wants to look.
pub(crate) struct Folder {
    path: PathBuf,
}

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self { path }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.path(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The examples as `examples/`, as they lie in the project.
    pub(crate) fn with_examples(self) -> Self {
        for entry in fs::read_dir(EXAMPLES).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            self.write(&format!("examples/{name}"), fs::read(&path).unwrap());
        }
        self
    }

    /// The command, to be run in this folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_headroom"));
        command.args(arguments).current_dir(&self.path).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().unwrap();
        Ran {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Run, and say why if it did not succeed.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        ran
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// Check the CSV files in `csv` against the text of a queue file.
    pub(crate) fn check(&self, csv: &str, queues: &str) -> Vec<String> {
        checker::check(&checker::Files {
            queues: queues.to_owned(),
            jobs: self.read(&format!("{csv}/jobs.csv")),
            allocations: self.read(&format!("{csv}/allocations.csv")),
            nodes: self.read(&format!("{csv}/nodes.csv")),
        })
    }
}

/// Returns a file of the real traces. `None`, with a message, if they are not available.
pub(crate) fn trace(path: &str) -> Option<String> {
    let Some(folder) = std::env::var_os("HEADROOM_TRACES") else {
        println!("skipped: HEADROOM_TRACES is not set");
        return None;
    };
    let path = Path::new(&folder).join(path);
    assert!(path.is_file(), "{} is missing", path.display());
    Some(path.to_str().unwrap().to_owned())
}

/// A queue file whose leaves order their applications by fair share.
pub(crate) fn fair(queues: &str) -> String {
    let mut out = String::new();
    for line in queues.lines() {
        out.push_str(line);
        out.push('\n');
        if let Some(indent) = line.find("submitacl:") {
            let indent = " ".repeat(indent);
            writeln!(out, "{indent}properties:\n{indent}  application.sort.policy: fair").unwrap();
        }
    }
    out
}

/// How many jobs waited for something with this code, by the JSON report.
pub(crate) fn jobs_that_waited_for(report: &serde_json::Value, code: &str) -> u64 {
    let blockers = report["summary"]["blockers"].as_array().unwrap();
    let of_code = blockers.iter().filter(|one| one["code"] == code && one["wait_ms"] != 0);
    of_code.map(|one| one["jobs"].as_u64().unwrap()).sum()
}

/// The commands that a page shows: indented lines that begin with the program's name, without
/// that name.
pub(crate) fn commands(page: &str) -> Vec<Vec<String>> {
    let joined = page.replace("\\\n", " ");
    let shown = joined.lines().filter_map(|line| line.strip_prefix("    headroom "));
    shown.map(words).collect()
}

/// The words of a command line; single quotes hold one together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (position, part) in line.split('\'').enumerate() {
        if position % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
