//! Who a pod belongs to: scheduler, application, queue, user, and task group.

use serde_json::Value;

use crate::object::{Pod, Text};

use super::json::Fields;
use super::key::{self, APPLICATION_KEYS, Key, Place, QUEUE_KEYS, UNIQUE_MARKER};
use super::text::{cut, parse_bool};

/// Longest generated application ID, in bytes.
const GENERATED_ID_MAX: usize = 63;
/// Longest namespace in a generated unique application ID, in bytes.
const UNIQUE_NAMESPACE_MAX: usize = 26;

/// Returns whether Headroom places the pod. Every other pod is foreign.
pub fn is_ours(pod: &Pod) -> bool {
    pod.spec.scheduler_name == key::SCHEDULER
}

/// Returns the namespace of the pod, or the default one.
pub fn namespace_of(pod: &Pod) -> Text {
    match pod.metadata.namespace.non_empty() {
        Some(_) => pod.metadata.namespace.clone(),
        None => key::DEFAULT_NAMESPACE.into(),
    }
}

/// Whether each pod without an application ID gets an application of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratedIds {
    /// Pods of a namespace share one application.
    PerNamespace,
    /// Each pod has its own application.
    PerPod,
}

/// Returns the application ID of one of our pods.
pub fn application_id(pod: &Pod, generated: GeneratedIds) -> Text {
    match first(pod, &APPLICATION_KEYS) {
        Some(given) => resolve_marker(given, pod),
        None => generated_id(pod, generated),
    }
}

/// Returns the queue name of one of our pods, or the empty text.
pub fn queue_name(pod: &Pod) -> Text {
    first(pod, &QUEUE_KEYS).cloned().unwrap_or_default()
}

fn generated_id(pod: &Pod, generated: GeneratedIds) -> Text {
    let namespace = namespace_of(pod);
    let id = match generated {
        GeneratedIds::PerNamespace => format!("{}-{namespace}-autogen", key::SCHEDULER),
        GeneratedIds::PerPod => {
            format!("{}-{}", cut(&namespace, UNIQUE_NAMESPACE_MAX), pod.metadata.uid)
        }
    };
    cut(&id, GENERATED_ID_MAX).into()
}

/// Replaces the marker for a unique ID by the UID of the pod.
fn resolve_marker(id: &Text, pod: &Pod) -> Text {
    match id.strip_suffix(UNIQUE_MARKER) {
        Some(start) => format!("{start}-{}", pod.metadata.uid).into(),
        None => id.clone(),
    }
}

fn value<'a>(pod: &'a Pod, key: &Key) -> Option<&'a Text> {
    let map = match key.place {
        Place::PodLabel => &pod.metadata.labels,
        Place::PodAnnotation | Place::PodOrClassAnnotation => &pod.metadata.annotations,
        Place::NamespaceAnnotation => return None,
    };
    map.get(key.name).filter(|value| !value.is_empty())
}

fn first<'a>(pod: &'a Pod, keys: &[Key]) -> Option<&'a Text> {
    keys.iter().find_map(|key| value(pod, key))
}

/// Which value of a pod is given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Application ID.
    Application,
    /// Queue name.
    Queue,
}

/// Different values for one property of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Which property.
    pub subject: Subject,
    /// Value that counts.
    pub chosen: Text,
    /// Keys and values that are ignored.
    pub ignored: Vec<(&'static Key, Text)>,
}

/// Returns the properties of one of our pods that have different values, at most one conflict for each subject.
pub fn conflicts(pod: &Pod) -> Vec<Conflict> {
    let ids = conflict(pod, Subject::Application, &APPLICATION_KEYS, resolve_marker);
    let queues = conflict(pod, Subject::Queue, &QUEUE_KEYS, |value, _| value.clone());
    ids.into_iter().chain(queues).collect()
}

fn conflict(
    pod: &Pod,
    subject: Subject,
    keys: &'static [Key],
    resolve: fn(&Text, &Pod) -> Text,
) -> Option<Conflict> {
    let chosen = resolve(first(pod, keys)?, pod);
    let given = keys.iter().filter_map(|key| Some((key, value(pod, key)?)));
    let ignored: Vec<_> = given
        .filter(|(_, value)| resolve(value, pod) != chosen)
        .map(|(key, value)| (key, value.clone()))
        .collect();
    (!ignored.is_empty()).then_some(Conflict { subject, chosen, ignored })
}

/// User and groups of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Name of the user.
    pub name: Text,
    /// Groups, or none if the core resolves them.
    pub groups: Vec<Text>,
}

impl User {
    fn nobody() -> Self {
        Self { name: key::DEFAULT_USER.into(), groups: Vec::new() }
    }
}

/// Returns the user of a pod. A pod without readable user information belongs to `nobody`.
pub fn user_of(pod: &Pod) -> User {
    let info = pod.metadata.annotations.get(key::USER_INFO);
    let fields = info.and_then(|text| serde_json::from_str::<Fields>(text).ok());
    let Some(fields) = fields else { return User::nobody() };
    let mut user = User::nobody();
    for (name, value) in fields.0 {
        let read = match name.to_ascii_lowercase().as_str() {
            "user" => read_user(&mut user, value),
            "groups" => read_groups(&mut user, value),
            _ => Some(()),
        };
        if read.is_none() {
            return User::nobody();
        }
    }
    user
}

fn read_user(user: &mut User, value: Value) -> Option<()> {
    match value {
        Value::Null => {}
        Value::String(name) if name.is_empty() => user.name = key::DEFAULT_USER.into(),
        Value::String(name) => user.name = name.into(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return None,
    }
    Some(())
}

fn read_groups(user: &mut User, value: Value) -> Option<()> {
    match value {
        Value::Null => user.groups.clear(),
        Value::Array(groups) => {
            let text = |group| match group {
                Value::Null => Some(Text::default()),
                Value::String(group) => Some(group.into()),
                Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
            };
            user.groups = groups.into_iter().map(text).collect::<Option<_>>()?;
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => return None,
    }
    Some(())
}

/// Returns whether the pod holds resources for a gang member.
pub fn is_placeholder(pod: &Pod) -> bool {
    let text = pod.metadata.annotations.get(key::PLACEHOLDER);
    text.and_then(|text| parse_bool(text)).unwrap_or(false)
}

/// Returns the task group of the pod, or the empty text.
pub fn task_group_name(pod: &Pod) -> Text {
    pod.metadata.annotations.get(key::TASK_GROUP_NAME).cloned().unwrap_or_default()
}
