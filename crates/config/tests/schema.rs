//! The table of the queue file's keys: the page, the list, and the file in force.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::collections::BTreeSet;
use std::path::Path;

use headroom_config::schema::{self, Block, Content, Shown};
use headroom_config::{outline, read};

/// A file with every setting.
const EVERYTHING: &str = include_str!("everything.yaml");

/// `UPDATE_EXPECT=1` writes the page.
#[test]
fn the_page_is_that_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/queue-file.md");
    expect_test::expect_file![path].assert_eq(&schema::page());
}

#[test]
fn every_setting_is_read_and_shown() {
    read(EVERYTHING).unwrap_or_else(|faults| panic!("{faults}"));
    let mut shown = BTreeSet::new();
    for partition in outline(EVERYTHING).unwrap() {
        collect(&partition, &mut shown);
    }
    let mut expected = BTreeSet::new();
    every(schema::partition(), &mut expected);
    // The limits of a partition are shown as those of its root.
    expected.remove("a partition: limits");
    assert_eq!(shown, expected);
}

/// The settings that a content has.
fn collect(content: &Content, found: &mut BTreeSet<String>) {
    match content {
        Content::List(items) => items.iter().for_each(|item| collect(item, found)),
        Content::Pairs(pairs) => pairs.iter().for_each(|(_, one)| collect(one, found)),
        Content::Block(block, rows) => {
            for (setting, content) in rows {
                found.insert(format!("{}: {}", block.what, setting.key));
                collect(content, found);
            }
        }
        Content::Switch(_)
        | Content::Whole(_)
        | Content::Decimal(_)
        | Content::Number(_)
        | Content::Text(_) => {}
    }
}

/// The settings of a block and of the blocks in it.
fn every(block: &'static Block, found: &mut BTreeSet<String>) {
    for setting in block.settings {
        let is_new = found.insert(format!("{}: {}", block.what, setting.key));
        if let Some(inner) = setting.holds.block().filter(|_| is_new) {
            every(inner, found);
        }
    }
}

#[test]
fn each_row_says_what_it_is() {
    let mut names = BTreeSet::new();
    let mut blocks = vec![schema::file()];
    while let Some(block) = blocks.pop() {
        if !names.insert(block.what) {
            continue;
        }
        assert!(!block.about.is_empty(), "{}", block.what);
        let mut keys = BTreeSet::new();
        for setting in block.settings {
            let name = format!("{}: {}", block.what, setting.key);
            assert!(keys.insert(setting.key), "{name} stands twice");
            assert!(!setting.meaning.is_empty() && !setting.json.is_empty(), "{name}");
            assert!(setting.key == setting.key.to_lowercase(), "{name}");
            blocks.extend(setting.holds.block());
        }
    }
    assert!(names.len() > 15, "{names:?}");
}

#[test]
fn keys_are_found_by_their_path() {
    let all = schema::keys(None).unwrap();
    assert!(all.iter().any(|line| line.key == "partitions[].queues[].capacity.mode"));
    let some = schema::keys(Some("tenants.defaults")).unwrap();
    assert_eq!(some[0].key, "partitions[].tenants.defaults");
    assert!(some.len() > 5 && some.iter().all(|line| line.key.contains("tenants.defaults")));
    assert_eq!(schema::keys(Some("capacitty")).unwrap_err(), Some("capacity"));
    assert_eq!(schema::keys(Some("no such key at all")).unwrap_err(), None);
    assert_eq!(Shown::Written, schema::file().settings[1].shown);
}
