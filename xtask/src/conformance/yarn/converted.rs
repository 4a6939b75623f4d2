//! The configurations of recorded histories, as files of Hadoop, make the queue files that the
//! histories are judged by.

use std::path::Path;

use headroom_config::yarn::{Source, convert};
use headroom_core::config::{CapacityConfig, CapacityShare, QueueConfig, UserLimitsConfig};
use headroom_core::userlimit::{Calculator, Decimal};
use serde_json::Value;

use super::record::Record;
use super::setup::Setup;
use super::size::Size;

/// All cases of the recorded data.
fn cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/yarn");
    let mut cases = Vec::new();
    for file in ["am-limits", "scenes", "user-limit-2.7.3", "user-limit-3.x"] {
        let text = std::fs::read_to_string(folder.join(file).with_extension("jsonl")).unwrap();
        let lines = text.lines().filter(|line| !line.is_empty());
        cases.extend(lines.map(|line| serde_json::from_str::<Value>(line).unwrap()));
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

/// What is in force at a leaf: each key from the nearest that has it.
fn in_force(path: &[&QueueConfig], partition: &UserLimitsConfig) -> UserLimitsConfig {
    let mut found = partition.clone();
    for own in path.iter().filter_map(|queue| queue.user_limits.as_ref()) {
        found.floor = own.floor.or(found.floor);
        found.factor = own.factor.or(found.factor);
        found.weights.extend(own.weights.iter().cloned());
        found.maximum_allocation = own.maximum_allocation.clone().or(found.maximum_allocation);
    }
    found.weights.sort();
    found.floor = found.floor.or(Some(Decimal::HUNDRED));
    found.factor = found.factor.or(Some(headroom_core::config::UserFactor::Times(Decimal::ONE)));
    // No increment is the minimum allocation.
    found.increment = found.increment.or_else(|| found.minimum_allocation.clone());
    found
}

/// What a leaf is guaranteed of so many MB, rounded down; none where that is said by amounts.
fn share(tops: &[&QueueConfig], siblings: &[&QueueConfig], total: i64) -> Option<i64> {
    let (mut above, mut below) = (1_i128, 1_i128);
    for (queue, parent) in tops.iter().zip(siblings) {
        let Some(CapacityConfig { share, .. }) = queue.capacity else { return None };
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

#[test]
fn what_users_may_have_is_the_same_by_the_converted_file() {
    let (mut compared, mut guaranteed) = (0, 0);
    for case in cases() {
        let name = format!("{}@{}", case["name"], case["version"]);
        let setup = Setup::read(&case).unwrap();
        let text = as_xml(&case["config"]);
        let converted =
            convert(&[Source { name: "case.xml", text: &text }], setup.formula).unwrap();
        let loaded = headroom_config::read(&converted.text);
        let loaded = loaded.unwrap_or_else(|faults| {
            let faults = faults.render("queues.yaml", headroom_config::Style::Plain);
            panic!("{name}: {faults}\n{}", converted.text)
        });
        let partition = &loaded.configuration.partitions[0];
        let (mut record, mut total) = (Record::default(), Size::ZERO);
        for step in case["steps"].as_array().unwrap() {
            record.merge(step);
            if step["op"] == "add_node" {
                let size = Size::read(&step["resource"]).unwrap();
                total =
                    Size { memory: total.memory + size.memory, cores: total.cores + size.cores };
                break;
            }
        }
        let expected = setup.configuration(&record, total).unwrap();
        let expected = leaves(&expected.partitions[0].root, &[]);
        let found = leaves(&partition.root, &[]);
        assert_eq!(found.len(), expected.len(), "{name}");
        for (path, queues) in &found {
            let (_, theirs) = expected.iter().find(|(theirs, _)| theirs == path).unwrap();
            let (theirs, own) = (theirs.last().unwrap(), queues.last().unwrap());
            let limits = in_force(queues, partition.user_limits.as_ref().unwrap());
            assert_eq!(Some(&limits), theirs.user_limits.as_ref(), "{name}: {path}");
            let of_all = partition.application_limits.as_ref().and_then(|limits| limits.driver);
            let driver =
                own.application_limits.as_ref().and_then(|limits| limits.driver).or(of_all);
            let original = original(&case, path);
            assert_eq!(driver, Some(setup.drivers(&original).unwrap().part), "{name}: {path}");
            compared += 1;
            let recorded = record.queue_size(&original, "capacity");
            if let (Some(share), Ok(recorded)) =
                (share(&queues[1..], queues, total.memory), recorded)
            {
                // Their fractions have 32 bits, and 2.7.3 rounds up to a step (decision M-10).
                let slack = 1 + total.memory / 1_000_000 + setup.step.memory;
                let is_close = (share - recorded.memory).abs() <= slack;
                assert!(
                    is_close,
                    "{name}: {path} has {share} MB of {}, recorded {}",
                    total.memory, recorded.memory
                );
                guaranteed += 1;
            }
        }
        assert_eq!(
            setup.calculator == Calculator::Memory,
            text.contains("DefaultResource"),
            "{name}"
        );
    }
    assert!(
        compared > 900 && guaranteed > 800,
        "{compared} leaves, {guaranteed} of them with a part"
    );
}

/// A path as it is recorded: with the case of its letters.
fn original(case: &Value, path: &str) -> String {
    let queues = case["config"]["queues"].as_object().unwrap();
    queues.keys().find(|one| one.to_lowercase() == path).cloned().unwrap()
}
