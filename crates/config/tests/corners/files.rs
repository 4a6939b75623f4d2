//! The queue files of `examples/`: every one loads, and three well-known ones mean what they say.

#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes the texts")]

use std::fs;
use std::path::PathBuf;

use expect_test::expect;
use headroom_config::{Loaded, read, review};
use headroom_core::config::{PartitionConfig, QueueConfig};
use headroom_core::resource::Amounts;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn text(name: &str) -> String {
    let text = fs::read_to_string(folder().join(name));
    text.unwrap_or_else(|error| panic!("{name}: {error}")).replace("\r\n", "\n")
}

fn load(name: &str) -> Loaded {
    read(&text(name)).unwrap_or_else(|faults| panic!("{name}: {faults}"))
}

fn partition(loaded: &Loaded) -> &PartitionConfig {
    assert_eq!(loaded.configuration.partitions.len(), 1);
    &loaded.configuration.partitions[0]
}

fn amounts(memory: i64, vcore: i64) -> Amounts {
    Amounts::from([("memory", memory), ("vcore", vcore)])
}

fn names(queue: &QueueConfig) -> Vec<&str> {
    queue.children.iter().map(|child| &*child.name).collect()
}

#[test]
#[doc(alias = "SD-22")]
fn three_queues_with_guarantees_and_maxima_have_the_amounts_they_mean() {
    let loaded = load("static-queues.yaml");
    assert!(loaded.warnings.is_empty(), "{}", loaded.warnings);
    let root = &partition(&loaded).root;
    assert_eq!(root.submit_acl, "*");
    let found: Vec<_> = root
        .children
        .iter()
        .map(|queue| (&*queue.name, queue.guaranteed.clone(), queue.max.clone()))
        .collect();
    let giga = 1_000_000_000;
    let expected = [
        ("advertisement", amounts(500 * giga, 50_000), amounts(800 * giga, 80_000)),
        ("search", amounts(400 * giga, 40_000), amounts(600 * giga, 60_000)),
        ("sandbox", amounts(100 * giga, 10_000), amounts(100 * giga, 10_000)),
    ];
    assert_eq!(found, expected);
}

#[test]
#[doc(alias = "SD-22")]
fn namespaces_become_queues_and_an_old_sort_policy_is_told() {
    let file = text("namespaces.yaml");
    let reviewed = review(&file);
    let loaded = load("namespaces.yaml");
    assert_eq!(reviewed.configuration.as_ref(), Some(&loaded.configuration));
    let one = partition(&loaded);
    let rule = &one.placement_rules[0];
    assert_eq!((one.placement_rules.len(), &*rule.name, &*rule.value), (1, "tag", "namespace"));
    assert!(rule.create && rule.parent.is_none());
    assert_eq!(names(&one.root), [""; 0]);
    let policy = one.root.properties.get("application.sort.policy");
    assert_eq!(policy.map(|policy| &**policy), Some("stateaware"));
    expect![[r#"
        line 11, column 36: P-DEPRECATED: `stateaware` is an obsolete name of `fifo`
    "#]]
    .assert_eq(&format!("{}\n", reviewed.diagnostics));
}

#[test]
#[doc(alias = "SD-22")]
fn namespaces_find_their_parent_by_a_tag() {
    let loaded = load("namespace-parents.yaml");
    let one = partition(&loaded);
    let rule = &one.placement_rules[0];
    let parent = rule.parent.as_ref().unwrap();
    assert_eq!((&*rule.name, &*rule.value, rule.create), ("tag", "namespace", true));
    assert_eq!(
        (&*parent.name, &*parent.value, parent.create),
        ("tag", "namespace.parentqueue", false)
    );
    assert_eq!(names(&one.root), ["production", "development"]);
    assert!(one.root.children.iter().all(QueueConfig::is_parent));
    expect![[r#"
        line 11, column 17: A-NOBODY: no user can submit to queue `root` or below: neither the queue nor a queue above it has an access list that admits a user
    "#]].assert_eq(&format!("{}\n", review(&text("namespace-parents.yaml")).diagnostics));
}

#[test]
fn every_queue_file_of_the_examples_loads_and_stands_on_their_page() {
    let page = text("README.md");
    let mut seen = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap();
        if path.extension().is_some_and(|end| end == "yaml") && !name.ends_with("-nodes.yaml") {
            assert!(!load(name).is_empty(), "{name}");
            assert!(page.contains(&format!("| `{name}` |")), "README.md does not name {name}");
            seen += 1;
        }
    }
    assert!(seen >= 6, "{seen} files");
}
