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
        decisions "71ef7b021f40b1ab81c8c4aeaf6a61f1"
        campus.json fa5ee6c1af12948e388ee8807c2fe9c3
        campus.html b2425161a526fa17bbb9787ce4515368
        csv/allocations.csv 1db0c77613eae89365e19bc097b11237
        csv/decisions.csv d7919f204e67f967fe04e587c4f35c31
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
        scenes.json 24b07fee57fae51b697c1097dca7bb04
        scenes.html e3d7eb5e6ff91c97b56b6f100d1c8039
    "#]]
    .assert_eq(&found);
}
