//! Properties that hold for every input: one function for the tests and the fuzzer.

use headroom_core::userlimit::Formula;

use crate::{ALIAS_EVENTS_MAX, Code, STACK_BYTES, Severity, Style, read, review_bytes, yaml, yarn};

/// Returns the largest number of parser steps for a text: a few for each byte, and the bounded repetition by aliases.
fn steps_max(bytes: &[u8]) -> usize {
    // A byte makes at most two nodes, such as `-` and the empty value after it. Each is counted when it is parsed,
    // when it ends, and when it is read.
    let repeated = if bytes.contains(&b'*') { 4 * ALIAS_EVENTS_MAX } else { 0 };
    8 * bytes.len() + 64 + repeated
}

/// Reads, reviews, and renders arbitrary bytes. Returns the number of steps.
///
/// # Panics
/// If a property does not hold: the bound of the number of steps, the same result with and without advice, places
/// within the text, and a reason for every refusal.
pub fn exercise(bytes: &[u8]) -> usize {
    let review = review_bytes(bytes);
    let found = &review.diagnostics;
    let (steps, most) = (found.steps(), steps_max(bytes));
    assert!(steps <= most, "{steps} steps for {} bytes, at most {most}", bytes.len());
    let counts = found.counts();
    assert_eq!(review.configuration.is_none(), counts.errors > 0, "the verdict has a reason");
    let lines = found.source().bytes().filter(|byte| *byte == b'\n').count() + 1;
    for one in found.iter().chain(found.recommendations()) {
        assert_eq!(one.severity, one.code.severity(), "{one:?}");
        assert!((1..=lines).contains(&one.line), "{one:?} is not in the {lines} lines");
        let (line, column) = found.place(one.primary.span.start);
        assert_eq!((line, column), (one.line, one.column), "{one:?}");
        assert!(one.primary.span.start <= one.primary.span.end, "{one:?}");
    }
    let shown = found.render("queues.yaml", Style::Plain);
    assert_eq!(shown.is_empty(), found.is_empty());
    let recommended = found.render_recommendations("queues.yaml", Style::Plain);
    assert_eq!(recommended.is_empty(), counts.recommendations == 0);
    assert!(counts.recommendations == 0 || counts.errors == 0, "errors come first");
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert!(on_own_stack(|| yaml::both_ways_agree(text)), "the short way and the long one");
        match read(text) {
            Ok(loaded) => {
                let same = Some(&loaded.configuration) == review.configuration.as_ref();
                assert!(same || !same_as_itself(&loaded.configuration), "the same file");
            }
            Err(faults) => {
                assert_eq!(faults.counts().errors, counts.errors, "the same faults");
                assert!(faults.iter().any(|one| one.severity == Severity::Error));
            }
        }
    }
    steps
}

/// Runs a check that recurses as deep as the file nests, on its own stack.
fn on_own_stack(check: impl FnOnce() -> bool + Send) -> bool {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, check).is_ok_and(|thread| thread.join().is_ok_and(|good| good))
    })
}

/// Returns whether all numbers are equal to themselves. A weight can be NaN.
fn same_as_itself(configuration: &headroom_core::config::Configuration) -> bool {
    #[expect(clippy::eq_op, reason = "what is not a number differs from itself")]
    let same = configuration == configuration;
    same
}

/// Converts arbitrary bytes as a file of `CapacityScheduler`, with each formula.
///
/// # Panics
/// If a property does not hold: a repeatable result that contains every note, and is YAML with known keys.
pub fn exercise_yarn(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for formula in [Formula::Yarn3, Formula::Smooth] {
        let files = [yarn::Source { name: "x.xml", text }];
        let Ok(first) = yarn::convert(&files, formula) else { return };
        assert_eq!(Ok(&first), yarn::convert(&files, formula).as_ref(), "the same twice");
        for note in &first.notes {
            assert!(!note.why.is_empty(), "{note:?} says why");
            assert!(first.text.contains(&format!("# {note}\n")), "{note:?} is in the file");
        }
        let found = review_bytes(first.text.as_bytes()).diagnostics;
        let broken = [Code::Yaml, Code::YamlType, Code::YamlDuplicate];
        for one in found.iter() {
            assert!(!broken.contains(&one.code), "{one:?} in\n{}", first.text);
        }
    }
}
