//! How a snapshot grows: fields are appended with a default.

use serde::{Deserialize, Serialize};

use super::{read, written};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Before {
    name: String,
    rows: Vec<RowBefore>,
    last: u8,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RowBefore {
    size: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct After {
    name: String,
    rows: Vec<RowAfter>,
    last: u8,
    #[serde(default)]
    more: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RowAfter {
    size: u32,
    #[serde(default = "seven")]
    weight: u64,
    #[serde(default)]
    marks: Vec<bool>,
}

fn seven() -> u64 {
    7
}

#[test]
fn a_field_that_is_appended_with_a_default_leaves_old_snapshots_readable() {
    let rows = vec![RowBefore { size: 1 }, RowBefore { size: 70_000 }];
    let before = Before { name: "books".into(), rows, last: 9 };
    let row = |size| RowAfter { size, weight: 7, marks: Vec::new() };
    let expected =
        After { name: "books".into(), rows: vec![row(1), row(70_000)], last: 9, more: None };
    assert_eq!(read::<After>(&written(&before)).unwrap(), expected);
}

#[test]
fn a_version_that_does_not_know_a_field_refuses_what_has_it() {
    let row = RowAfter { size: 1, weight: 2, marks: vec![true] };
    let after = After { name: "books".into(), rows: vec![row], last: 9, more: None };
    let refusal = read::<Before>(&written(&after)).unwrap_err();
    assert!(
        refusal.to_string().starts_with("the snapshot has invalid data near byte"),
        "a field is never lost without a word: {refusal}"
    );
}
