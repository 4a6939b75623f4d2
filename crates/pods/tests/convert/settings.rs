//! Settings in config maps.

use std::collections::BTreeSet;

use headroom_pods::convert::gang::PlaceholderSettings;
use headroom_pods::convert::identity::GeneratedIds;
use headroom_pods::convert::settings::table::SETTINGS;
use headroom_pods::convert::settings::{
    Entries, Settings, entries, extra_entries, merge, parse, queue_file, reload,
};
use headroom_pods::object::{ConfigMap, Text};
use serde_json::{Value, json};

/// `partitions: []`, compressed, as base64.
const COMPRESSED: &str = "H4sIAAAAAAACAytILCrJLMnMzyu2UoiOBQB6zh47DgAAAA==";

fn map(data: Value) -> Entries {
    data.as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str().into(), value.as_str().unwrap_or_default().into()))
        .collect()
}

fn binary(key: &str, base64: &str, last: &Entries) -> (Entries, usize) {
    let map: ConfigMap =
        serde_json::from_value(json!({ "binaryData": { key: base64 } })).expect("a config map");
    let (entries, corrupt) = entries(&map, last);
    (entries, corrupt.len())
}

#[test]
fn the_second_map_wins_entry_by_entry() {
    let merged = merge(&map(json!({ "a": "1", "b": "2" })), &map(json!({ "b": "3" })));
    assert_eq!(merged, map(json!({ "a": "1", "b": "3" })));
}

#[test]
fn compressed_entries_lose_their_suffix() {
    let none = Entries::new();
    let text = map(json!({ "queues.yaml": "partitions: []" }));
    assert_eq!(binary("queues.yaml.gz", COMPRESSED, &none), (text.clone(), 0));
    assert_eq!(binary("queues.yaml.GZ", COMPRESSED, &none), (text.clone(), 0));
    assert_eq!(
        binary("queues.yaml.bz2", COMPRESSED, &none),
        (map(json!({ "queues.yaml": "" })), 0)
    );
    assert_eq!(binary("queues.yaml.gz", "aGVsbG8=", &none), (none.clone(), 1));
    assert_eq!(binary("queues.yaml.gz", "aGVsbG8=", &text), (text, 1));
}

#[test]
fn one_unreadable_value_refuses_all() {
    for (key, value) in [
        ("service.schedulingInterval", "1d"),
        ("service.disableGangScheduling", "yes"),
        ("service.eventChannelCapacity", ""),
        ("service.placeholderRunAsUser", "9223372036854775808"),
        ("admissionController.filtering.generateUniqueAppId", "no"),
    ] {
        let fault = parse(&map(json!({ key: value }))).expect_err("an unreadable value");
        assert!(fault.to_string().starts_with(key), "{fault}");
    }
    let unknown = map(json!({ "unknown": "x", "log.level": "loud", "event.maxStreams": "many" }));
    assert_eq!(parse(&unknown), Ok(Settings::default()));
}

#[test]
fn the_queue_file_is_that_of_the_policy_group() {
    let merged =
        map(json!({ "queues.yaml": "a", "other.yaml": "b", "log.level": "INFO", ".yaml": "c" }));
    assert_eq!(queue_file(&merged, "queues").map(Text::as_str), Some("a"));
    assert_eq!(queue_file(&merged, "other").map(Text::as_str), Some("b"));
    assert_eq!(queue_file(&merged, "none"), None);
    assert_eq!(extra_entries(&merged), map(json!({ "log.level": "INFO" })));
}

#[test]
fn a_reload_changes_only_the_hot_refresh() {
    let old = Entries::new();
    let new =
        map(json!({ "service.clusterId": "other", "service.enableConfigHotRefresh": "false" }));
    let reloaded = reload(&Settings::default(), &old, &new).expect("readable settings");
    assert_eq!(reloaded.ignored, ["service.clusterId"]);
    assert_eq!(reloaded.settings, Settings { hot_refresh: false, ..Settings::default() });
    let again = reload(&reloaded.settings, &new, &old).expect("readable settings");
    assert!(!again.settings.hot_refresh, "once off, it stays off until a restart");
}

#[test]
fn the_table_has_each_key_once() {
    let keys: BTreeSet<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
    assert_eq!(keys.len(), SETTINGS.len());
}

#[test]
fn absent_settings_have_the_documented_defaults() {
    let second = 1_000_000_000;
    let expected = Settings {
        cluster: "mycluster".into(),
        policy_group: "queues".into(),
        interval: second,
        volume_timeout: 600 * second,
        event_capacity: 1_048_576,
        dispatch_timeout: 300 * second,
        disable_gangs: false,
        hot_refresh: true,
        placeholders: PlaceholderSettings {
            image: "registry.k8s.io/pause:3.7".into(),
            run_as_user: 0,
            run_as_group: 0,
            fs_group: 0,
        },
        compares_taints: false,
        instance_type_label: "node.kubernetes.io/instance-type".into(),
        qps: 1000,
        burst: 1000,
        generated_ids: GeneratedIds::PerNamespace,
    };
    assert_eq!(parse(&Entries::new()), Ok(expected));
}
