//! `capacity`: what a file with it says, which files are refused, and when advice is given.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use headroom_config::{outline, read, review};
use headroom_core::config::{CapacityConfig, CapacityShare, PartitionConfig};
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

/// The codes found where these are the queues below root, each a YAML mapping.
fn codes_of(queues: &[&str]) -> String {
    let mut text = "partitions:\n- name: default\n  queues:\n".to_owned();
    text += "  - name: root\n    submitacl: '*'\n    queues:\n";
    for queue in queues {
        text.extend(["    - ", queue, "\n"]);
    }
    codes(&text)
}

#[test]
fn every_key_becomes_what_it_says() {
    let text = "
partitions:
  - name: default
    applicationlimits: {maximumapplications: 10000, globalqueuemaxapplication: 500}
    queues:
      - name: research
        capacity: {mode: percent, value: 40.5, maximum: 80}
        queues:
          - name: night
            capacity: {mode: weight, value: 2.25, maximum: 50}
          - name: day
            capacity: {mode: weight, value: 10000}
        childtemplate: {capacity: {mode: weight, value: 0}}
      - name: sales
        capacity: {value: 59.5, mode: percent}
        queues:
          - name: eu
            capacity: {mode: absolute}
            resources: {guaranteed: {memory: 40Gi}, max: {memory: 80Gi}}
";
    let found = partition(text);
    assert_eq!(found.application_limits.unwrap().max_per_queue, Some(500));
    let [research, sales] = found.root.children.as_slice() else { panic!() };
    let [night, day] = research.children.as_slice() else { panic!() };
    let decimal = |text: &str| Decimal::parse(text).unwrap();
    let percent = |value: &str, maximum: Option<&str>| CapacityConfig {
        share: CapacityShare::Percent(decimal(value)),
        maximum: maximum.map(decimal),
    };
    let weight = |value: &str, maximum: Option<&str>| CapacityConfig {
        share: CapacityShare::Weight(decimal(value)),
        maximum: maximum.map(decimal),
    };
    assert_eq!(research.capacity, Some(percent("40.5", Some("80"))));
    assert_eq!(sales.capacity, Some(percent("59.5", None)));
    assert_eq!(night.capacity, Some(weight("2.25", Some("50"))));
    assert_eq!(day.capacity, Some(weight("10000", None)));
    assert_eq!(research.template.as_ref().unwrap().capacity, Some(weight("0", None)));
    let absolute = CapacityConfig { share: CapacityShare::Absolute, maximum: None };
    let eu = &sales.children[0];
    assert_eq!((eu.capacity, eu.guaranteed.len()), (Some(absolute), 1));
    let shown = format!("{:?}", outline(text).unwrap()[0]);
    for content in [r#"Text("percent")"#, r#"Number("40.5")"#, r#"Number("80")"#] {
        assert!(shown.contains(content), "{content} is not in {shown}");
    }
}

/// C2 of the feature table: siblings use one mode; weight and percent may mix across levels.
#[test]
#[doc(alias = "C2")]
fn siblings_have_one_mode() {
    for (queues, expected) in [
        (&["{name: a, capacity: {mode: percent, value: 100}}"][..], ""),
        (&["{name: a, capacity: {mode: percent, value: 60}}", "{name: b}"], "CP-SIBLINGS"),
        (
            &[
                "{name: a, capacity: {mode: percent, value: 60}}",
                "{name: b, capacity: {mode: weight, value: 1}}",
            ],
            "CP-SIBLINGS",
        ),
        (
            &[
                "{name: a, capacity: {mode: absolute}, resources: {guaranteed: {vcore: 1}}}",
                "{name: b, resources: {guaranteed: {vcore: 1}}}",
            ],
            "CP-SIBLINGS",
        ),
        (
            &[
                "{name: a, capacity: {mode: percent, value: 100}, queues: [{name: b, capacity: {mode: weight, value: 1}}]}",
            ],
            "",
        ),
        (
            &[
                "{name: a, capacity: {mode: weight, value: 3}, queues: [{name: b, capacity: {mode: percent, value: 100}}]}",
            ],
            "",
        ),
        (
            &[
                "{name: a, resources: {guaranteed: {vcore: 4}}, queues: [{name: b, capacity: {mode: percent, value: 100}}]}",
            ],
            "",
        ),
        (&["{name: a, queues: [{name: b, capacity: {mode: percent, value: 100}}]}"], "CP-PARENT"),
    ] {
        assert_eq!(codes_of(queues), expected, "{queues:?}");
    }
}

#[test]
fn percentages_of_siblings_add_up_to_100_or_are_all_0() {
    for (values, expected) in [
        (&["100"][..], ""),
        (&["33.3", "33.3", "33.3"], ""),
        (&["33.4", "33.4", "33.3"], ""),
        (&["50", "49.9"], ""),
        (&["50", "49.899999"], "CP-SUM"),
        (&["50", "50.100001"], "CP-SUM"),
        (&["0.1"], "CP-SUM"),
        (&["0", "0"], "CP-ZERO"),
        (&["0", "100"], ""),
        (&["50", "60", "x"], "CP-VALUE YAML-TYPE"),
    ] {
        let queue = |(place, value): (usize, &&str)| {
            format!("{{name: q{place}, capacity: {{mode: percent, value: {value}}}}}")
        };
        let queues: Vec<String> = values.iter().enumerate().map(queue).collect();
        let queues: Vec<&str> = queues.iter().map(String::as_str).collect();
        assert_eq!(codes_of(&queues), expected, "{values:?}");
    }
}

#[test]
fn the_number_for_all_leaves_is_said_by_the_partition() {
    let queue = "{name: a, applicationlimits: {globalqueuemaxapplication: 5}}";
    assert_eq!(codes_of(&[queue]), "NO-EFFECT");
}

/// User headroom §7.4: a factor that gives one user more than the maximum of the queue.
#[test]
fn a_factor_above_what_percentages_allow_is_advised_against() {
    for (factor, expected) in [("2", ""), ("2.000001", "U-CAP"), ("-1", "")] {
        let queue = format!(
            "{{name: a, capacity: {{mode: percent, value: 100, maximum: 100}}, queues: [{{name: b, capacity: {{mode: percent, value: 40, maximum: 80}}, userlimits: {{userlimitfactor: {factor}}}}}, {{name: c, capacity: {{mode: percent, value: 60}}}}]}}"
        );
        assert_eq!(codes_of(&[&queue]), expected, "factor {factor}");
    }
}

/// M-11: a queue without a guarantee can accept all applications that the queues above it allow.
#[test]
fn a_leaf_without_a_guarantee_is_advised_to_have_a_number_of_applications() {
    let text = |value: &str, other: &str| {
        format!(
            "
partitions:
- name: default
  applicationlimits: {{maximumapplications: 100}}
  queues:
  - name: root
    submitacl: '*'
    queues:
    - {{name: a, capacity: {{mode: percent, value: {value}}}}}
    - {{name: b, capacity: {{mode: percent, value: {other}}}}}
"
        )
    };
    assert_eq!(codes(&text("0", "100")), "AL-NOSHARE");
    assert_eq!(codes(&text("50", "50")), "");
}
