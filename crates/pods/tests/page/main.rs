//! The tables of `docs/kubernetes.md` are those of the code. `UPDATE_EXPECT=1` writes them into the page.

use std::fs;
use std::path::PathBuf;

use headroom_pods::conformance::Decision;
use headroom_pods::convert::event::EventKind;
use headroom_pods::convert::key::{Place, keys};
use headroom_pods::convert::settings::table::{Reader, Reload, SETTINGS, ValueKind};

/// Compares the first table of a section with these rows.
fn check(heading: &str, rows: &[String]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/kubernetes.md");
    let page = fs::read_to_string(&path).expect("the page can be read");
    let lines: Vec<&str> = page.lines().collect();
    let begin = lines.iter().position(|line| *line == heading).expect("the page has the section");
    let is_row = |line: &&str| line.starts_with('|');
    let first = begin + lines[begin..].iter().position(is_row).expect("the section has a table");
    // A table begins with its heads and a line.
    let first = first + 2;
    let count = lines[first..].iter().take_while(|line| is_row(line)).count();
    if lines[first..first + count] == *rows {
        return;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let rows = rows.iter().map(String::as_str);
        let (before, after) = (&lines[..first], &lines[first + count..]);
        let mut page: Vec<&str> = before.to_vec();
        page.extend(rows);
        page.extend(after);
        fs::write(&path, page.join("\n") + "\n").expect("the page can be written");
        return;
    }
    assert_eq!(
        lines[first..first + count],
        *rows,
        "{heading} of docs/kubernetes.md: UPDATE_EXPECT=1 writes the table"
    );
}

/// The tables are in one test, because two tests must not write the page at once.
#[test]
fn the_tables_of_the_page_are_those_of_the_code() {
    let is_of_namespace = |place| match place {
        Place::NamespaceAnnotation => true,
        Place::PodLabel | Place::PodAnnotation | Place::PodOrClassAnnotation => false,
    };
    let of_pods = keys().filter(|key| !is_of_namespace(key.place));
    let of_pods = of_pods.map(|key| {
        let place = match key.place {
            Place::PodLabel => "label",
            Place::PodAnnotation => "annotation",
            Place::NamespaceAnnotation => "annotation of the namespace",
            Place::PodOrClassAnnotation => "annotation, also of the priority class",
        };
        format!("| `{}` | {place} | {} |", key.name, key.meaning)
    });
    check("## Labels and annotations of pods", &of_pods.collect::<Vec<_>>());

    let of_namespaces = keys().filter(|key| is_of_namespace(key.place));
    let of_namespaces = of_namespaces.map(|key| format!("| `{}` | {} |", key.name, key.meaning));
    check("## Annotations of namespaces", &of_namespaces.collect::<Vec<_>>());

    let settings = SETTINGS.iter().map(|setting| {
        let kind = match setting.kind {
            ValueKind::Text => "text",
            ValueKind::Duration => "duration",
            ValueKind::Integer => "integer",
            ValueKind::Bool => "boolean",
            ValueKind::Level => "level",
            ValueKind::Patterns => "patterns",
        };
        let default = match setting.default {
            "" => String::new(),
            text => format!("`{text}`"),
        };
        let reload = match setting.reload {
            Reload::Immediate => "at once",
            Reload::Restart => "restart",
        };
        let reader = match setting.reader {
            Reader::Scheduler => "scheduler",
            Reader::Core => "core",
            Reader::Admission => "admission",
            Reader::Nobody => "nobody",
        };
        let (key, meaning) = (setting.key, setting.meaning);
        format!("| `{key}` | {kind} | {default} | {reload} | {reader} | {meaning} |")
    });
    check("## Settings", &settings.collect::<Vec<_>>());

    let events = EventKind::ALL.iter().map(|kind| {
        let severity = kind.severity().name();
        format!("| `{}` | `{}` | {severity} | {} |", kind.reason(), kind.action(), kind.meaning())
    });
    check("## Events", &events.collect::<Vec<_>>());

    let decisions = Decision::ALL.iter();
    let decisions = decisions.map(|one| format!("| {} | {} |", one.number(), one.why()));
    check("## Recorded differences from YuniKorn", &decisions.collect::<Vec<_>>());
}

#[test]
fn numbers_of_decisions_are_unique_and_in_order() {
    let numbers: Vec<&str> = Decision::ALL.iter().map(|one| one.number()).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
}
