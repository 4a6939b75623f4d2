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
        decisions "a2df769e5a9c62b22ee42cb5caa6d05f"
        campus.json 881acdca38b8db8b6de1edb0137e40a1
        campus.html 9f5f43dad8e93651e024031832fe69de
        csv/allocations.csv a969a2462b373445e1464dcf35ab40e4
        csv/decisions.csv 5fb7bbeef4e508ebcebd0c5d4c634d02
    "#]]
    .assert_eq(&found);
}
