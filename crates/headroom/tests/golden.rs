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
        decisions "0167ab3d1a3424b8fc448e47a61f9b5f"
        campus.json c05f3db486af5173e68cd86bdb49e647
        campus.html f290790c82e81f3834de9395d400742f
        csv/allocations.csv 10800e04d27d5910b8e3ed3d8402b46f
        csv/decisions.csv b6cf967a7ff3557754663259adf770c9
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
        scenes.json ba04ebc000299c2d7c4ae7c9f121e794
        scenes.html 1046beb9e02e9ba27fb30f1f9116cadf
    "#]]
    .assert_eq(&found);
}
