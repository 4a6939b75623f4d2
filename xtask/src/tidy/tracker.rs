//! The trackers of users and groups stand by themselves: they know paths, names and amounts.

use super::Violation;
use crate::project::{Text, Tree};
use crate::scan::is_word_byte;

const FOLDER: &str = "crates/core/src/books/tracker/";

/// Modules of the core that the trackers may use.
const MODULES: [&str; 7] = ["id", "name", "ordered", "resource", "stored", "table", "time"];

/// Ids that the trackers may name: one opaque element of a path, and their own.
const IDS: [&str; 3] = ["QueueId", "TrackerId", "LevelId"];

/// No file of the trackers imports a queue, an application or an allocation, or names any id
/// but its own and the elements of a path. Its tests may.
pub(super) fn check(tree: &Tree) -> Vec<Violation> {
    let texts = tree.with_ending(&["rs"]).filter(|text| text.path.starts_with(FOLDER));
    texts.filter(|text| !text.path.ends_with("tests.rs")).flat_map(check_file).collect()
}

fn check_file(text: &Text) -> Vec<Violation> {
    let Some(code) = &text.code else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut note = |place: usize, message: String| {
        if !code.in_tests(place) {
            found.push(Violation::new(text, code.line_of(place), message));
        }
    };
    for place in code.find("crate::") {
        let module = word_at(code.masked(), place + "crate::".len());
        if !MODULES.contains(&module) {
            note(place, format!("the trackers use {module}: they know {}", MODULES.join(", ")));
        }
    }
    for place in code.find("super::super::") {
        note(place, "the trackers reach for what is around them".to_owned());
    }
    for word in words(code.masked()).filter(|(_, word)| word.ends_with("Id") && word.len() > 2) {
        let (place, word) = word;
        if !IDS.contains(&word) {
            note(place, format!("the trackers name {word}: their ids are {}", IDS.join(", ")));
        }
    }
    found
}

/// The words of a text with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let starts = text.bytes().enumerate().filter(|(place, byte)| {
        let before = place.checked_sub(1).map(|before| text.as_bytes()[before]);
        is_word_byte(*byte) && !before.is_some_and(is_word_byte)
    });
    starts.map(|(place, _)| (place, word_at(text, place)))
}

fn word_at(text: &str, place: usize) -> &str {
    let rest = &text[place..];
    let end = rest.bytes().position(|byte| !is_word_byte(byte)).unwrap_or(rest.len());
    &rest[..end]
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::check;

    #[test]
    #[doc(alias = "SD-13")]
    fn trackers_know_no_queue_and_no_application() {
        for (path, text, expected) in [
            ("crates/core/src/books/tracker/a.rs", "use crate::id::{LevelId, QueueId};", 0),
            ("crates/core/src/books/tracker/a.rs", "use crate::resource::Resources;", 0),
            ("crates/core/src/books/tracker/a.rs", "use crate::books::Queue;", 1),
            ("crates/core/src/books/tracker/a.rs", "use crate::books::application::Link;", 1),
            ("crates/core/src/books/tracker/a.rs", "use crate::{Name, books::Books};", 1),
            ("crates/core/src/books/tracker/a.rs", "use crate::id::ApplicationId;", 1),
            ("crates/core/src/books/tracker/a.rs", "fn a(of: AllocationId, at: NodeId) {}", 2),
            ("crates/core/src/books/tracker/a.rs", "use super::super::queue::Queue;", 1),
            ("crates/core/src/books/tracker/a.rs", "// crate::books::Queue, ApplicationId", 0),
            ("crates/core/src/books/tracker/tests.rs", "use crate::books::Queue;", 0),
            ("crates/core/src/books/queue.rs", "use crate::books::Application;", 0),
        ] {
            assert_eq!(found(check, &[(path, text)]).len(), expected, "{path}: {text}");
        }
    }
}
