//! `tidy`: the rules of the house that no other tool checks, one per file.

mod decision;
mod edge;
mod layer;
mod leftover;
mod length;
mod link;
mod machine_path;
mod purity;
mod section;
mod subcommand;
mod tracker;
mod wildcard;

use std::fmt;
use std::path::Path;

use anyhow::Result;

use crate::project::{Text, Tree};
use crate::tally::Tally;

/// A place where the project breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    path: String,
    line: usize,
    /// What is wrong, with both sides of a comparison.
    message: String,
}

impl Violation {
    fn new(text: &Text, line: usize, message: impl Into<String>) -> Self {
        Self { path: text.path.clone(), line, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.path, self.line, self.message)
    }
}

type Rule = fn(&Tree) -> Vec<Violation>;

/// Every rule, by the name that its report carries.
const RULES: [(&str, Rule); 12] = [
    ("core layers", layer::check),
    ("crate table", edge::check),
    ("core purity", purity::check),
    ("trackers by themselves", tracker::check),
    ("leftovers", leftover::check),
    ("unwrap", leftover::unwraps),
    ("machine paths", machine_path::check),
    ("subcommand examples", subcommand::check),
    ("decision index", decision::check),
    ("links", link::check),
    ("cited sections", section::check),
    ("cases of the core", wildcard::check),
];

/// What is only worth a look: a long file or function may be the clearest way, or hide two subjects.
const ADVICE: [(&str, Rule); 2] =
    [("file length", length::files), ("function length", length::functions)];

/// Check every rule and print what breaks one. Each rule counts as one test.
///
/// # Errors
/// When the project cannot be read.
pub(crate) fn run(root: &Path) -> Result<Tally> {
    let tree = Tree::read(root)?;
    let mut tally = Tally::default();
    for (name, rule) in RULES {
        let mut violations = rule(&tree);
        violations.sort();
        for violation in &violations {
            println!("{violation} ({name})");
        }
        tally += Tally::of(violations.is_empty());
    }
    for (name, rule) in ADVICE {
        for one in rule(&tree) {
            println!("{one} ({name}; a question, not an error)");
        }
    }
    println!("tidy: {} of {} rules hold", tally.passed, RULES.len());
    Ok(tally)
}

/// What a rule finds in a project of these files, in short form.
#[cfg(test)]
fn found(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
    let violations = rule(&Tree::of(files));
    violations.iter().map(|one| format!("{}:{}", one.path, one.line)).collect()
}
