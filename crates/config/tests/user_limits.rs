//! `userlimits`: what a file with them says, which files are refused, and when advice is given.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use headroom_config::{read, review};
use headroom_core::config::{PartitionConfig, QueueConfig, UserFactor, UserLimitsConfig};
use headroom_core::resource::Amounts;
use headroom_core::userlimit::{Calculator, Decimal, Enforcement, Formula};

fn partition(text: &str) -> PartitionConfig {
    read(text).unwrap_or_else(|faults| panic!("{faults}")).configuration.partitions.remove(0)
}

/// The codes found in a file, by their place.
fn codes(text: &str) -> String {
    let review = review(text);
    let codes: Vec<&str> = review.diagnostics.iter().map(|one| one.code.as_str()).collect();
    codes.join(" ")
}

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

#[test]
fn every_key_becomes_what_it_says() {
    let found = partition(
        "
partitions:
  - name: default
    userlimits:
    queues:
      - name: research
        resources: {guaranteed: {vcore: 40, memory: 160Gi}}
        userlimits:
          minimumuserlimitpercent: 33.333333
          userlimitfactor: 0.1
          weights: {svc$: 3, ann: 1.5, b@example.com: 0}
          formula: yarn27
          enforcement: overshoot
          calculator: dominant
          minimumallocation: {memory: 1Gi, vcore: 500m}
          increment: {}
          maximumallocation: {vcore: 8, nvidia.com/gpu: 1}
      - name: teams
        parent: true
        childtemplate: {userlimits: {userlimitfactor: -1}}
",
    );
    assert_eq!(found.user_limits, Some(UserLimitsConfig::default()), "without anything");
    let [research, teams] = found.root.children.as_slice() else { panic!("{found:?}") };
    let weights = [("ann", "1.5"), ("b@example.com", "0"), ("svc$", "3")];
    let expected = UserLimitsConfig {
        formula: Some(Formula::Yarn27),
        enforcement: Some(Enforcement::Overshoot),
        calculator: Some(Calculator::Dominant),
        floor: Some(decimal("33.333333")),
        factor: Some(UserFactor::Times(decimal("0.1"))),
        weights: weights.map(|(user, weight)| (user.into(), decimal(weight))).into(),
        minimum_allocation: Some(Amounts::from([("memory", 1 << 30), ("vcore", 500)])),
        increment: Some(Amounts::EMPTY),
        maximum_allocation: Some(Amounts::from([("vcore", 8_000), ("nvidia.com/gpu", 1)])),
    };
    assert_eq!(research.user_limits.as_ref(), Some(&expected));
    assert_eq!((&found.root.user_limits, &teams.user_limits), (&None, &None));
    let template = teams.template.as_ref().unwrap().user_limits.as_ref().unwrap();
    let off = UserLimitsConfig { factor: Some(UserFactor::Off), ..UserLimitsConfig::default() };
    assert_eq!(template, &off);
}

fn nowhere(queue: &QueueConfig) -> bool {
    let template = queue.template.as_ref().and_then(|template| template.user_limits.as_ref());
    queue.user_limits.is_none() && template.is_none() && queue.children.iter().all(nowhere)
}

#[test]
fn the_example_of_the_guide_is_as_the_guide_says() {
    let guide = include_str!("../../../docs/limits.md").replace("\r\n", "\n");
    let (_, section) = guide.split_once("\n## userlimits\n").expect("a section");
    let (_, example) = section.split_once("```yaml\n").expect("an example");
    let (example, _) = example.split_once("\n```").expect("its end");
    let found = partition(example);
    assert_eq!(found.user_limits.unwrap().formula, Some(Formula::Smooth));
    let research = found.root.children[0].user_limits.as_ref().unwrap();
    assert_eq!(research.floor, Some(Decimal::whole(30)));
    assert_eq!(research.maximum_allocation, Some(Amounts::from([("memory", 40 << 30)])));
    // Advice on it is that nobody may submit, and no more.
    assert_eq!(codes(example), "A-NOBODY");
}

#[test]
fn a_stock_file_has_none() {
    let stock = include_str!("queues.yaml");
    for text in [stock, headroom_config::BUILT_IN] {
        let found = partition(text);
        assert!(found.user_limits.is_none() && nowhere(&found.root), "{found:?}");
    }
}

/// A partition with this block, and in it these queues and rules.
fn file(own: &str, queues: &str, rules: &str) -> String {
    format!(
        "partitions: [{{name: default, userlimits: {own}, placementrules: {rules}, queues: [{{name: root, submitacl: '*', queues: {queues}}}]}}]"
    )
}

/// A leaf that can share something.
fn leaf(limits: &str) -> String {
    format!("{{name: a, resources: {{guaranteed: {{vcore: 40}}}}, userlimits: {limits}}}")
}

#[test]
fn values_are_judged_where_they_are_written() {
    for (limits, expected) in [
        ("{minimumuserlimitpercent: 1, userlimitfactor: 1000000}", ""),
        ("{minimumuserlimitpercent: 0, formula: smooth}", ""),
        ("{minimumuserlimitpercent: 0.999999}", "U-PERCENT"),
        ("{minimumuserlimitpercent: 100.000001}", "U-PERCENT"),
        ("{minimumuserlimitpercent: -1}", "U-PERCENT"),
        ("{minimumuserlimitpercent: 030}", "U-PERCENT"),
        ("{minimumuserlimitpercent: 1e1}", "U-PERCENT"),
        ("{minimumuserlimitpercent: 33.3333333}", "U-PERCENT"),
        ("{minimumuserlimitpercent: '30'}", "YAML-TYPE"),
        ("{minimumuserlimitpercent: [30]}", "YAML-TYPE"),
        ("{minimumuserlimitpercent: 0, formula: yarn27}", "U-PERCENT U-DEADZONE"),
        ("{userlimitfactor: 0.000001}", ""),
        ("{userlimitfactor: -1.0}", ""),
        ("{userlimitfactor: 0}", "U-FACTOR"),
        ("{userlimitfactor: -2}", "U-FACTOR"),
        ("{userlimitfactor: 1000000.1}", "U-FACTOR"),
        ("{userlimitfactor: .inf}", "U-FACTOR"),
        ("{formula: SMOOTH}", "U-WORD"),
        ("{formula: ''}", "U-WORD"),
        ("{enforcement: yes}", "U-WORD"),
        ("{calculator: 1}", "U-WORD"),
        ("{weights: {ann: 1}}", ""),
        ("{weights: {ann: 1.000001}}", "U-WEIGHT"),
        ("{weights: {ann: 3.333333}, minimumuserlimitpercent: 30}", ""),
        ("{weights: {ann: 3.333334}, minimumuserlimitpercent: 30}", "U-WEIGHT"),
        ("{weights: {ann: 1000000}, minimumuserlimitpercent: 0}", ""),
        // What is wrong with the percentage is enough.
        ("{weights: {ann: 3}, minimumuserlimitpercent: 101}", "U-PERCENT"),
        ("{weights: {ann: x}}", "YAML-TYPE"),
        ("{weights: {ann: 1, ann: 1}}", "YAML-DUP"),
        ("{weights: [ann]}", "YAML-TYPE"),
        ("{weights: {1a: 1}}", "U-USERNAME"),
        ("{maximumallocation: {vcore: 10}, minimumallocation: {vcore: 10, memory: 1}}", ""),
        ("{maximumallocation: {vcore: 1}, minimumallocation: {vcore: 1001m}}", "U-MIN>MAX"),
        ("{minimumallocation: {vcore: -1}}", "R-SYNTAX"),
        ("{increment: {memory: 1m}}", "R-SUFFIX"),
        ("{increment: {cpu: 1}}", "R-TYPE"),
        ("{maximumAllocation: {vcore: 1}}", "YAML-KEY"),
        ("[]", "YAML-TYPE"),
    ] {
        let text = format!(
            "partitions: [{{queues: [{{name: root, submitacl: '*', queues: [{}]}}]}}]",
            leaf(limits)
        );
        assert_eq!(codes(&text), expected, "with {limits}");
    }
}

#[test]
fn what_meets_at_a_leaf_is_judged_there() {
    let makes = "[{name: user, create: true}]";
    let template = "{name: p, parent: true, userlimits: {minimumuserlimitpercent: 20}, childtemplate: {userlimits: {weights: {bob: 6}}}}";
    for (own, queues, rules, expected) in [
        // Legal at each leaf, though not without them.
        ("{weights: {ann: 3}}", &*format!("[{}]", leaf("{minimumuserlimitpercent: 30}")), "[]", ""),
        // A rule can create a leaf next to it.
        (
            "{weights: {ann: 3}}",
            &*format!("[{}]", leaf("{minimumuserlimitpercent: 30}")),
            makes,
            "U-WEIGHT",
        ),
        ("{weights: {ann: 3}}", &*format!("[{}]", leaf("{weights: {ann: 1}}")), "[]", ""),
        ("{weights: {ann: 3}}", &*format!("[{}]", leaf("{formula: smooth}")), "[]", "U-WEIGHT"),
        ("{minimumuserlimitpercent: 25}", "[]", "[]", ""),
        ("{weights: {ann: 3}}", "[]", "[]", "U-WEIGHT"),
        ("{}", &*format!("[{template}]"), "[]", "U-WEIGHT"),
        (
            "{minimumuserlimitpercent: 10}",
            "[{name: p, parent: true, childtemplate: {userlimits: {weights: {bob: 6}}}}]",
            "[]",
            "",
        ),
        (
            "{minimumuserlimitpercent: 0}",
            &*format!("[{}]", leaf("{formula: yarn3}")),
            "[]",
            "U-PERCENT U-DEADZONE",
        ),
        (
            "{minimumuserlimitpercent: 0, formula: yarn3}",
            &*format!("[{}]", leaf("{formula: smooth}")),
            "[]",
            "",
        ),
        (
            "{minimumallocation: {vcore: 5}}",
            &*format!("[{}]", leaf("{maximumallocation: {vcore: 4}}")),
            "[]",
            "U-MIN>MAX",
        ),
    ] {
        assert_eq!(codes(&file(own, queues, rules)), expected, "{own} with {queues} and {rules}");
    }
}

#[test]
fn a_fault_of_many_leaves_is_told_once() {
    let leaves: Vec<String> = (0..5).map(|one| format!("{{name: q{one}}}")).collect();
    let text = file(
        "{weights: {ann: 3, bob: 1}, formula: yarn3}",
        &format!("[{}]", leaves.join(", ")),
        "[]",
    );
    assert_eq!(
        codes(&text),
        "U-WEIGHT U-DEADZONE U-NOSHARE U-NOSHARE U-NOSHARE U-NOSHARE U-NOSHARE"
    );
}

#[test]
fn advice_is_given_where_it_is_certain() {
    let queue = |resources: &str, limits: &str| {
        format!("[{{name: a, resources: {{{resources}}}, userlimits: {limits}}}]")
    };
    let made = |resources: &str, limits: &str| {
        format!(
            "[{{name: p, parent: true, resources: {{max: {{vcore: 30}}}}, childtemplate: {{resources: {{{resources}}}, userlimits: {limits}}}}}]"
        )
    };
    let guaranteed = "guaranteed: {vcore: 10}";
    for (queues, expected) in [
        (queue("guaranteed: {vcore: 10}, max: {vcore: 20}", "{userlimitfactor: 2}"), ""),
        (queue("guaranteed: {vcore: 10}, max: {vcore: 20}", "{userlimitfactor: 2.1}"), "U-CAP"),
        (queue("guaranteed: {vcore: 10}, max: {memory: 1}", "{userlimitfactor: 9}"), ""),
        (queue("guaranteed: {vcore: 10}, max: {vcore: 20}", "{userlimitfactor: -1}"), ""),
        (queue(guaranteed, "{maximumallocation: {vcore: 2500m}}"), ""),
        (queue(guaranteed, "{maximumallocation: {vcore: 2501m}}"), "U-LARGE"),
        (queue(guaranteed, "{maximumallocation: {memory: 9Ti}}"), ""),
        (queue(guaranteed, "{enforcement: strict}"), "U-STRICT"),
        (queue(guaranteed, "{formula: yarn27, enforcement: overshoot}"), "U-DEADZONE"),
        (queue("", "{}"), "U-NOSHARE"),
        (queue("guaranteed: {vcore: 0}", "{}"), "Q-ZEROS U-NOSHARE"),
        (made(guaranteed, "{userlimitfactor: 3, maximumallocation: {vcore: 1}}"), ""),
        (made(guaranteed, "{userlimitfactor: 4, enforcement: strict}"), "U-CAP U-STRICT"),
        // A queue that a rule makes may get its guarantee from a tag.
        (made("", "{maximumallocation: {vcore: 1}}"), ""),
        // Nobody has what each leaf says otherwise.
        (
            "[{name: p, userlimits: {formula: yarn3, enforcement: strict}, queues: [{name: a, resources: {guaranteed: {vcore: 1}}, userlimits: {formula: smooth, enforcement: progress}}]}]".to_owned(),
            "",
        ),
    ] {
        let text = format!(
            "partitions: [{{queues: [{{name: root, submitacl: '*', queues: {queues}}}]}}]"
        );
        assert_eq!(codes(&text), expected, "with {queues}");
    }
}

#[test]
fn the_work_grows_with_the_file_and_not_with_its_square() {
    let mut weights = String::new();
    let mut amounts = String::new();
    for number in 0..3_000 {
        write!(weights, "u{number}: 1, ").unwrap();
        write!(amounts, "t{number}: 8, ").unwrap();
    }
    let own = format!(
        "{{weights: {{{weights}}}, minimumallocation: {{{amounts}}}, maximumallocation: {{{amounts}}}}}"
    );
    let leaves: Vec<String> = (0..3_000)
        .map(|number| {
            format!(
                "{{name: q{number}, resources: {{guaranteed: {{t1: 99}}}}, userlimits: {{weights: {{u1: 1}}, maximumallocation: {{t1: 8}}}}}}"
            )
        })
        .collect();
    let text = file(&own, &format!("[{}]", leaves.join(", ")), "[]");
    let start = Instant::now();
    assert_eq!(codes(&text), "");
    // Its square would take minutes.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn a_line_of_a_leaf_that_users_share_is_told_of_once() {
    let lined = |policy: &str| format!("properties: {{application.sort.policy: {policy}}}");
    let leaf = |more: &str| format!("[{{name: a, {more}}}]");
    for (own, queues, expected) in [
        ("", leaf(&format!("userlimits: {{}}, {}", lined("fifo-strict"))), "NO-EFFECT"),
        ("userlimits: {},", leaf(&lined("urgency")), "NO-EFFECT"),
        ("", leaf(&format!("userlimits: {{}}, {}", lined("fair"))), ""),
        ("", leaf(&lined("priority")), ""),
        (
            "userlimits: {},",
            format!("[{{name: p, {}, queues: [{{name: a}}, {{name: b}}]}}]", lined("priority")),
            "NO-EFFECT",
        ),
        (
            "userlimits: {},",
            format!("[{{name: p, parent: true, childtemplate: {{{}}}}}]", lined("fifo-backfill")),
            "NO-EFFECT",
        ),
    ] {
        let text = format!(
            "partitions: [{{name: default, {own} queues: [{{name: root, submitacl: '*', queues: {queues}}}]}}]"
        );
        let found = codes(&text);
        let told: Vec<&str> = found.split(' ').filter(|code| *code == "NO-EFFECT").collect();
        assert_eq!(told.join(" "), expected, "{text}");
    }
}
