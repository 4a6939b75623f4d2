//! What was meant to go before the work was handed in.

use super::Violation;
use crate::project::{Text, Tree};

/// Half-done work in code.
const UNFINISHED: [(&str, &str); 4] = [
    ("dbg!", "use tracing, or delete it"),
    ("todo!", "finish it, or return an error that says what is missing"),
    ("unimplemented!", "finish it, or return an error that says what is missing"),
    ("#[ignore", "assert today's behaviour and say what is wrong with it"),
];

/// Reminders in comments; put together here so that this file holds none.
const REMINDERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// No half-done work and no reminder of it.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let unfinished = tree.with_ending(&["rs"]).flat_map(unfinished_in);
    let reminders = tree
        .texts
        .iter()
        .filter(|text| text.ending() != "md" && !text.is_generated())
        .flat_map(reminders_in);
    unfinished.chain(reminders).collect()
}

/// No `unwrap()` outside tests: `expect` states the fact that makes failure impossible.
pub(super) fn unwraps(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for text in tree.with_ending(&["rs"]) {
        let Some(code) = &text.code else { continue };
        for place in code.find(".unwrap()") {
            if !code.in_tests(place) {
                let message = "unwrap() outside tests: use ?, or expect(\"the fact that …\")";
                found.push(Violation::new(text, code.line_of(place), message));
            }
        }
    }
    found
}

fn unfinished_in(text: &Text) -> Vec<Violation> {
    let Some(code) = &text.code else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (word, remedy) in UNFINISHED {
        for place in code.find(word) {
            let message = format!("{word} is left over: {remedy}");
            found.push(Violation::new(text, code.line_of(place), message));
        }
    }
    found
}

fn reminders_in(text: &Text) -> Vec<Violation> {
    let mut found = Vec::new();
    for (index, line) in text.content.lines().enumerate() {
        let mut words = line.split(|mark: char| !mark.is_alphanumeric());
        if let Some(word) = words.find(|word| REMINDERS.contains(word)) {
            let message = format!("{word}: do it now, or write it down where work is planned");
            found.push(Violation::new(text, index + 1, message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn unfinished_work_is_found() {
        for (text, expected) in [
            ("fn a() { dbg!(1); }", 1),
            ("fn a() { todo!() }", 1),
            ("fn a() { unimplemented!() }", 1),
            ("#[test] #[ignore = \"slow\"] fn a() {}", 1),
            ("fn a() { \"dbg!\"; } // todo!", 0),
            ("fn a() { not_dbg!(1); }", 0),
        ] {
            let files = [("crates/core/src/a.rs", text)];
            assert_eq!(found(check, &files).len(), expected, "{text}");
        }
    }

    #[test]
    fn reminders_are_found_in_code_and_not_in_prose() {
        let reminder = format!("a\n# {}: later", REMINDERS[0]);
        assert_eq!(found(check, &[("a.py", &reminder)]), ["a.py:2"]);
        assert_eq!(found(check, &[("a.md", &reminder)]).len(), 0);
        assert_eq!(found(check, &[("a.py", "# TODOS")]).len(), 0);
    }

    #[test]
    fn unwrap_is_for_tests() {
        for (path, text, expected) in [
            ("crates/core/src/a.rs", "fn a() { b.unwrap() }", 1),
            ("crates/core/src/a.rs", "#[test] fn a() { b.unwrap() }", 0),
            ("crates/core/tests/a.rs", "fn a() { b.unwrap() }", 0),
            ("crates/core/src/a.rs", "/// b.unwrap()\nfn a() { b.unwrap_or(1) }", 0),
        ] {
            assert_eq!(found(unwraps, &[(path, text)]).len(), expected, "{text}");
        }
    }
}
