//! The files of `examples/` say what their page says.

use std::collections::BTreeSet;

use expect_test::expect_file;
use headroom_core::resource::Amounts;
use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::workload::generate::lublin::Lublin;
use headroom_sim::workload::generate::{GenerateOptions, lublin};
use headroom_sim::workload::{ReadOptions, read, write_jsonl};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// Queues of the faculties in turn, so that users of one group share a faculty.
const QUEUES: [&str; 12] = [
    "root.science.physics",
    "root.engineering.fluids",
    "root.medicine.imaging",
    "root.teaching.courses",
    "root.science.chemistry",
    "root.engineering.learning",
    "root.medicine.genomics",
    "root.teaching.theses",
    "root.science.astronomy",
    "root.engineering.design",
    "root.medicine.trials",
    "root.teaching.exams",
];

#[test]
fn campus_is_what_the_generator_makes_of_the_parameters_on_its_page() {
    let options = GenerateOptions {
        jobs: 2_500,
        users: 24,
        groups: 4,
        queues: QUEUES.map(Into::into).to_vec(),
        seed: 2,
        load: 2.0,
        per_processor: Amounts::from([("vcore", 1_000), ("memory", 2 << 30)]),
    };
    let made = lublin(&options, Lublin { processors: 32 }).unwrap();
    let mut text = Vec::new();
    write_jsonl(&made, &mut text).unwrap();
    expect_file![format!("{FOLDER}/campus.jsonl")].assert_eq(str::from_utf8(&text).unwrap());

    let path = std::path::PathBuf::from(format!("{FOLDER}/campus.jsonl"));
    let mut campus = read(&path, None, &ReadOptions::default()).unwrap();
    // What was made stands in no file.
    campus.jobs.iter_mut().for_each(|job| job.line = 0);
    assert_eq!(campus, made);
    let users: BTreeSet<_> = campus.jobs.iter().map(|job| job.user.clone()).collect();
    assert_eq!(users.len(), 24);
}

#[test]
fn campus_has_nodes_that_come_and_go() {
    let file = format!("{FOLDER}/campus-nodes.yaml");
    let nodes = nodes::read(&[file], NodeOptions::default()).unwrap();
    assert_eq!(nodes.len(), 12);
    assert!(nodes.iter().any(|node| node.from_ms > 0));
    assert!(nodes.iter().any(|node| node.to_ms.is_some()));
}
