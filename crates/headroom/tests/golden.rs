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
        decisions "da97aee068f8b124ba4a9622b43d16cc"
        campus.json ccd5b63815031a340d66eab085aff41f
        campus.html 79a51719d775a00b594f2b5be1346d95
        csv/allocations.csv a969a2462b373445e1464dcf35ab40e4
        csv/decisions.csv d15c494c42c807b728d0460dfb35e184
    "#]]
    .assert_eq(&found);
}
