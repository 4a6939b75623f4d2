//! What the README shows of an explanation and of a plan is what the program says.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::support::Folder;
use super::support::server::Server;

pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// The server of the README.
pub(crate) const ADDRESS: &str = "http://127.0.0.1:9080";
const HEADING: &str = "## Ask why, and what if";

/// The block of commands with their output.
fn shown() -> String {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let (_, section) = readme.split_once(HEADING).expect("the README has the section");
    let (_, block) = section.split_once("```console\n").expect("it has a block of commands");
    block.split_once("```").expect("it has an end").0.to_owned()
}

/// The same without times and numbers of records, which are others each time.
pub(crate) fn timeless(text: &str) -> String {
    let is_time = |word: &str| word.contains('T') && word.trim_end_matches(',').ends_with('Z');
    let mut all = String::new();
    for line in text.lines() {
        let line = if line.starts_with("as of record ") { "as of record" } else { line };
        let words = line.split(' ').map(|word| if is_time(word) { "TIME" } else { word });
        writeln!(all, "{}", words.collect::<Vec<_>>().join(" ")).unwrap();
    }
    all
}

#[test]
fn the_readme_shows_an_explanation_and_a_plan_as_they_are() {
    let folder = Folder::new("serve-readme");
    let examples = Path::new(ROOT).join("examples");
    fs::create_dir(folder.path("examples")).unwrap();
    for file in ["tenants.yaml", "tenants-limited.yaml"] {
        fs::copy(examples.join(file), folder.path(&format!("examples/{file}"))).unwrap();
    }
    let nodes = "1*{vcore: 128, memory: 256G}";
    let arguments = ["--queues", "examples/tenants.yaml", "--demo-nodes", nodes];
    let server = Server::start(&folder, &arguments);
    super::wait_for_a_node(&server, &folder);
    let url = format!("http://{}", server.address);
    let block = shown();
    let mut said = String::new();
    for line in block.lines().filter_map(|line| line.strip_prefix("$ headroom ")) {
        let to_run = line.replace(ADDRESS, &url);
        let words: Vec<&str> = to_run.split_whitespace().collect();
        let ran = folder.command(&words).env("HEADROOM_SERVER", &url).output().unwrap();
        let errors = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(errors, "", "{line}");
        let output = String::from_utf8(ran.stdout).unwrap();
        // What makes the scene is shown without what it answers.
        let is_shown = ["explain", "plan"].contains(&words[0]);
        let output = if is_shown { output.as_str() } else { "" };
        write!(said, "$ headroom {line}\n{output}").unwrap();
    }
    assert_eq!(timeless(&said), timeless(&block), "copy this into the README:\n{said}");
}
