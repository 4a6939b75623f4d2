//! Keys of labels, annotations, and tags. [`KEYS`] is the table of those that users and clients see.

/// Name of the scheduler in pods that Headroom places. The name is not configurable.
pub const SCHEDULER: &str = "yunikorn";
/// Namespace of an application whose pod has none.
pub const DEFAULT_NAMESPACE: &str = "default";
/// User of an application without user information.
pub const DEFAULT_USER: &str = "nobody";
/// Partition of all submissions.
pub const PARTITION: &str = "default";
/// Marker that admission appends to an application ID before the UID of the pod is known.
pub const UNIQUE_MARKER: &str = "-uniqueautogen";

/// Application ID.
pub const APPLICATION: &str = "yunikorn.apache.org/app-id";
/// Application ID in the old form.
pub const APPLICATION_OLD: &str = "applicationId";
/// Application ID that Spark sets.
pub const APPLICATION_SPARK: &str = "spark-app-selector";
/// Queue name.
pub const QUEUE: &str = "yunikorn.apache.org/queue";
/// Queue name in the old form.
pub const QUEUE_OLD: &str = "queue";
/// User and groups.
pub const USER_INFO: &str = "yunikorn.apache.org/user.info";
/// Name of the task group of a pod.
pub const TASK_GROUP_NAME: &str = "yunikorn.apache.org/task-group-name";
/// Task groups of an application.
pub const TASK_GROUPS: &str = "yunikorn.apache.org/task-groups";
/// Placeholder timeout and gang style.
pub const POLICY_PARAMETERS: &str = "yunikorn.apache.org/schedulingPolicyParameters";
/// Marker of a placeholder pod.
pub const PLACEHOLDER: &str = "internal.yunikorn.apache.org/placeholder";
/// Whether the pod can be preempted.
pub const ALLOW_PREEMPTION: &str = "yunikorn.apache.org/allow-preemption";
/// Maximum of the queue of a namespace.
pub const NAMESPACE_QUOTA: &str = "yunikorn.apache.org/namespace.quota";
/// Guaranteed amounts of the queue of a namespace.
pub const NAMESPACE_GUARANTEED: &str = "yunikorn.apache.org/namespace.guaranteed";
/// Maximum number of running applications in the queue of a namespace.
pub const NAMESPACE_MAX_APPS: &str = "yunikorn.apache.org/namespace.maxApps";
/// Parent of the queue of a namespace.
pub const NAMESPACE_PARENT: &str = "yunikorn.apache.org/parentqueue";
/// CPU of the quota of a namespace in the old form.
pub const NAMESPACE_CPU_OLD: &str = "yunikorn.apache.org/namespace.max.cpu";
/// Memory of the quota of a namespace in the old form.
pub const NAMESPACE_MEMORY_OLD: &str = "yunikorn.apache.org/namespace.max.memory";

/// Tags of applications, asks, and foreign allocations.
pub mod tag {
    /// Namespace of an application.
    pub const NAMESPACE: &str = "namespace";
    /// Whether the core must accept the application, because a pod of it already runs.
    pub const FORCE: &str = "application.create.force";
    /// Names of image pull secrets, separated by commas.
    pub const PULL_SECRETS: &str = "imagePullSecrets";
    /// Creation time of an application in Unix seconds.
    pub const APPLICATION_CREATED: &str = "yunikorn.apache.org/creationTime";
    /// Quota of the namespace as JSON.
    pub const QUOTA: &str = "namespace.resourcequota";
    /// Guaranteed amounts of the namespace as JSON.
    pub const GUARANTEED: &str = "namespace.resourceguaranteed";
    /// Maximum number of running applications in the namespace.
    pub const MAX_APPS: &str = "namespace.resourcemaxapps";
    /// Parent queue of the namespace.
    pub const PARENT: &str = "namespace.parentqueue";
    /// Namespace of a pod.
    pub const POD_NAMESPACE: &str = "kubernetes.io/meta/namespace";
    /// Name of a pod.
    pub const POD_NAME: &str = "kubernetes.io/meta/podName";
    /// Prefix of the labels of a pod.
    pub const LABEL_PREFIX: &str = "kubernetes.io/label/";
    /// Creation time of a pod in Unix seconds.
    pub const CREATED: &str = "creationTime";
    /// Only node that can take the pod.
    pub const REQUIRED_NODE: &str = "yunikorn.apache.org/requiredNode";
    /// Kind of a foreign pod: `static` or `default`.
    pub const FOREIGN: &str = "foreign";
    /// Host name of a node.
    pub const HOST: &str = "si.io/hostname";
    /// Rack name of a node.
    pub const RACK: &str = "si.io/rackname";
}

/// Where a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Label of a pod.
    PodLabel,
    /// Annotation of a pod.
    PodAnnotation,
    /// Annotation of a namespace.
    NamespaceAnnotation,
    /// Annotation of a pod, or of the priority class that the pod names.
    PodOrClassAnnotation,
}

/// A key that Headroom reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Spelling of the key.
    pub name: &'static str,
    /// Where the key stands.
    pub place: Place,
    /// Meaning of the value, as Markdown.
    pub meaning: &'static str,
}

/// Keys of application IDs, the first non-empty value wins.
pub const APPLICATION_KEYS: [Key; 4] = [
    Key { name: APPLICATION, place: Place::PodLabel, meaning: "application ID" },
    Key { name: APPLICATION, place: Place::PodAnnotation, meaning: "application ID" },
    Key { name: APPLICATION_OLD, place: Place::PodLabel, meaning: "application ID, old form" },
    Key { name: APPLICATION_SPARK, place: Place::PodLabel, meaning: "application ID of Spark" },
];

/// Keys of queue names, the first non-empty value wins.
pub const QUEUE_KEYS: [Key; 3] = [
    Key { name: QUEUE, place: Place::PodLabel, meaning: "queue name" },
    Key { name: QUEUE, place: Place::PodAnnotation, meaning: "queue name" },
    Key { name: QUEUE_OLD, place: Place::PodLabel, meaning: "queue name, old form" },
];

/// Other keys that Headroom reads.
pub const OTHER_KEYS: [Key; 12] = [
    Key {
        name: USER_INFO,
        place: Place::PodAnnotation,
        meaning: r#"user and groups as JSON, such as `{"user":"ann","groups":["ml"]}`"#,
    },
    Key { name: TASK_GROUP_NAME, place: Place::PodAnnotation, meaning: "task group of the pod" },
    Key { name: TASK_GROUPS, place: Place::PodAnnotation, meaning: "task groups as JSON" },
    Key {
        name: POLICY_PARAMETERS,
        place: Place::PodAnnotation,
        meaning: "`placeholderTimeoutInSeconds` and `gangSchedulingStyle`, separated by spaces",
    },
    Key { name: PLACEHOLDER, place: Place::PodAnnotation, meaning: "marks a placeholder" },
    Key {
        name: ALLOW_PREEMPTION,
        place: Place::PodOrClassAnnotation,
        meaning: "whether the pod can be preempted: `true` or `false`",
    },
    Key {
        name: NAMESPACE_QUOTA,
        place: Place::NamespaceAnnotation,
        meaning: "maximum of the queue as JSON with quantities",
    },
    Key {
        name: NAMESPACE_GUARANTEED,
        place: Place::NamespaceAnnotation,
        meaning: "guaranteed amounts of the queue as JSON with quantities",
    },
    Key {
        name: NAMESPACE_MAX_APPS,
        place: Place::NamespaceAnnotation,
        meaning: "maximum number of running applications",
    },
    Key { name: NAMESPACE_PARENT, place: Place::NamespaceAnnotation, meaning: "parent queue" },
    Key {
        name: NAMESPACE_CPU_OLD,
        place: Place::NamespaceAnnotation,
        meaning: "maximum CPU, if the quota is absent",
    },
    Key {
        name: NAMESPACE_MEMORY_OLD,
        place: Place::NamespaceAnnotation,
        meaning: "maximum memory, if the quota is absent",
    },
];

/// Returns every key that Headroom reads from labels and annotations.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    APPLICATION_KEYS.iter().chain(&QUEUE_KEYS).chain(&OTHER_KEYS)
}
