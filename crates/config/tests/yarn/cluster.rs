//! One large cluster, with every property of the user guide.

use expect_test::expect_file;
use headroom_config::yarn::{Converted, Kind, Source, convert};
use headroom_core::userlimit::Formula;

use crate::faults;

const SITE: &str = include_str!("yarn-site.xml");
const SCHEDULER: &str = include_str!("capacity-scheduler.xml");

fn converted(formula: Formula) -> Converted {
    let files = [
        Source { name: "yarn-site.xml", text: SITE },
        Source { name: "capacity-scheduler.xml", text: SCHEDULER },
    ];
    convert(&files, formula).expect("the files are a configuration")
}

#[test]
fn a_cluster_with_every_property_becomes_a_queue_file() {
    let converted = converted(Formula::Yarn3);
    expect_file!["queues.yaml"].assert_eq(&converted.text);
    assert_eq!(faults(&converted.text), Vec::<String>::new());
}

#[test]
fn every_property_is_in_the_queue_file_or_told() {
    let converted = converted(Formula::Yarn3);
    let told: Vec<String> = converted
        .notes
        .iter()
        .map(|note| {
            let place = note.place.as_ref();
            let place = place.map(|place| format!("{}:{}", place.file, place.line));
            format!("{} {note}\n", place.unwrap_or_else(|| "-".to_owned()))
        })
        .collect();
    expect_file!["notes.txt"].assert_eq(&told.concat());
    let unknown = converted.notes.iter().filter(|note| note.kind == Kind::Unknown);
    let names: Vec<&str> = unknown.map(|note| note.property.as_str()).collect();
    let prefix = "yarn.scheduler.capacity";
    let expected = [
        "unheard-of",
        "root.gone.capacity",
        "root.adhoc.capacity",
        "root.etl.maximum-capcity",
        "root.etl.acl_submit_application",
    ];
    let expected: Vec<String> = expected.iter().map(|name| format!("{prefix}.{name}")).collect();
    let mut sorted = expected.clone();
    sorted.extend(["<property>", "<proprety>", "<nam>"].map(str::to_owned));
    sorted.sort();
    let mut found: Vec<String> = names.into_iter().map(str::to_owned).collect();
    found.sort();
    assert_eq!(found, sorted);
}

#[test]
fn the_same_files_give_the_same_bytes_and_the_notes_are_in_them() {
    let (first, second) = (converted(Formula::Yarn3), converted(Formula::Yarn3));
    assert_eq!(first, second);
    for note in &first.notes {
        assert!(first.text.contains(&format!("# {note}\n")), "{note} is not in the file");
    }
    let smooth = converted(Formula::Smooth).text;
    for line in ["formula: smooth", "enforcement: progress", "calculator: componentwise"] {
        assert!(smooth.contains(line), "{line}");
    }
    assert!(smooth.contains("minimumuserlimitpercent: 0"), "this formula takes a 0");
}
