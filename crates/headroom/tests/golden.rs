//! The same bytes on every machine and in every build: this run's digest and the hashes of its
//! files are pinned. Run it with `cargo test` and with `cargo test --release`.
//!
//! A change of decisions or of the report changes them on purpose: `UPDATE_EXPECT=1` then
//! writes the new ones.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use std::fmt::Write;

use expect_test::expect;
use support::Folder;
use xxhash_rust::xxh3::xxh3_128;

#[test]
fn the_example_gives_these_bytes() {
    let folder = Folder::new("golden");
    folder.succeed(&[
        "simulate",
        "--json",
        "campus.json",
        "--report",
        "campus.html",
        "--csv",
        "csv",
    ]);
    let mut found = format!("decisions {}\n", folder.json("campus.json")["summary"]["digest"]);
    for file in ["campus.json", "campus.html", "csv/allocations.csv", "csv/decisions.csv"] {
        let hash = xxh3_128(folder.read(file).as_bytes());
        writeln!(found, "{file} {hash:032x}").unwrap();
    }
    expect![[r#"
        decisions "ebbd322d87d4c0dd6cced43278c7a9f1"
        campus.json aed7bb297f3619671b5a8f06d966f302
        campus.html 62d9da07c6a80fe5f940b21d0ac89cce
        csv/allocations.csv 1bb831f0b60b377b488b5d6d8e44cea5
        csv/decisions.csv 78c4d7790c9a5c478a34e93dbb2fd0ce
    "#]]
    .assert_eq(&found);
}

#[test]
#[expect(clippy::needless_raw_string_hashes, reason = "expect-test writes the text")]
fn the_scenes_give_these_bytes() {
    let folder = Folder::new("golden-scenes");
    folder.succeed(&["simulate", "scenes", "--json", "scenes.json", "--report", "scenes.html"]);
    let mut found = String::new();
    for file in ["scenes.json", "scenes.html"] {
        let hash = xxh3_128(folder.read(file).as_bytes());
        writeln!(found, "{file} {hash:032x}").unwrap();
    }
    expect![[r#"
        scenes.json 6e105d81eac9a4dd9bcd08a4c6ea70b3
        scenes.html b0acb0f47e94d7a04413a819ececc139
    "#]]
    .assert_eq(&found);
}
