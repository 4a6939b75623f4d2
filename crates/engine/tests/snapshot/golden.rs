//! A snapshot of an earlier version, stored as a file: it remains readable.
//!
//! The file is made once for each [`FORMAT`], by `HEADROOM_GOLDEN=write`, and never again: fields
//! that are appended later are read with their defaults, and only the words change.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use headroom_core::books::Books;
use headroom_engine::snapshot::FORMAT;

use super::{books, read, story, written};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/books-{FORMAT}.snapshot"))
}

#[test]
fn an_old_snapshot_is_read_as_what_it_was() {
    if std::env::var("HEADROOM_GOLDEN").is_ok_and(|wish| wish == "write") && !golden().exists() {
        fs::write(golden(), written(&books())).unwrap();
    }
    let books: Books = read(&fs::read(golden()).unwrap()).unwrap();
    books.check().unwrap();
    expect_file!["../golden/books.txt"].assert_eq(&story::in_words(&books));
}

#[test]
fn the_story_has_something_of_everything() {
    let words = story::in_words(&books());
    for part in [
        "reservation: Some(Reservation",
        "partner: Some(a",
        "preemption_tried: Some(",
        "preemption_triggered: true",
        "mark: Preempted",
        "mark: Released",
        "Foreign {",
        "Rejected {",
        "TaskGroup {",
        "required_node: Some(\"n3\")",
        "question: Some(",
        "Verdict {",
        "template: Some(",
        "managed: false",
        "Level(l",
        "from_wildcard: true",
        "state: Completing",
        "usage: Some(",
    ] {
        assert!(words.contains(part), "no {part}");
    }
}
