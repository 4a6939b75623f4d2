//! A subcommand that nobody shows is one that nobody finds.

use super::Violation;
use crate::project::{Text, Tree};

const COMMANDS: &str = "crates/headroom/src/command/";

/// Every subcommand of the binary is shown as `headroom <name>` in the README or in docs.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for text in tree.with_ending(&["rs"]) {
        let Some(name) = subcommand_of(&text.path) else {
            continue;
        };
        if !pages(tree).any(|page| shows(&page.content, &name)) {
            let message = format!("no example of `headroom {name}` in README.md or docs/");
            found.push(Violation::new(text, 1, message));
        }
    }
    found
}

fn pages(tree: &Tree) -> impl Iterator<Item = &Text> {
    tree.with_ending(&["md"])
        .filter(|page| page.path == "README.md" || page.path.starts_with("docs/"))
}

/// `command/journal_verify.rs` and `command/journal_verify/mod.rs` both make `journal-verify`.
fn subcommand_of(path: &str) -> Option<String> {
    let rest = path.strip_prefix(COMMANDS)?;
    let name = match rest.split_once('/') {
        Some((directory, "mod.rs")) => directory,
        Some(_) => return None,
        None => rest.strip_suffix(".rs")?,
    };
    (name != "mod" && name != "tests").then(|| name.replace('_', "-"))
}

fn shows(page: &str, name: &str) -> bool {
    let example = format!("headroom {name}");
    page.match_indices(&example).any(|(place, _)| {
        let after = page[place + example.len()..].chars().next();
        after.is_none_or(|mark| mark != '-' && !mark.is_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    #[test]
    fn a_subcommand_without_example_is_found() {
        for (file, page, expected) in [
            ("simulate.rs", "run `headroom simulate a.swf`", 0),
            ("simulate.rs", "run `headroom simulates`", 1),
            ("simulate.rs", "simulate", 1),
            ("dry_run/mod.rs", "headroom dry-run", 0),
            ("dry_run/table.rs", "", 0),
            ("mod.rs", "", 0),
        ] {
            let path = format!("{}{file}", super::COMMANDS);
            let files = [(&*path, ""), ("docs/guide.md", page)];
            assert_eq!(found(check, &files).len(), expected, "{file} with {page:?}");
        }
    }
}
