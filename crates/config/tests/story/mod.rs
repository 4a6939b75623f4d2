//! How a story about a wrong file is written.

use expect_test::Expect;
use headroom_config::{Style, read};

/// The refusal of a file, as people see it.
pub(crate) fn check(text: &str, expected: &Expect) {
    let faults = read(text).expect_err("the file must be refused");
    let shown = faults.render("queues.yaml", Style::Plain);
    expected.assert_eq(&format!("{shown}\n"));
}

/// A file with these queues below root.
pub(crate) fn below_root(queue: &str) -> String {
    let mut text =
        "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n".to_owned();
    for line in queue.trim_matches('\n').lines() {
        text.push_str("    ");
        text.push_str(line);
        text.push('\n');
    }
    text
}
