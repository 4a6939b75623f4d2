//! Settings of the two config maps.

use serde_json::{Map, Value, json};

use crate::convert::identity::GeneratedIds;
use crate::convert::settings::table::INSTANCE_TYPE_LABEL_ALIAS;
use crate::convert::settings::{
    Entries, Settings, entries, extra_entries, merge, parse, queue_file,
};
use crate::object::{ConfigMap, Text};

use super::{Comparison, Decision, decode, diff};

pub(super) fn compare(case: &Value) -> Result<Comparison, String> {
    let read = |field: &str| -> Result<Entries, String> {
        let map: Option<ConfigMap> = decode(case, field)?;
        Ok(map.map(|map| entries(&map, &Entries::new()).0).unwrap_or_default())
    };
    let merged = merge(&read("defaults")?, &read("configs")?);
    let mut computed = json!({ "flat": texts(&merged) });
    match parse(&merged) {
        Ok(settings) => {
            computed["ok"] = true.into();
            let file = queue_file(&merged, &settings.policy_group);
            computed["queueConfig"] = file.map(Text::as_str).unwrap_or_default().into();
            computed["extraConfig"] = texts(&extra_entries(&merged));
            computed["scheduler"] = scheduler(&settings);
        }
        Err(_) => computed["ok"] = false.into(),
    }
    let mut recorded = case["result"].clone();
    let mut comparison = Comparison::default();
    // The reference stores a corrupt entry under the empty key.
    for part in ["flat", "extraConfig"] {
        let entries = recorded.get_mut(part).and_then(Value::as_object_mut);
        if entries.is_some_and(|entries| entries.remove("").is_some()) {
            comparison.decisions.insert(Decision::CorruptEntry);
        }
    }
    if let Some(label) = merged.get(INSTANCE_TYPE_LABEL_ALIAS.key)
        && recorded["ok"] == true
    {
        recorded["scheduler"]["instanceTypeNodeLabelKey"] = label.as_str().into();
        comparison.decisions.insert(Decision::SettingAlias);
    }
    for part in ["flat", "ok", "queueConfig", "extraConfig", "scheduler"] {
        diff(part, recorded.get(part), computed.get(part), &mut comparison.differences);
    }
    Ok(comparison)
}

fn texts(entries: &Entries) -> Value {
    entries
        .iter()
        .map(|(key, value)| (key.to_string(), value.as_str().into()))
        .collect::<Map<_, _>>()
        .into()
}

fn scheduler(settings: &Settings) -> Value {
    let placeholders = &settings.placeholders;
    let mut placeholder = json!({ "image": placeholders.image.as_str() });
    for (field, id) in [
        ("runAsUser", placeholders.run_as_user),
        ("runAsGroup", placeholders.run_as_group),
        ("fsGroup", placeholders.fs_group),
    ] {
        if id != 0 {
            placeholder[field] = id.into();
        }
    }
    json!({
        "clusterId": settings.cluster.as_str(),
        "policyGroup": settings.policy_group.as_str(),
        "schedulingIntervalSecond": settings.interval,
        "volumeBindTimeout": settings.volume_timeout,
        "eventChannelCapacity": settings.event_capacity,
        "dispatchTimeout": settings.dispatch_timeout,
        "disableGangScheduling": settings.disable_gangs,
        "enableConfigHotRefresh": settings.hot_refresh,
        "placeHolderConfig": placeholder,
        "instanceTypeNodeLabelKey": settings.instance_type_label.as_str(),
        "kubeQPS": settings.qps,
        "kubeBurst": settings.burst,
        "generateUniqueAppIds": settings.generated_ids == GeneratedIds::PerPod,
    })
}
