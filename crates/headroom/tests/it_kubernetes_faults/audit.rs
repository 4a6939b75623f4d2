//! Reads the audit log of the API server, and looks for pods bound twice and limits exceeded.
//!
//! This knows nothing of the scheduler. A delete counts from the moment at which the API server received it, because the
//! scheduler can know about it earlier than the client. A bind counts when it was answered. So the sums are never larger
//! than the true ones.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::load::Pod;

#[derive(Default)]
pub(crate) struct Found {
    /// Pods that were created.
    pub(crate) pods: u64,
    /// Binds that succeeded.
    pub(crate) binds: u64,
    /// Binds that the API server refused, because the pod had a node.
    pub(crate) conflicts: u64,
    /// The largest use of a namespace by its limit.
    pub(crate) namespace_percent: u64,
    /// The largest use of a user by the limit.
    pub(crate) user_percent: u64,
    /// What must not happen.
    pub(crate) faults: Vec<String>,
}

enum Change {
    Create(Box<Pod>),
    Bind,
    Delete,
}

/// Returns what happened to a pod, with the time and the key of the pod.
fn change(entry: &Value, found: &mut Found) -> Option<(String, String, Change)> {
    let object = &entry["objectRef"];
    let name = |field: &str| object[field].as_str().unwrap_or_default();
    let is_answered = entry["stage"] == "ResponseComplete";
    let code = entry["responseStatus"]["code"].as_u64().unwrap_or(0);
    let time = |field: &str| entry[field].as_str().unwrap().to_owned();
    let key = format!("{}/{}", name("namespace"), name("name"));
    match (entry["verb"].as_str()?, name("subresource")) {
        ("create", "") if is_answered && code == 201 => {
            let pod = Pod::of(&entry["responseObject"]);
            found.pods += 1;
            let key = format!("{}/{}", pod.namespace, pod.name);
            Some((time("requestReceivedTimestamp"), key, Change::Create(Box::new(pod))))
        }
        ("create", "binding") if is_answered && code == 201 => {
            found.binds += 1;
            Some((time("stageTimestamp"), key, Change::Bind))
        }
        ("create", "binding") if is_answered && code == 409 => {
            found.conflicts += 1;
            None
        }
        // Also if the answer is unknown: the pod can be gone.
        ("delete", "") => Some((time("requestReceivedTimestamp"), key, Change::Delete)),
        _ => None,
    }
}

struct Sums<'a> {
    limits: &'a [(&'a str, u64)],
    used: BTreeMap<String, u64>,
    most_percent: u64,
}

impl<'a> Sums<'a> {
    const fn new(limits: &'a [(&'a str, u64)]) -> Self {
        Self { limits, used: BTreeMap::new(), most_percent: 0 }
    }

    fn add(&mut self, name: &str, cpu: u64) -> Option<String> {
        let used = self.used.entry(name.to_owned()).or_default();
        *used += cpu;
        let limit = self.limits.iter().find(|(known, _)| *known == name)?.1;
        self.most_percent = self.most_percent.max(*used * 100 / limit);
        (*used > limit).then(|| format!("{name} uses {used} of {limit}"))
    }

    fn remove(&mut self, name: &str, cpu: u64) {
        *self.used.get_mut(name).unwrap() -= cpu;
    }
}

/// Reads an audit log. Limits are in thousandths of a core.
pub(crate) fn check(log: &str, namespaces: &[(&str, u64)], users: &[(&str, u64)]) -> Found {
    let mut found = Found::default();
    let mut changes = Vec::new();
    // The last line can be cut if the API server was stopped.
    let entries = || log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_refused =
        |entry: &Value| matches!(entry["responseStatus"]["code"].as_u64(), Some(400..500));
    let refused: BTreeSet<String> =
        entries().filter(is_refused).map(|entry| entry["auditID"].to_string()).collect();
    for entry in entries() {
        if entry["verb"] != "delete" || !refused.contains(&entry["auditID"].to_string()) {
            changes.extend(change(&entry, &mut found));
        }
    }
    // A create precedes all else at its time.
    changes.sort_by(|a, b| {
        let rank = |change: &Change| !matches!(change, Change::Create(_));
        (&a.0, rank(&a.2)).cmp(&(&b.0, rank(&b.2)))
    });
    let mut pods: BTreeMap<String, (Pod, bool)> = BTreeMap::new();
    let mut bound_ever: BTreeMap<String, String> = BTreeMap::new();
    let (mut of_namespaces, mut of_users) = (Sums::new(namespaces), Sums::new(users));
    for (time, key, change) in changes {
        match change {
            Change::Create(pod) => {
                pods.insert(key, (*pod, false));
            }
            Change::Delete => {
                if let Some((pod, true)) = pods.remove(&key) {
                    of_namespaces.remove(&pod.namespace, pod.cpu);
                    of_users.remove(&pod.user, pod.cpu);
                }
            }
            Change::Bind => {
                if let Some(before) = bound_ever.insert(key.clone(), time.clone()) {
                    found.faults.push(format!("{key} was bound at {before} and at {time}"));
                }
                // A pod that is deleted before its bind is answered counts nowhere.
                let Some((pod, is_bound)) = pods.get_mut(&key) else { continue };
                *is_bound = true;
                let faults =
                    [of_namespaces.add(&pod.namespace, pod.cpu), of_users.add(&pod.user, pod.cpu)];
                found.faults.extend(
                    faults
                        .into_iter()
                        .flatten()
                        .map(|fault| format!("{time}, bind of {key}: {fault}")),
                );
            }
        }
    }
    found.namespace_percent = of_namespaces.most_percent;
    found.user_percent = of_users.most_percent;
    found
}

#[test]
fn a_second_bind_and_a_use_above_a_limit_are_found() {
    let pod = |name: &str| {
        serde_json::json!({
            "metadata": {"namespace": "n", "name": name,
                "annotations": {"yunikorn.apache.org/user.info": r#"{"user":"u"}"#}},
            "spec": {"containers": [{"resources": {"requests": {"cpu": "600m"}}}]}
        })
    };
    let line = |time: u32, verb: &str, sub: &str, name: &str, code: u32| {
        serde_json::json!({
            "stage": "ResponseComplete", "verb": verb, "auditID": format!("{time}-{verb}-{name}"),
            "objectRef": {"namespace": "n", "name": name, "subresource": sub},
            "responseStatus": {"code": code}, "responseObject": pod(name),
            "requestReceivedTimestamp": format!("{time:03}"), "stageTimestamp": format!("{time:03}")
        })
        .to_string()
    };
    let text = |lines: &[String]| lines.join("\n");
    let good = [
        line(1, "create", "", "a", 201),
        line(2, "create", "binding", "a", 201),
        line(3, "create", "", "b", 201),
        line(4, "delete", "", "a", 200),
        line(5, "create", "binding", "b", 201),
        line(6, "create", "binding", "b", 409),
    ];
    let limits = [("n", 1_000)];
    let users = [("u", 1_000)];
    let found = check(&text(&good), &limits, &users);
    assert!(found.faults.is_empty(), "{:?}", found.faults);
    assert_eq!((found.pods, found.binds, found.conflicts, found.namespace_percent), (2, 2, 1, 60));
    // Without the delete, both together exceed the limits of the namespace and of the user.
    let over = [good[0].clone(), good[1].clone(), good[2].clone(), good[4].clone()];
    assert_eq!(check(&text(&over), &limits, &users).faults.len(), 2);
    let twice = [good[0].clone(), good[1].clone(), line(3, "create", "binding", "a", 201)];
    assert!(
        check(&text(&twice), &limits, &users).faults[0].contains("was bound at 002 and at 003")
    );
}
