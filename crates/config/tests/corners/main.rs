//! Corner cases and worked examples of queue files, as `docs/corner-cases.toml` and
//! `docs/scenes.toml` list them. Names of tests say the behaviour.

mod examples;
mod files;
mod limits;
mod queues;

use expect_test::Expect;
use headroom_config::{Severity, read};

/// A file with these queues below root.
fn below_root(queues: &str) -> String {
    let mut text =
        "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n".to_owned();
    for line in queues.trim_matches('\n').lines() {
        text.push_str("    ");
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Checks the faults and warnings of a file, one per line.
#[expect(clippy::needless_pass_by_value, reason = "`expect!` stands at the call")]
fn told(text: &str, expected: Expect) {
    let told = match read(text) {
        Ok(loaded) if loaded.warnings.is_empty() => "accepted\n".to_owned(),
        Ok(loaded) => format!("accepted\n{}\n", loaded.warnings),
        Err(faults) => format!("{faults}\n"),
    };
    expected.assert_eq(&told);
}

/// Why a file is refused: the codes of its faults, or nothing if it is accepted.
fn verdict(text: &str) -> String {
    let Err(faults) = read(text) else { return String::new() };
    let errors = faults.iter().filter(|fault| fault.severity == Severity::Error);
    let codes: Vec<_> = errors.map(|fault| fault.code.as_str()).collect();
    codes.join(" ")
}

/// Check the verdict on each file of a table; nothing is acceptance.
fn verdicts(file: impl Fn(&str) -> String, rows: &[(&str, &str)]) {
    for (row, expected) in rows {
        let text = file(row);
        assert_eq!(verdict(&text), *expected, "{row}\n{text}");
    }
}
