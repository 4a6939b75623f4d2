//! Advice on files that mean harm: what would take the square of the file does not end here.

use headroom_config::{Code, DIAGNOSTICS_MAX, Review, Severity, review};

/// One text for each number, with commas between.
fn many(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().join(", ")
}

/// A file with these keys of its root.
fn with_root(keys: &str) -> Review {
    let text = format!("partitions: [{{queues: [{{name: root, submitacl: '*', {keys}}}]}}]");
    review(&text)
}

fn count(review: &Review, code: Code) -> usize {
    review.diagnostics.iter().filter(|one| one.code == code).count()
}

#[test]
fn many_names_and_many_types_do_not_multiply() {
    let names = many(50_000, |number| format!("n{number}"));
    let types = many(50_000, |number| format!("t{number}: 5"));
    let limits =
        format!("limits: [{{users: [{names}], groups: [{names}], maxresources: {{{types}}}}}]");
    let review = with_root(&format!("{limits}, queues: [{{name: a, {limits}}}]"));
    assert!(review.configuration.is_some(), "{}", review.diagnostics);
}

#[test]
fn many_wildcards_below_many_groups_do_not_multiply() {
    let groups = many(60_000, |number| format!("g{number}"));
    let queue = |number| {
        format!("{{name: q{number}, limits: [{{groups: [g{number}, '*'], maxapplications: 1}}]}}")
    };
    let queues = many(30_000, queue);
    let above = format!("limits: [{{groups: [{groups}], maxapplications: 5}}]");
    let review = with_root(&format!("{above}, queues: [{queues}]"));
    assert_eq!(count(&review, Code::LimitHidden), DIAGNOSTICS_MAX);
    assert_eq!(review.diagnostics.counts().errors, 0, "{}", review.diagnostics);
}

#[test]
fn many_rules_and_many_queues_do_not_multiply() {
    let queues = many(50_000, |number| format!("{{name: q{number}}}"));
    let rules = many(50_000, |_| "{name: user, create: true}".to_owned());
    let root = format!("{{name: root, submitacl: '*', queues: [{queues}]}}");
    let review = review(&format!("partitions: [{{placementrules: [{rules}], queues: [{root}]}}]"));
    assert_eq!(count(&review, Code::RuleNever), DIAGNOSTICS_MAX);
    assert_eq!(review.diagnostics.counts().warnings, 49_999);
}

#[test]
fn many_fixed_rules_and_many_queues_do_not_multiply() {
    let queues = many(40_000, |number| format!("{{name: q{number}}}"));
    let rules =
        many(30_000, |number| format!("{{name: fixed, value: q{number}, filter: {{users: [a]}}}}"));
    let root = format!("{{name: root, submitacl: '*', queues: [{queues}]}}");
    let review = review(&format!("partitions: [{{placementrules: [{rules}], queues: [{root}]}}]"));
    assert!(review.diagnostics.is_empty(), "{}", review.diagnostics);
}

#[test]
fn many_warnings_leave_room_for_an_error() {
    let queues =
        many(1_000, |number| format!("{{name: q{number}, properties: {{priority.offsett: 1}}}}"));
    let review = with_root(&format!("queues: [{queues}, {{name: '!'}}]"));
    let errors: Vec<Code> = review
        .diagnostics
        .iter()
        .filter(|one| one.severity == Severity::Error)
        .map(|one| one.code)
        .collect();
    assert_eq!(errors, [Code::QueueName]);
    assert_eq!(review.diagnostics.counts().warnings, 1_000);
    assert_eq!(review.diagnostics.iter().len(), DIAGNOSTICS_MAX + 1);
}

#[test]
fn many_users_who_may_submit_do_not_multiply() {
    let users = many(60_000, |number| format!("u{number}")).replace(' ', "");
    let limit = "limits: [{users: [u0, '*'], maxapplications: 1}]";
    let queues = many(30_000, |number| format!("{{name: q{number}, {limit}}}"));
    let text = format!(
        "partitions: [{{queues: [{{name: root, submitacl: '{users}', queues: [{queues}]}}]}}]"
    );
    let review = review(&text);
    assert_eq!(review.diagnostics.counts().errors, 0, "{}", review.diagnostics);
    assert_eq!(count(&review, Code::LimitUnreached), 0);
}

#[test]
fn a_deep_tree_with_long_names_does_not_multiply() {
    let name = "n".repeat(60);
    let mut tree = many(2_000, |number| {
        format!("{{name: l{number}, limits: [{{users: [ann], maxresources: {{t: 5}}}}]}}")
    });
    for _ in 0..200 {
        tree = format!("{{name: {name}, resources: {{max: {{t: 5}}}}, queues: [{tree}]}}");
    }
    let review = with_root(&format!("queues: [{tree}]"));
    assert_eq!(count(&review, Code::LimitLoose), DIAGNOSTICS_MAX);
}

#[test]
fn many_partitions_with_recommendations_do_not_multiply() {
    let queues = "queues: [{name: root, submitacl: '*', queues: [{name: a}, {name: b}]}]";
    let partitions = many(10_000, |number| format!("{{name: p{number}, {queues}}}"));
    let review = review(&format!("partitions: [{partitions}]"));
    assert!(review.diagnostics.is_empty(), "{}", review.diagnostics);
    assert_eq!(review.diagnostics.recommendations().len(), DIAGNOSTICS_MAX);
    assert_eq!(review.diagnostics.counts().recommendations, 30_000);
    assert_eq!(review.diagnostics.suppressed().recommendations, 30_000 - DIAGNOSTICS_MAX);
}

#[test]
fn many_leaves_below_many_properties_do_not_multiply() {
    let properties = many(50_000, |number| format!("p{number}: x"));
    let leaves = many(50_000, |number| format!("{{name: q{number}}}"));
    let queues = (0..100).fold(format!("queues: [{leaves}]"), |below, _| {
        format!("queues: [{{name: n, resources: {{guaranteed: {{vcore: 1}}}}, {below}}}]")
    });
    let root = format!("{{name: root, submitacl: '*', properties: {{{properties}}}, {queues}}}");
    let review = review(&format!(
        "partitions: [{{preemption: {{strictguarantee: false}}, queues: [{root}]}}]"
    ));
    assert_eq!(review.diagnostics.counts().errors, 0, "{}", review.diagnostics);
    let codes = review.diagnostics.recommendations().map(|one| one.code);
    let expected =
        [Code::StarvationOff, Code::ReservationsOff, Code::GangMembers, Code::PreemptionNotStrict];
    assert_eq!(codes.collect::<Vec<_>>(), expected);
}
