//! The bytes of every kind of page: a change of how they are written changes none by accident.
//!
//! `UPDATE_EXPECT=1` writes new hashes where a page is to change.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use expect_test::{Expect, expect};
use headroom_sim::metric::summarise;
use headroom_sim::report::json::Document;
use headroom_sim::report::{Curves, html};
use headroom_sim::study::Study;
use html::sheet::{Part, Rows, Sheet};
use xxhash_rust::xxh3::xxh3_128;

/// What HTML and SVG must not take for markup, and what browsers take for ends of things.
const AWKWARD: &str = "a<b>&\"c\" 'd'\u{0}\u{7f}\u{9b}é\t–\n2.";

fn document() -> Document {
    let curves = Curves {
        title: format!("Limits {AWKWARD}"),
        quantity: AWKWARD.to_owned(),
        unit: "%".to_owned(),
        curves: vec![
            (AWKWARD.to_owned(), vec![(0, 1.0), (60_000, 2.5)]),
            ("root.a".to_owned(), vec![(0, 0.0)]),
        ],
    };
    Document::new(support::header(), summarise(&support::synthetic()), vec![curves])
}

fn check(page: &str, expected: &Expect) {
    let hash = xxh3_128(page.as_bytes());
    expected.assert_eq(&format!("{} bytes, {hash:032x}", page.len()));
}

#[test]
fn the_report_of_a_run() {
    let mut one = document();
    check(&html::page(&one), &expect!["846459 bytes, ce0ad49704c4ed1dce8cec2d524d6efe"]);
    // Without anything, and with awkward names.
    one.header.title = AWKWARD.to_owned();
    one.header.command = format!("headroom {AWKWARD}");
    one.header.versions = vec![(AWKWARD.to_owned(), AWKWARD.to_owned())];
    one.header.remarks = vec![AWKWARD.to_owned()];
    one.header.checks.clear();
    one.curves.clear();
    one.summary.digest = AWKWARD.to_owned();
    one.summary.blockers.clear();
    one.summary.groups.clear();
    one.summary.users.truncate(1);
    check(&html::page(&one), &expect!["821101 bytes, 342750bbbd489ffa51b047d5c2bd2575"]);
}

#[test]
fn a_comparison_of_two_runs() {
    let (before, mut after) = (document(), document());
    after.header.title = AWKWARD.to_owned();
    after.header.command = AWKWARD.to_owned();
    after.header.seed = 8;
    after.summary.users.reverse();
    for (number, user) in after.summary.users.iter_mut().enumerate() {
        user.waits.p50_ms += 60_000 * number as u64;
    }
    check(
        &html::compare::page(&before, &after),
        &expect!["125285 bytes, 055b3f69e9a9c8d3f2d76983470edd25"],
    );
}

#[test]
fn the_scenes_of_user_limits() {
    check(
        &html::scenes::page(&Study::new().unwrap()),
        &expect!["218935 bytes, b0acb0f47e94d7a04413a819ececc139"],
    );
}

#[test]
fn a_page_of_tables_and_plots() {
    let cells =
        |number: usize| vec![format!("{AWKWARD} {number}"), "5".to_owned(), AWKWARD.to_owned()];
    let rows = |id: &str, numbers: bool, count: usize| {
        Part::Rows(Rows {
            id: id.to_owned(),
            title: AWKWARD.to_owned(),
            note: AWKWARD.to_owned(),
            columns: vec!["name".to_owned(), AWKWARD.to_owned(), "last".to_owned()],
            rows: (0..count).map(cells).collect(),
            numbers,
        })
    };
    let sheet = Sheet {
        kind: "plan".to_owned(),
        title: AWKWARD.to_owned(),
        answer: vec![AWKWARD.to_owned(), "Nothing.".to_owned()],
        facts: vec![(AWKWARD.to_owned(), AWKWARD.to_owned())],
        parts: vec![
            rows("few", false, 3),
            rows("some", true, 30),
            rows("many", true, 600),
            Part::Curves(document().curves.remove(0), 3_600_000),
            Part::Text { title: AWKWARD.to_owned(), text: format!("{AWKWARD}\n{AWKWARD}") },
        ],
        data: serde_json::to_string(AWKWARD).unwrap(),
    };
    check(&html::sheet::page(&sheet), &expect!["167234 bytes, 49c3a33ccef396e4411ae7e32c738fb9"]);
}
