//! The configurations of recorded histories of `CapacityScheduler`, written as files of Hadoop: what
//! comes of them is what was configured, and what each queue was guaranteed then.

use std::path::Path;

use headroom_config::yarn::{Source, convert};
use headroom_core::config::{
    CapacityConfig, CapacityShare, QueueConfig, UserFactor, UserLimitsConfig,
};
use headroom_core::userlimit::{Calculator, Decimal, Enforcement, Formula};
use serde_json::Value;

/// All recorded cases.
fn cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/yarn");
    let mut cases = Vec::new();
    for file in ["am-limits", "scenes", "user-limit-2.7.3", "user-limit-3.x"] {
        let text = std::fs::read_to_string(folder.join(format!("{file}.jsonl"))).unwrap();
        cases.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    }
    cases
}

/// A number or text of a record as a property has it.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The configuration of a case as a file of Hadoop.
fn as_xml(config: &Value) -> String {
    let mut properties = Vec::new();
    let prefix = "yarn.scheduler.capacity";
    let mut add = |name: String, value: String| {
        properties.push(format!("<property><name>{name}</name><value>{value}</value></property>"));
    };
    let class = match config["resource_calculator"].as_str() {
        Some("dominant") => "DominantResourceCalculator",
        _ => "DefaultResourceCalculator",
    };
    add(
        format!("{prefix}.resource-calculator"),
        format!("org.apache.hadoop.yarn.util.resource.{class}"),
    );
    let minimum = &config["minimum_allocation"];
    add("yarn.scheduler.minimum-allocation-mb".to_owned(), word(&minimum[0]));
    add("yarn.scheduler.minimum-allocation-vcores".to_owned(), word(&minimum[1]));
    for (name, value) in config["scheduler"].as_object().unwrap() {
        add(format!("{prefix}.{name}"), word(value));
    }
    let queues = config["queues"].as_object().unwrap();
    for parent in std::iter::once("root").chain(queues.keys().map(String::as_str)) {
        let child =
            |path: &&String| path.rsplit_once('.').is_some_and(|(above, _)| above == parent);
        let names = queues.keys().filter(child).filter_map(|path| path.rsplit('.').next());
        let names: Vec<&str> = names.collect();
        if !names.is_empty() {
            add(format!("{prefix}.{parent}.queues"), names.join(","));
        }
    }
    for (path, queue) in queues {
        for (name, value) in queue.as_object().unwrap() {
            if name == "weights" {
                for (user, weight) in value.as_object().unwrap() {
                    add(format!("{prefix}.{path}.user-settings.{user}.weight"), word(weight));
                }
            } else {
                add(format!("{prefix}.{path}.{}", name.replace('_', "-")), word(value));
            }
        }
    }
    format!("<configuration>{}</configuration>", properties.concat())
}

/// The queues without queues below them by path, each with those above it, root first.
fn leaves<'q>(
    queue: &'q QueueConfig,
    above: &[&'q QueueConfig],
) -> Vec<(String, Vec<&'q QueueConfig>)> {
    let path = [above, &[queue]].concat();
    if queue.children.is_empty() {
        let names: Vec<&str> = path.iter().map(|queue| &*queue.name).collect();
        return vec![(names.join("."), path)];
    }
    queue.children.iter().flat_map(|child| leaves(child, &path)).collect()
}

/// Returns the guarantee of a leaf from this total in MB, rounded down. `None` if it is an absolute amount.
fn share(tops: &[&QueueConfig], siblings: &[&QueueConfig], total: i64) -> Option<i64> {
    let (mut above, mut below) = (1_i128, 1_i128);
    for (queue, parent) in tops.iter().zip(siblings) {
        let CapacityConfig { share, .. } = queue.capacity?;
        let weight = |queue: &QueueConfig| match queue.capacity {
            Some(CapacityConfig { share: CapacityShare::Weight(weight), .. }) => {
                i128::from(weight.millionths())
            }
            _ => 0,
        };
        let (part, whole) = match share {
            CapacityShare::Percent(percent) => (i128::from(percent.millionths()), 100_000_000),
            CapacityShare::Weight(own) => {
                (i128::from(own.millionths()), parent.children.iter().map(weight).sum())
            }
            CapacityShare::Absolute => return None,
        };
        (above, below) = (above * part, below * whole);
    }
    i64::try_from(i128::from(total) * above / below).ok()
}

/// What users may have in a leaf by what is recorded of it, with the defaults of Hadoop.
fn check_limits(name: &str, queue: &Value, path: &[&QueueConfig], partition: &UserLimitsConfig) {
    let number = |value: &Value| Decimal::parse(&word(value));
    let of = |pick: fn(&UserLimitsConfig) -> Option<Decimal>| {
        path.iter().rev().filter_map(|queue| queue.user_limits.as_ref()).find_map(pick)
    };
    let floor = queue.get("minimum_user_limit_percent").map_or(Some(Decimal::HUNDRED), number);
    let found = of(|limits| limits.floor).or(partition.floor).or(Some(Decimal::HUNDRED));
    assert_eq!(found, floor, "{name}: the floor");
    let factor = match queue.get("user_limit_factor") {
        Some(value) if value.as_f64() == Some(-1.0) => UserFactor::Off,
        Some(value) => UserFactor::Times(number(value).unwrap()),
        None => UserFactor::Times(Decimal::ONE),
    };
    let own = path.last().and_then(|queue| queue.user_limits.as_ref());
    let found = own.and_then(|limits| limits.factor).or(partition.factor);
    assert_eq!(found.unwrap_or(UserFactor::Times(Decimal::ONE)), factor, "{name}: the factor");
    let weights = own.map(|limits| limits.weights.clone()).unwrap_or_default();
    let recorded = queue.get("weights").and_then(Value::as_object);
    let recorded = recorded.into_iter().flatten();
    let mut recorded: Vec<_> =
        recorded.map(|(user, weight)| (user.clone(), number(weight).unwrap())).collect();
    recorded.sort();
    let found: Vec<_> = weights.iter().map(|(user, weight)| (user.to_string(), *weight)).collect();
    assert_eq!(found, recorded, "{name}: the weights");
}

#[test]
fn what_was_recorded_is_what_the_converted_file_says() {
    let (mut compared, mut guaranteed) = (0, 0);
    for case in cases() {
        let name = format!("{}@{}", case["name"], case["version"]);
        let formula = if case["version"] == "2.7.3" { Formula::Yarn27 } else { Formula::Yarn3 };
        let config = &case["config"];
        let text = as_xml(config);
        let converted = convert(&[Source { name: "case.xml", text: &text }], formula).unwrap();
        let loaded = headroom_config::read(&converted.text);
        let loaded = loaded.unwrap_or_else(|faults| {
            let faults = faults.render("queues.yaml", headroom_config::Style::Plain);
            panic!("{name}: {faults}\n{}", converted.text)
        });
        let partition = &loaded.configuration.partitions[0];
        let limits = partition.user_limits.as_ref().unwrap();
        let calculator = match config["resource_calculator"].as_str() {
            Some("dominant") => Calculator::Dominant,
            _ => Calculator::Memory,
        };
        assert_eq!(limits.calculator, Some(calculator), "{name}");
        assert_eq!(limits.formula, Some(formula), "{name}");
        assert_eq!(limits.enforcement, Some(Enforcement::Overshoot), "{name}");
        let first = &case["steps"][0];
        let total = first["resource"][0].as_i64().filter(|_| first["op"] == "add_node");
        for (path, queues) in &leaves(&partition.root, &[]) {
            let path = original(&case, path);
            let queue = &config["queues"][&path];
            check_limits(&format!("{name}: {path}"), queue, queues, limits);
            let of_all = partition.application_limits.as_ref().and_then(|limits| limits.driver);
            let own = queues.last().unwrap().application_limits.as_ref();
            let driver = own.and_then(|limits| limits.driver).or(of_all);
            let recorded = queue.get("maximum_am_resource_percent");
            let recorded =
                recorded.or_else(|| config["scheduler"].get("maximum-am-resource-percent"));
            let recorded =
                recorded.map_or(Decimal::parse("0.1"), |part| Decimal::parse(&word(part)));
            assert_eq!(driver, recorded, "{name}: {path}");
            compared += 1;
            let capacity = first["queues"][&path]["capacity"][0].as_i64();
            let Some((total, capacity)) = total.zip(capacity) else { continue };
            let Some(share) = share(&queues[1..], queues, total) else { continue };
            // Their fractions have 32 bits, and 2.7.3 rounds up to a step (decision M-10).
            let step = config["minimum_allocation"][0].as_i64().unwrap();
            let is_close = (share - capacity).abs() <= 1 + total / 1_000_000 + step;
            assert!(is_close, "{name}: {path} has {share} MB of {total}, recorded {capacity}");
            guaranteed += 1;
        }
    }
    assert!(compared > 555 && guaranteed > 400, "{compared} leaves, {guaranteed} with a part");
}

/// A path as it is recorded: with the case of its letters.
fn original(case: &Value, path: &str) -> String {
    let queues = case["config"]["queues"].as_object().unwrap();
    queues.keys().find(|one| one.to_lowercase() == path).cloned().unwrap()
}
