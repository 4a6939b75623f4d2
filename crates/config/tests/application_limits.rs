//! `applicationlimits`: what a file with them says, which files are refused, and when advice is given.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use headroom_config::{read, review};
use headroom_core::config::{ApplicationLimitsConfig, PartitionConfig, QueueConfig};
use headroom_core::userlimit::Decimal;

fn partition(text: &str) -> PartitionConfig {
    read(text).unwrap_or_else(|faults| panic!("{faults}")).configuration.partitions.remove(0)
}

/// The codes found in a file, by their place.
fn codes(text: &str) -> String {
    let review = review(text);
    let codes: Vec<&str> = review.diagnostics.iter().map(|one| one.code.as_str()).collect();
    codes.join(" ")
}

#[test]
fn every_key_becomes_what_it_says() {
    let found = partition(
        "
partitions:
  - name: default
    applicationlimits: {maximumapplications: 10000}
    queues:
      - name: research
        applicationlimits:
          maximumapplications: 4000
          maximumapplicationsperuser: 1000
          maxparallelapps: 200
          maxparallelappsperuser: 20
          maxparallelappsbyuser: {svc$: 30, ann: 5, b@example.com: 1}
          maximumdriverresourcepercent: 0.10
      - name: teams
        parent: true
        applicationlimits: {maximumdriverresourcepercent: 0}
        childtemplate: {applicationlimits: {maxparallelapps: 18446744073709551615}}
      - name: night
        parent: true
        applicationlimits:
        childtemplate: {applicationlimits: {}}
",
    );
    let nothing = ApplicationLimitsConfig::default();
    let all = ApplicationLimitsConfig { max: Some(10_000), ..nothing.clone() };
    assert_eq!((found.application_limits, found.root.application_limits), (Some(all), None));
    let [research, teams, night] = found.root.children.as_slice() else { panic!() };
    let expected = ApplicationLimitsConfig {
        max: Some(4_000),
        max_per_user: Some(1_000),
        max_parallel: Some(200),
        max_parallel_per_user: Some(20),
        max_parallel_by_user: [("ann", 5), ("b@example.com", 1), ("svc$", 30)]
            .map(|(user, number)| (user.into(), number))
            .into(),
        driver: Some(Decimal::TENTH),
        ..ApplicationLimitsConfig::default()
    };
    assert_eq!(research.application_limits.as_ref(), Some(&expected));
    assert_eq!(expected.parallel_of("svc$"), Some(30), "names are in order");
    let none = ApplicationLimitsConfig { driver: Some(Decimal::ZERO), ..nothing.clone() };
    assert_eq!(teams.application_limits, Some(none), "a zero is something");
    let template = teams.template.as_ref().unwrap().application_limits.clone();
    assert_eq!(template, Some(ApplicationLimitsConfig { max_parallel: Some(u64::MAX), ..nothing }));
    assert_eq!((&night.application_limits, &night.template), (&None, &None), "without anything");
}

#[test]
fn the_example_of_the_guide_is_as_the_guide_says() {
    let guide = include_str!("../../../docs/limits.md").replace("\r\n", "\n");
    let (_, section) = guide.split_once("\n## applicationlimits\n").expect("a section");
    let (_, example) = section.split_once("```yaml\n").expect("an example");
    let (example, _) = example.split_once("\n```").expect("its end");
    let found = partition(example);
    let everywhere = found.application_limits.unwrap();
    assert_eq!(everywhere.max, Some(10_000));
    assert_eq!(everywhere.driver, Some(Decimal::TENTH));
    let research = found.root.children[0].application_limits.as_ref().unwrap();
    assert_eq!((research.max, research.max_parallel), (Some(4_000), Some(200)));
    assert_eq!((research.parallel_of("ann"), research.parallel_of("bob")), (Some(5), Some(20)));
    // Advice on it is that nobody may submit, and no more.
    assert_eq!(codes(example), "A-NOBODY");
}

fn nowhere(queue: &QueueConfig) -> bool {
    let template = queue.template.as_ref().and_then(|one| one.application_limits.as_ref());
    queue.application_limits.is_none() && template.is_none() && queue.children.iter().all(nowhere)
}

#[test]
fn a_stock_file_has_none() {
    let stock = include_str!("queues.yaml");
    for text in [stock, headroom_config::BUILT_IN] {
        let found = partition(text);
        assert!(found.application_limits.is_none() && nowhere(&found.root), "{found:?}");
    }
}

/// A partition with this block, and below its root these queues.
fn file(own: &str, queues: &str) -> String {
    format!(
        "partitions: [{{name: default, applicationlimits: {own}, queues: [{{name: root, submitacl: '*', queues: {queues}}}]}}]"
    )
}

#[test]
fn values_are_judged_where_they_are_written() {
    for (limits, expected) in [
        ("{maximumapplications: 1, maximumapplicationsperuser: 1}", ""),
        ("{maximumapplications: 18446744073709551615}", ""),
        ("{maximumapplications: 18446744073709551616}", "AL-COUNT"),
        ("{maximumapplications: 0}", "AL-COUNT"),
        ("{maximumapplications: -1}", "AL-COUNT"),
        ("{maximumapplications: +1}", "AL-COUNT"),
        // What is taken for a number elsewhere.
        ("{maximumapplications: 1.5}", "AL-COUNT"),
        ("{maximumapplications: 1.0}", "AL-COUNT"),
        ("{maximumapplications: 1e3}", "AL-COUNT"),
        ("{maximumapplications: 010}", "AL-COUNT"),
        ("{maximumapplications: 0x10}", "AL-COUNT"),
        ("{maximumapplications: 1_000}", "AL-COUNT"),
        ("{maximumapplications: .inf}", "AL-COUNT"),
        ("{maximumapplications: '1'}", "YAML-TYPE"),
        ("{maximumapplications: many}", "YAML-TYPE"),
        ("{maximumapplications: [1]}", "YAML-TYPE"),
        ("{maximumapplications: true}", "YAML-TYPE"),
        ("{maximumapplicationsperuser: 0}", "AL-COUNT"),
        ("{maxparallelapps: 0}", "AL-COUNT"),
        ("{maxparallelappsperuser: 0}", "AL-COUNT"),
        ("{maxparallelapps: , maxparallelappsperuser: 1}", "YAML-LENIENT"),
        ("{maxparallelappsbyuser: {ann: 1, b@example.com: 2}}", ""),
        ("{maxparallelappsbyuser: {ann: 0}}", "AL-COUNT"),
        ("{maxparallelappsbyuser: {ann: }}", "AL-COUNT"),
        ("{maxparallelappsbyuser: {ann: x}}", "YAML-TYPE"),
        ("{maxparallelappsbyuser: {ann: 1, ann: 1}}", "YAML-DUP"),
        ("{maxparallelappsbyuser: {ann: 1, 'ann': 2}}", "YAML-DUP"),
        ("{maxparallelappsbyuser: [ann]}", "YAML-TYPE"),
        ("{maxparallelappsbyuser: {1a: 1}}", "AL-USERNAME"),
        ("{maxparallelappsbyuser: {'*': 1}}", "AL-USERNAME"),
        ("{maximumdriverresourcepercent: 0}", ""),
        ("{maximumdriverresourcepercent: 0.000001}", ""),
        ("{maximumdriverresourcepercent: 1.0}", ""),
        ("{maximumdriverresourcepercent: 1.000001}", "AL-DRIVER"),
        ("{maximumdriverresourcepercent: 0.0000001}", "AL-DRIVER"),
        ("{maximumdriverresourcepercent: -1}", "AL-DRIVER"),
        ("{maximumdriverresourcepercent: 1e-1}", "AL-DRIVER"),
        ("{maximumdriverresourcepercent: .nan}", "AL-DRIVER"),
        ("{maximumdriverresourcepercent: 10%}", "YAML-TYPE"),
        ("{maximumapplications: 1, maximumapplications: 2}", "YAML-DUP"),
        ("{maxParallelApps: 1}", "YAML-KEY"),
        ("{}", "NO-EFFECT"),
        ("[]", "YAML-TYPE"),
    ] {
        let queue = format!("[{{name: a, applicationlimits: {limits}}}]");
        let template =
            format!("[{{name: a, parent: true, childtemplate: {{applicationlimits: {limits}}}}}]");
        for text in [file(limits, "[]"), file("{maximumdriverresourcepercent: 1}", &queue)] {
            assert_eq!(codes(&text), expected, "with {limits}");
        }
        assert_eq!(
            codes(&file("{maximumdriverresourcepercent: 1}", &template)),
            expected,
            "with {limits}"
        );
    }
}

/// What is to be done, of each diagnostic.
fn help(limits: &str) -> Vec<String> {
    let review = review(&file(limits, "[]"));
    review.diagnostics.iter().map(|one| one.help.clone().unwrap()).collect()
}

#[test]
fn what_to_write_instead_is_said() {
    for (limits, expected) in [
        ("{maximumdriverresourcepercent: 10}", "write 0.1 for 10 percent"),
        ("{maximumdriverresourcepercent: 12.5}", "write 0.125 for 12.5 percent"),
        ("{maximumdriverresourcepercent: 100}", "write 1 for 100 percent"),
        (
            "{maximumdriverresourcepercent: 100.1}",
            "write 0.1 for a tenth of the queue; 0 lets one driver start at a time",
        ),
        (
            "{maximumdriverresourcepercent: 33.33333}",
            "write 0.1 for a tenth of the queue; 0 lets one driver start at a time",
        ),
        ("{max-parallel-apps: 1, maxparallelapps: 1}", "did you mean `maxparallelapps`?"),
        ("{maximumapplication: 1, maxparallelapps: 1}", "did you mean `maximumapplications`?"),
        (
            "{maxParallelApps: 1, maxparallelappsperuser: 1}",
            "write `maxparallelapps`; keys are lower case",
        ),
        (
            "{maxparallelapps: 2.5}",
            "write a number in this range, in digits only, or remove the key to have no limit",
        ),
    ] {
        assert_eq!(help(limits), [expected], "with {limits}");
    }
    let zero = help("{maxparallelapps: 0}").remove(0);
    assert!(zero.starts_with("remove the key to have no limit, or write 1 or more"), "{zero}");
    let zero = help("{maxparallelappsbyuser: {ann: 0}}").remove(0);
    assert!(zero.starts_with("remove the user to apply `maxparallelappsperuser`"), "{zero}");
}

#[test]
fn advice_is_given_where_it_is_certain() {
    let below = |p: &str, a: &str| {
        format!(
            "[{{name: p, applicationlimits: {p}, queues: [{{name: a, applicationlimits: {a}}}]}}]"
        )
    };
    let made = |p: &str, made: &str| {
        format!(
            "[{{name: p, parent: true, applicationlimits: {p}, childtemplate: {{applicationlimits: {made}}}}}]"
        )
    };
    let some = "{maxparallelapps: 9}";
    for (own, queues, expected) in [
        (some, below("{maximumapplications: 5}", "{maximumapplications: 5}"), ""),
        (some, below("{maximumapplications: 5}", "{maximumapplications: 6}"), "AL-APPS>PARENT"),
        // One counts what comes in, the other what starts.
        (some, below("{maximumapplications: 5}", "{maxparallelapps: 6}"), ""),
        (some, below("{maximumapplications: 5}", "{maxparallelapps: 10}"), "AL-APPS>PARENT"),
        // The smallest above counts, not the nearest.
        (
            "{maxparallelapps: 3}",
            below("{maxparallelapps: 4}", "{maxparallelapps: 4}"),
            "AL-APPS>PARENT AL-APPS>PARENT",
        ),
        (some, made("{maximumapplications: 5}", "{maximumapplications: 5}"), ""),
        (some, made("{maximumapplications: 5}", "{maximumapplications: 6}"), "AL-APPS>PARENT"),
        (some, below("{maximumapplications: 5}", "{maximumapplicationsperuser: 5}"), ""),
        (some, below("{maximumapplications: 5}", "{maximumapplicationsperuser: 6}"), "AL-LOOSE"),
        (some, made("{maximumapplications: 5}", "{maximumapplicationsperuser: 6}"), "AL-LOOSE"),
        // What is inherited may be meant for others.
        ("{maximumapplicationsperuser: 6}", below("{maximumapplications: 5}", some), ""),
        // A user's applications start in other queues, too.
        (some, below("{maxparallelapps: 1}", "{maxparallelappsperuser: 9}"), ""),
        (some, below("{maxparallelapps: 1}", "{maxparallelappsperuser: 10}"), "AL-LOOSE"),
        // More than there can be takes away what would be inherited.
        (
            "{maxparallelapps: 9, maxparallelappsperuser: 3}",
            below(
                "{maximumapplicationsperuser: 3}",
                "{maximumapplications: 5, maximumapplicationsperuser: 6, maxparallelappsperuser: 10}",
            ),
            "",
        ),
        (some, below("{maxparallelapps: 1}", "{maxparallelappsbyuser: {a: 9, b: 10}}"), ""),
    ] {
        assert_eq!(codes(&file(own, &queues)), expected, "{own} with {queues}");
    }
}

#[test]
fn what_the_root_says_takes_the_place_of_what_its_partition_says() {
    let text = |own: &str, root: &str, queues: &str| {
        format!(
            "partitions: [{{applicationlimits: {own}, queues: [{{name: root, submitacl: '*', applicationlimits: {root}, queues: {queues}}}]}}]"
        )
    };
    let deep = "[{name: a, applicationlimits: {maximumapplications: 7}}]";
    for (own, root, queues, expected) in [
        ("{maximumapplications: 5}", "{maxparallelapps: 9}", "[]", ""),
        ("{maximumapplications: 5}", "{maximumapplications: 9}", deep, "NO-EFFECT"),
        ("{maximumapplications: 9}", "{maximumapplications: 5}", deep, "NO-EFFECT AL-APPS>PARENT"),
        ("{maximumapplications: 5}", "{maxparallelapps: 9}", deep, "AL-APPS>PARENT"),
        (
            "{maximumdriverresourcepercent: 0.1}",
            "{maximumdriverresourcepercent: 0}",
            "[]",
            "NO-EFFECT",
        ),
        (
            "{maxparallelappsbyuser: {ann: 1}}",
            "{maxparallelappsbyuser: {bob: 1}}",
            "[]",
            "NO-EFFECT",
        ),
    ] {
        assert_eq!(codes(&text(own, root, queues)), expected, "{own}, {root}, {queues}");
    }
}

#[test]
fn a_leaf_without_share_that_may_fill_a_queue_is_told_once() {
    let guaranteed = "resources: {guaranteed: {vcore: 4}}";
    for (own, queues, expected) in [
        (
            "{maximumapplications: 9}",
            format!("{{name: a, {guaranteed}}}, {{name: b}}"),
            "AL-NOSHARE",
        ),
        (
            "{maximumapplications: 9}",
            format!("{{name: a, {guaranteed}}}, {{name: b}}, {{name: c}}, {{name: d}}"),
            "AL-NOSHARE",
        ),
        (
            "{maximumapplications: 9}",
            format!(
                "{{name: a, {guaranteed}}}, {{name: b, applicationlimits: {{maximumapplications: 9}}}}"
            ),
            "",
        ),
        ("{maximumapplications: 9}", format!("{{name: a, {guaranteed}}}"), ""),
        // Nobody divides anything.
        ("{maximumapplications: 9}", "{name: a}, {name: b}".to_owned(), ""),
        ("{maxparallelapps: 9}", format!("{{name: a, {guaranteed}}}, {{name: b}}"), ""),
    ] {
        assert_eq!(codes(&file(own, &format!("[{queues}]"))), expected, "{own} with {queues}");
    }
}

#[test]
fn the_work_grows_with_the_file_and_not_with_its_square() {
    let mut users = String::new();
    for number in 0..3_000 {
        write!(users, "u{number}: 5, ").unwrap();
    }
    let own = format!("{{maximumapplications: 9, maxparallelappsbyuser: {{{users}}}}}");
    let leaves: Vec<String> = (0..3_000)
        .map(|number| {
            format!(
                "{{name: q{number}, applicationlimits: {{maximumapplications: 9, maxparallelappsbyuser: {{u1: 1}}}}}}"
            )
        })
        .collect();
    let text = file(&own, &format!("[{}]", leaves.join(", ")));
    let start = Instant::now();
    assert_eq!(codes(&text), "");
    // Its square would take minutes.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
