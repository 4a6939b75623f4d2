//! Every code has an example: `cases/<code>.yaml`, next to the output that people see.
//!
//! `UPDATE_EXPECT=1` writes what they see now.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use expect_test::expect_file;
use headroom_config::{
    Code, NodeTotals, Severity, Stage, Style, read, review, review_bytes_on, review_on,
};
use headroom_core::resource::Amounts;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// The nodes of the one example that is about them; its partition has a name of its own.
fn nodes() -> NodeTotals {
    let nodes = [("vcore", 80_000), ("memory", 64 << 30)];
    NodeTotals::from([("small".to_owned(), Amounts::from(nodes))])
}

/// `Q-G>M` is `q-g-over-m`.
fn file_name(code: Code) -> String {
    code.as_str().to_lowercase().replace('>', "-over-")
}

#[test]
fn every_code_has_an_example_that_shows_it() {
    for &code in Code::ALL {
        let name = file_name(code);
        let bytes = fs::read(folder().join(format!("{name}.yaml")));
        let bytes = bytes.unwrap_or_else(|error| panic!("{code} needs cases/{name}.yaml: {error}"));
        let review = review_bytes_on(&bytes, &nodes());
        let all = review.diagnostics.iter().chain(review.diagnostics.recommendations());
        let found: BTreeSet<Code> = all.map(|one| one.code).collect();
        assert!(found.contains(&code), "cases/{name}.yaml shows {found:?}, not {code}");
        let refused = review.configuration.is_none();
        assert_eq!(refused, code.severity() == Severity::Error, "cases/{name}.yaml");
        assert_eq!(refused, review.diagnostics.counts().errors > 0, "cases/{name}.yaml");
        let file = format!("{name}.yaml");
        // Most of the files have recommendations, which would say the same in each.
        let shown = match code.severity() {
            Severity::Error | Severity::Warning => review.diagnostics.render(&file, Style::Plain),
            Severity::Recommendation => {
                assert!(review.diagnostics.is_empty(), "{}", review.diagnostics);
                review.diagnostics.render_recommendations(&file, Style::Plain)
            }
        };
        expect_file![folder().join(format!("{name}.txt"))].assert_eq(&format!("{shown}\n"));
    }
}

#[test]
fn no_example_is_left_over() {
    let known: BTreeSet<String> = Code::ALL
        .iter()
        .flat_map(|code| ["yaml", "txt"].map(|ending| format!("{}.{ending}", file_name(*code))))
        .collect();
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name), "cases/{name} belongs to no code");
    }
}

#[test]
fn every_diagnostic_has_the_severity_of_its_code_and_says_what_to_do() {
    for &code in Code::ALL {
        let bytes = fs::read(folder().join(format!("{}.yaml", file_name(code)))).unwrap();
        let found = review_bytes_on(&bytes, &nodes()).diagnostics;
        for one in found.iter().chain(found.recommendations()) {
            assert_eq!(one.severity, one.code.severity(), "{one:?}");
            assert!(one.severity == Severity::Error || one.stage == Stage::Validation, "{one:?}");
            assert!(!one.message.ends_with('.'), "{one:?}");
            assert!(one.help.is_some(), "what is to be done? {one:?}");
        }
    }
}

#[test]
fn advice_changes_no_verdict_and_no_fault() {
    for &code in Code::ALL {
        let bytes = fs::read(folder().join(format!("{}.yaml", file_name(code)))).unwrap();
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        let reviewed = review(&text);
        match read(&text) {
            Ok(loaded) => {
                assert_eq!(loaded.configuration.checksum.as_str(), reviewed.checksum);
                assert_eq!(Some(loaded.configuration), reviewed.configuration, "{code}");
                let listed = |one| reviewed.diagnostics.iter().any(|other| other == one);
                assert!(loaded.warnings.iter().all(listed), "{code}");
                assert_eq!(loaded.warnings.recommendations().len(), 0, "{code}");
            }
            Err(faults) => {
                let errors = |all: &headroom_config::Diagnostics| -> Vec<_> {
                    all.iter().filter(|one| one.severity == Severity::Error).cloned().collect()
                };
                assert_eq!(errors(&faults), errors(&reviewed.diagnostics), "{code}");
                assert_eq!(reviewed.configuration, None);
            }
        }
    }
}

#[test]
fn the_guide_has_every_code_in_a_line() {
    let guide = folder().join("../../../../docs/validate.md");
    let guide = fs::read_to_string(&guide).unwrap().replace("\r\n", "\n");
    let (_, table) = guide.split_once("\n## Codes\n").expect("a section with the codes");
    let written: Vec<&str> = table.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = Code::ALL
        .iter()
        .map(|code| {
            let severity = match code.severity() {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Recommendation => "recommendation",
            };
            format!("| `{code}` | {severity} | {} |", code.summary())
        })
        .collect();
    assert_eq!(written, expected);
}

#[test]
fn what_nodes_cannot_back_is_told_of_the_queue_that_is_too_large_or_of_all() {
    let file = |a: &str, b: &str, more: &str| {
        format!(
            "partitions:\n- name: small\n  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n    \
             - name: a\n      resources: {{guaranteed: {{{a}}}}}\n    - name: b\n      queues:\n      - name: c\n        \
             resources: {{guaranteed: {{{b}}}}}\n{more}"
        )
    };
    let told = |text: &str| -> Vec<(usize, String)> {
        let found = review_on(text, &nodes());
        let about = found.diagnostics.iter().filter(|one| one.code == Code::GuaranteeOverNodes);
        about.map(|one| (one.line, one.message.clone())).collect()
    };
    let all = |text: &str, expected: &[(usize, &str)]| {
        let found = told(text);
        let found: Vec<(usize, &str)> = found.iter().map(|(line, text)| (*line, &**text)).collect();
        assert_eq!(found, expected, "{text}");
    };
    all(&file("vcore: 40", "vcore: 40", ""), &[]);
    let together = "the queues below root have guarantees of 81 vcore in total, but all nodes \
                    together have 80 vcore";
    all(&file("vcore: 41", "vcore: 40", ""), &[(8, together)]);
    let alone = "queue `b` has a guarantee of 81 vcore, but all nodes together have 80 vcore";
    all(&file("vcore: 1", "vcore: 81", ""), &[(12, alone)]);
    let no_such = "queue `a` has a guarantee of 1 nvidia.com/gpu, but all nodes together have 0 \
                   nvidia.com/gpu";
    all(&file("nvidia.com/gpu: 1", "vcore: 2", ""), &[(8, no_such)]);
    // A partition whose nodes are not known.
    let elsewhere = file("vcore: 999", "vcore: 999", "").replace("small", "default");
    all(&elsewhere, &[]);
}

#[test]
fn one_user_may_not_have_more_than_all_nodes() {
    let file = |factor: u32| {
        format!(
            "partitions:\n- name: small\n  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n    - name: a\n      \
             resources: {{guaranteed: {{vcore: 40}}}}\n      userlimits: {{formula: smooth, userlimitfactor: {factor}}}\n"
        )
    };
    let told = |text: &str, nodes: &NodeTotals| {
        let found = review_on(text, nodes);
        found.diagnostics.iter().any(|one| one.code == Code::UserLimitLoose)
    };
    assert!(told(&file(3), &nodes()) && !told(&file(2), &nodes()));
    assert!(!told(&file(3), &NodeTotals::new()), "without nodes nothing is certain");
}
