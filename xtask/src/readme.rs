//! The step `readme`: what the README promises first, works.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::project;
use crate::scratch::Scratch;
use crate::step::{Bench, one};
use crate::tally::Tally;

const HEADING: &str = "Try it";

/// Directories that the commands of a README have no use for; one of them is large.
const LEFT_OUT: [&str; 1] = ["conformance"];

/// Run the first block of commands under "Try it", in a copy of the project, so that what
/// it writes does not stay.
///
/// # Errors
/// When the copy cannot be made, or a command fails.
pub(crate) fn run(bench: &Bench) -> Result<Tally> {
    let Ok(readme) = fs::read_to_string(bench.root.join("README.md")) else {
        println!("there is no README.md yet");
        return Ok(Tally::skipped());
    };
    let script = commands(&readme)
        .with_context(|| format!("README.md has no block of commands under \"{HEADING}\""))?;
    let scratch = Scratch::new()?;
    copy(&bench.root, scratch.path())?;
    println!("{script}");
    let mut command = bench.command("bash", &["-euo", "pipefail", "-c", &script]);
    command.current_dir(scratch.path());
    // The dependencies are compiled already; only our own crates are compiled again.
    command.env("CARGO_TARGET_DIR", bench.root.join("target"));
    one(command)
}

/// The first fenced block under the heading, without prompts.
fn commands(readme: &str) -> Option<String> {
    let mut lines = readme.lines();
    lines.find(|line| {
        let title = line.trim_start_matches('#');
        title.len() < line.len() && title.trim() == HEADING
    })?;
    let mut section = lines.take_while(|line| !line.starts_with("# ") && !line.starts_with("## "));
    section.find(|line| line.starts_with("```"))?;
    let block: Vec<_> = section
        .take_while(|line| !line.starts_with("```"))
        .map(|line| line.strip_prefix("$ ").unwrap_or(line))
        .collect();
    Some(block.join("\n"))
}

fn copy(root: &Path, to: &Path) -> Result<()> {
    for file in project::files_below(root)? {
        let name = file.strip_prefix(root).unwrap_or(&file);
        if LEFT_OUT.iter().any(|directory| name.starts_with(directory)) {
            continue;
        }
        let target = to.join(name);
        let parent = target.parent().unwrap_or(to);
        fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
        fs::copy(&file, &target).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_block_under_the_heading_is_taken() {
        for (readme, expected) in [
            ("# A\n```\nno\n```\n## Try it\ntext\n```sh\n$ one\ntwo\n```\n", Some("one\ntwo")),
            ("## Try it\n## Test it\n```\nno\n```\n", None),
            ("Try it\n```\nno\n```\n", None),
        ] {
            assert_eq!(commands(readme).as_deref(), expected, "{readme}");
        }
    }

    #[test]
    fn the_copy_has_the_sources_and_leaves_out_what_is_built() {
        let (from, to) = (Scratch::new().unwrap(), Scratch::new().unwrap());
        for name in ["docs/a.md", "target/big", "conformance/a.jsonl"] {
            let file = from.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "x").unwrap();
        }
        copy(from.path(), to.path()).unwrap();
        assert!(to.path().join("docs/a.md").is_file());
        assert!(!to.path().join("target").exists());
        assert!(!to.path().join("conformance").exists());
    }
}
