//! The submission of an application, which its first pod determines.

use std::collections::BTreeMap;

use crate::object::{OwnerReference, Pod, Text};

use super::amounts::Amounts;
use super::gang::{
    GangPolicy, GangStyle, GroupFault, IgnoredParameter, PlaceholderSource, TaskGroup,
    parse_groups, parse_policy, placeholder_ask,
};
use super::identity::{
    GeneratedIds, User, application_id, is_placeholder, namespace_of, queue_name, user_of,
};
use super::key::{self, tag};
use super::namespace::{NamespaceLimits, encode_amounts};

/// Tags of a message to the core.
pub type Tags = BTreeMap<Text, Text>;

/// Submission of an application to the core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationSubmission {
    /// Application ID.
    pub id: Text,
    /// Requested queue. Empty means that placement rules select it.
    pub queue: Text,
    /// User and groups.
    pub user: User,
    /// Tags for placement rules and the queue.
    pub tags: Tags,
    /// Amounts of all placeholders. Empty without gang.
    pub placeholder_ask: Amounts,
    /// Placeholder timeout in milliseconds. Zero means the default of the core.
    pub timeout_millis: i64,
    /// What happens after the placeholder timeout.
    pub style: GangStyle,
}

/// Everything that the first pod determines about an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationPlan {
    /// Message to the core.
    pub submission: ApplicationSubmission,
    /// Namespace of the application.
    pub namespace: Text,
    /// When the first pod was created, in Unix seconds.
    pub created: Option<i64>,
    /// Gang, if the first pod has valid task groups.
    pub gang: Option<Box<GangPlan>>,
    /// UID of the pod that owns the placeholders. Its task is the originator.
    pub originator: Text,
    /// Why the task groups of the first pod are ignored.
    pub group_fault: Option<GroupFault>,
    /// Policy parameters that are ignored.
    pub ignored_parameters: Vec<IgnoredParameter>,
}

/// Gang of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GangPlan {
    /// Task groups. Never empty.
    pub groups: Vec<TaskGroup>,
    /// Timeout and style.
    pub policy: GangPolicy,
    /// What the placeholders have in common.
    pub source: PlaceholderSource,
}

/// How applications are built from pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplicationRules {
    /// How missing application IDs are generated.
    pub generated_ids: GeneratedIds,
    /// Whether task groups are read.
    pub gangs: bool,
}

/// Builds the application of which `pod` is the first pod.
pub fn plan_application(
    pod: &Pod,
    limits: Option<&NamespaceLimits>,
    rules: ApplicationRules,
) -> ApplicationPlan {
    let annotation = |key| pod.metadata.annotations.get(key).cloned().unwrap_or_default();
    let groups_text = annotation(key::TASK_GROUPS);
    let policy_text = annotation(key::POLICY_PARAMETERS);
    let (policy, ignored_parameters) = parse_policy(&policy_text);
    let groups = match (rules.gangs, groups_text.non_empty()) {
        (true, Some(text)) => parse_groups(text),
        (true, None) | (false, _) => Ok(Vec::new()),
    };
    let (groups, group_fault) = match groups {
        Ok(groups) => (groups, None),
        Err(fault) => (Vec::new(), Some(fault)),
    };
    let owners = placeholder_owners(pod);
    let originator = owners.first().map(|owner| owner.uid.clone()).unwrap_or_default();
    let namespace = namespace_of(pod);
    let submission = ApplicationSubmission {
        id: application_id(pod, rules.generated_ids),
        queue: queue_name(pod),
        user: user_of(pod),
        tags: tags(pod, limits, rules.gangs.then_some(&groups_text), &policy_text),
        placeholder_ask: placeholder_ask(&groups).unwrap_or_default(),
        timeout_millis: policy.timeout_millis(),
        style: policy.style,
    };
    let source = PlaceholderSource {
        application: submission.id.clone(),
        queue: submission.queue.clone(),
        namespace: namespace.clone(),
        priority_class: if is_placeholder(pod) {
            Text::default()
        } else {
            pod.spec.priority_class_name.clone()
        },
        pull_secrets: pull_secrets(pod).cloned().collect(),
        owners,
        groups_text,
        policy_text,
        user_text: annotation(key::USER_INFO),
    };
    let gang = (!groups.is_empty()).then(|| Box::new(GangPlan { groups, policy, source }));
    let created = created(pod);
    ApplicationPlan {
        submission,
        namespace,
        created,
        gang,
        originator,
        group_fault,
        ignored_parameters,
    }
}

/// Returns the creation time of a pod in Unix seconds.
///
/// A time that Kubernetes writes for an absent one, the start of the year 1, is absent.
pub fn created(pod: &Pod) -> Option<i64> {
    pod.metadata.creation_timestamp.map(|time| time.0).filter(|seconds| *seconds > YEAR_ONE)
}

/// Start of the year 1 in Unix seconds.
const YEAR_ONE: i64 = -62_135_596_800;

fn pull_secrets(pod: &Pod) -> impl Iterator<Item = &Text> {
    pod.spec.image_pull_secrets.iter().map(|secret| &secret.name)
}

/// Returns the owners of the placeholders of an application.
///
/// After a restart, the first pod can be a placeholder itself. It then has the owner that all placeholders have.
fn placeholder_owners(pod: &Pod) -> Vec<OwnerReference> {
    if is_placeholder(pod) {
        return pod.metadata.owner_references.to_vec();
    }
    vec![OwnerReference {
        api_version: "v1".into(),
        kind: "Pod".into(),
        name: pod.metadata.name.clone(),
        uid: pod.metadata.uid.clone(),
        controller: false,
        block_owner_deletion: true,
    }]
}

fn tags(
    pod: &Pod,
    limits: Option<&NamespaceLimits>,
    groups_text: Option<&Text>,
    policy_text: &Text,
) -> Tags {
    let mut tags = Tags::new();
    let mut set = |key: &str, value: Text| tags.insert(key.into(), value);
    set(tag::NAMESPACE, namespace_of(pod));
    let assigned = !pod.spec.node_name.is_empty();
    set(tag::FORCE, if assigned { "true" } else { "false" }.into());
    let secrets: Vec<&str> = pull_secrets(pod).map(Text::as_str).collect();
    if !secrets.is_empty() {
        set(tag::PULL_SECRETS, secrets.join(",").into());
    }
    if let Some(text) = groups_text {
        set(key::TASK_GROUPS, text.clone());
    }
    set(key::POLICY_PARAMETERS, policy_text.clone());
    if let Some(seconds) = created(pod).filter(|seconds| *seconds != 0) {
        set(tag::APPLICATION_CREATED, seconds.to_string().into());
    }
    if let Some(limits) = limits {
        if let Some(quota) = &limits.quota {
            set(tag::QUOTA, encode_amounts(quota).into());
        }
        if let Some(guaranteed) = &limits.guaranteed {
            set(tag::GUARANTEED, encode_amounts(guaranteed).into());
        }
        if let Some(count) = &limits.max_applications {
            set(tag::MAX_APPS, count.clone());
        }
        if let Some(parent) = &limits.parent {
            set(tag::PARENT, parent.clone());
        }
    }
    tags
}
