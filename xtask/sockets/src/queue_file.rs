//! The queue files of recorded histories: the reference takes victims without the law of ours, so
//! that is switched off in each partition. Decision C-5.

/// The file with `preemption.strictguarantee: false` in every partition. Recorded files have their
/// partitions in a list without indentation, and the keys of a partition two columns in.
pub fn without_strict_guarantee(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut partition = Vec::new();
    for line in text.lines() {
        if line.starts_with("- ") {
            lines.append(&mut relaxed(std::mem::take(&mut partition)));
        }
        partition.push(line.to_owned());
    }
    lines.append(&mut relaxed(partition));
    lines.join("\n") + "\n"
}

/// The lines of one partition, or those before the first.
fn relaxed(mut lines: Vec<String>) -> Vec<String> {
    const KEY: &str = "  preemption:";
    if !lines.first().is_some_and(|line| line.starts_with("- ")) {
        return lines;
    }
    match lines.iter().position(|line| line.starts_with(KEY)) {
        Some(at) => {
            let next = lines.get(at + 1).map_or("", |line| line.as_str());
            let indent = next.len() - next.trim_start().len();
            assert!(lines[at] == KEY && indent > 2, "an unknown way to write {:?}", lines[at]);
            lines.insert(at + 1, format!("{}strictguarantee: false", " ".repeat(indent)));
        }
        None => lines.extend([KEY.to_owned(), "    strictguarantee: false".to_owned()]),
    }
    lines
}

#[test]
fn every_partition_is_relaxed() {
    let text = "partitions:\n- name: a\n  queues:\n  - name: root\n- name: b\n  preemption:\n    \
                enabled: false\n  queues: []\n";
    let expected = "partitions:\n- name: a\n  queues:\n  - name: root\n  preemption:\n    \
                    strictguarantee: false\n- name: b\n  preemption:\n    strictguarantee: false\n    \
                    enabled: false\n  queues: []\n";
    assert_eq!(without_strict_guarantee(text), expected);
}
