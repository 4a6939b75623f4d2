//! Every command of the tutorial runs, in its order, and prints what the tutorial shows.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::readme::{ADDRESS, ROOT, timeless};
use super::support::Folder;
use super::support::server::Server;

/// A fenced block: its language and its lines, with the line of text above it.
struct Block<'page> {
    above: &'page str,
    language: &'page str,
    lines: Vec<&'page str>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let (mut above, mut open) = ("", false);
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(language) if !open => {
                found.push(Block { above, language, lines: Vec::new() });
                open = true;
            }
            Some(_) => open = false,
            None if open => found.last_mut().unwrap().lines.push(line),
            None if line.is_empty() => {}
            None => above = line,
        }
    }
    found
}

/// The file that a text says to save a block as.
fn saved_as(above: &str) -> Option<&str> {
    let (_, rest) = above.split_once("Save this file as `")?;
    Some(rest.split_once('`')?.0)
}

/// The commands of a block, each with the output that is shown.
fn commands<'page>(block: &Block<'page>) -> Vec<(&'page str, String)> {
    let prompt = if block.language == "console" { "$ headroom " } else { "headroom " };
    let mut found: Vec<(&str, String)> = Vec::new();
    for line in &block.lines {
        match line.strip_prefix(prompt) {
            Some(command) => found.push((command, String::new())),
            None if block.language == "console" => {
                let (_, output) = found.last_mut().expect("a block begins with a command");
                writeln!(output, "{line}").unwrap();
            }
            None => {}
        }
    }
    found
}

#[test]
fn every_command_of_the_tutorial_runs_and_prints_what_is_shown() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/tutorial.md")).unwrap();
    let folder = Folder::new("serve-tutorial");
    let blocks = blocks(&page);
    for block in blocks.iter().filter(|block| block.language == "yaml") {
        let name = saved_as(block.above).expect("the text above a file names it");
        fs::write(folder.path(name), block.lines.join("\n") + "\n").unwrap();
    }
    let nodes = "2*{vcore: 16, memory: 64Gi}";
    let serve = format!("serve --queues queues.yaml --demo-nodes '{nodes}'");
    let server = Server::start(&folder, &["--queues", "queues.yaml", "--demo-nodes", nodes]);
    super::wait_for_a_node(&server, &folder);
    let url = format!("http://{}", server.address);
    let (mut ran, mut serves) = (0, false);
    let shells = blocks.iter().filter(|block| ["console", "sh"].contains(&block.language));
    for (command, shown) in shells.flat_map(commands) {
        if command.starts_with("serve ") {
            assert_eq!(command, serve, "the server of this test is that of the tutorial");
            serves = true;
            continue;
        }
        let (line, file) = command.split_once(" > ").unwrap_or((command, ""));
        let to_run = line.replace(ADDRESS, &url);
        let words: Vec<&str> = to_run.split_whitespace().collect();
        let output = folder.command(&words).env("HEADROOM_SERVER", &url).output().unwrap();
        // A plan with differences ends with 2.
        let expected = if words[0] == "plan" { 2 } else { 0 };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "{command}: {errors}");
        let printed = String::from_utf8(output.stdout).unwrap();
        if !file.is_empty() {
            fs::write(folder.path(file), &printed).unwrap();
        }
        if !shown.is_empty() {
            assert_eq!(timeless(&printed), timeless(&shown), "{command}\n{printed}");
        }
        ran += 1;
    }
    assert!(serves && ran > 12, "the tutorial starts a server and asks it: {ran}");
}
