//! The written reports, of a synthetic run: same bytes twice, harmless names, checkable CSV.

mod support;

use std::fs;
use std::path::PathBuf;

use headroom_sim::metric::summarise;
use headroom_sim::report::json::{self, Document};
use headroom_sim::report::{csv, html, table};

fn directory() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report-files");
    fs::create_dir_all(&path).unwrap();
    path
}

fn document() -> Document {
    Document::new(
        support::header(),
        summarise(&support::synthetic()),
        Vec::new(),
    )
}

#[test]
fn the_same_run_gives_the_same_bytes_twice() {
    let (first, second) = (document(), document());
    assert_eq!(json::render(&first), json::render(&second));
    assert_eq!(html::page(&first), html::page(&second));
    let text = |one: &Document| table::render(&one.header, &one.summary, None);
    assert_eq!(text(&first), text(&second));
    // Kept for a person who wants to look at them.
    fs::write(directory().join("report.html"), html::page(&first)).unwrap();
    fs::write(directory().join("report.json"), json::render(&first)).unwrap();
    fs::write(directory().join("report.txt"), text(&first)).unwrap();
}
