//! The HTML reports in a real browser: they draw what the JSON says, and fit a phone.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

#[allow(dead_code, reason = "the page of the server is looked at in other ways")]
mod browser;
#[path = "browser/look.rs"]
mod look;
mod support;

use std::fs;
use std::path::PathBuf;

use browser::Browser;
use headroom_sim::metric::summarise;
use headroom_sim::report::json::{self, Document};
use headroom_sim::report::{Curves, html};
use headroom_sim::study::Study;
use serde_json::Value;

/// The report and its JSON as files in a directory of its own.
fn report() -> (PathBuf, Value) {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report-browser");
    fs::create_dir_all(&directory).unwrap();
    let limit = Curves {
        title: "user <b>ann</b> at root".to_owned(),
        quantity: "vcore of the user".to_owned(),
        unit: "cores".to_owned(),
        curves: vec![
            ("limit".to_owned(), vec![(0, 480.0), (500_000_000, 320.0)]),
            ("usage".to_owned(), vec![(0, 0.0), (90_000_000, 300.5)]),
        ],
    };
    let summary = summarise(&support::synthetic());
    let document = Document::new(support::header(), summary, vec![limit]);
    fs::write(directory.join("report.html"), html::page(&document)).unwrap();
    fs::write(directory.join("report.json"), json::render(&document)).unwrap();
    let text = fs::read_to_string(directory.join("report.json")).unwrap();
    (directory.join("report.html"), serde_json::from_str(&text).unwrap())
}

#[test]
fn the_report_draws_what_the_json_says_at_every_width() {
    let (page, file) = report();
    let mut browser = Browser::start();
    for width in [1_440, 390] {
        look::check(&mut browser, &page, width, &file["summary"]);
    }
}

#[test]
fn the_scenes_fit_every_width() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scenes-browser");
    fs::create_dir_all(&directory).unwrap();
    let (page, study) = (directory.join("scenes.html"), Study::new().unwrap());
    fs::write(&page, html::scenes::page(&study)).unwrap();
    let mut browser = Browser::start();
    for width in [1_440, 390] {
        let seen = look::look(&mut browser, &page, width, 1);
        let embedded: Value = serde_json::from_str(seen["embedded"].as_str().unwrap()).unwrap();
        let file: Value = serde_json::from_str(&study.json()).unwrap();
        assert!(embedded == file, "the embedded study differs from the JSON");
        assert_eq!(browser.complaints(), [] as [String; 0], "at {width} px");
    }
}
