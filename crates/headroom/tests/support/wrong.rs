//! A folder in which everything is right, and the output if something is not.

use super::Folder;

pub(crate) const JOB: &str = r#"{"id":"j1","submit_ms":0,"run_ms":1000,"user":"u","queue":"root.a","resources":{"vcore":1}}"#;
pub(crate) const QUEUES: &str = "\
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: a
          - name: p
            queues:
              - name: b
        submitacl: '*'
";
pub(crate) const NODES: &str = "2*{vcore: 4}";
/// A folder in which everything is right.
pub(crate) fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("queues.yaml", QUEUES);
    folder.write("jobs.jsonl", format!("{JOB}\n"));
    folder.succeed(&[
        "simulate",
        "--queues",
        "queues.yaml",
        "--nodes",
        NODES,
        "--workload",
        "jobs.jsonl",
    ]);
    folder
}

/// Returns the exit code, followed by the output.
pub(crate) fn said(folder: &Folder, arguments: &[&str]) -> String {
    let ran = folder.run(arguments);
    assert_eq!(ran.stdout, "", "{arguments:?}");
    assert!(!ran.stderr.contains("panicked"), "{arguments:?}: {}", ran.stderr);
    format!("{} {}\n", ran.code.unwrap(), ran.stderr.trim_end())
}
