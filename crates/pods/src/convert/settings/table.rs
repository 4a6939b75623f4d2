//! The settings in the config maps. [`SETTINGS`] is the table that parsing, documentation, and checks read.

/// Type of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Any text.
    Text,
    /// Duration such as `1h30m`.
    Duration,
    /// Decimal integer of 64 bits.
    Integer,
    /// Truth value such as `true`.
    Bool,
    /// Level such as `INFO`, or a number from -1 to 5.
    Level,
    /// Regular expressions, separated by commas.
    Patterns,
}

/// When a change of a setting takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reload {
    /// With the change of the config map.
    Immediate,
    /// After a restart. Until then, a change is ignored with a warning.
    Restart,
}

/// Who reads a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The part of the scheduler that talks to Kubernetes. An unreadable value refuses the whole update.
    Scheduler,
    /// The core, which has its own rules for unreadable values.
    Core,
    /// The admission controller. An unreadable value becomes the default.
    Admission,
    /// Nobody. The setting is obsolete.
    Nobody,
}

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Key in the config map.
    pub key: &'static str,
    /// Type of the value.
    pub kind: ValueKind,
    /// Value of an absent key.
    pub default: &'static str,
    /// When a change takes effect.
    pub reload: Reload,
    /// Who reads the setting.
    pub reader: Reader,
    /// Meaning of the value, a sentence.
    pub meaning: &'static str,
}

/// Defines settings as constants and the table of all of them. The documentation is also the meaning.
macro_rules! settings {
    ($($(#[doc = $meaning:literal])* $name:ident = $key:literal, $kind:ident, $default:expr, $reload:ident, $reader:ident;)*) => {
        $(
            $(#[doc = $meaning])*
            pub const $name: Setting = Setting {
                key: $key,
                kind: ValueKind::$kind,
                default: $default,
                reload: Reload::$reload,
                reader: Reader::$reader,
                meaning: concat!($($meaning),*).trim_ascii(),
            };
        )*

        /// All settings.
        pub const SETTINGS: &[Setting] = &[$($name,)*];
    };
}

settings! {
    /// Name of the cluster.
    CLUSTER = "service.clusterId", Text, "mycluster", Restart, Scheduler;
    /// Name of the queue file without `.yaml`.
    POLICY_GROUP = "service.policyGroup", Text, "queues", Restart, Scheduler;
    /// Interval at which waiting applications are checked. The value has no effect.
    INTERVAL = "service.schedulingInterval", Duration, "1s", Restart, Scheduler;
    /// Time within which the volumes of a pod must be bound.
    VOLUME_TIMEOUT = "service.volumeBindTimeout", Duration, "10m", Restart, Scheduler;
    /// Capacity of the internal message queue. The value has no effect.
    EVENT_CAPACITY = "service.eventChannelCapacity", Integer, "1048576", Restart, Scheduler;
    /// Time within which an internal message must be delivered. The value has no effect.
    DISPATCH_TIMEOUT = "service.dispatchTimeout", Duration, "5m", Restart, Scheduler;
    /// Whether task groups are ignored.
    DISABLE_GANGS = "service.disableGangScheduling", Bool, "false", Restart, Scheduler;
    /// Whether changes of the config maps take effect without a restart.
    HOT_REFRESH = "service.enableConfigHotRefresh", Bool, "true", Immediate, Scheduler;
    /// Image of placeholder pods.
    PLACEHOLDER_IMAGE =
        "service.placeholderImage", Text, "registry.k8s.io/pause:3.7", Restart, Scheduler;
    /// User of placeholder pods. Zero means that none is set.
    PLACEHOLDER_USER = "service.placeholderRunAsUser", Integer, "0", Restart, Scheduler;
    /// Group of placeholder pods. Zero means that none is set.
    PLACEHOLDER_GROUP = "service.placeholderRunAsGroup", Integer, "0", Restart, Scheduler;
    /// Group of the volumes of placeholder pods. Zero means that none is set.
    PLACEHOLDER_FS_GROUP = "service.placeholderFsGroup", Integer, "0", Restart, Scheduler;
    /// Node label with the instance type. The value has no effect.
    INSTANCE_TYPE_LABEL =
        "service.nodeInstanceTypeNodeLabelKey", Text, "node.kubernetes.io/instance-type", Restart, Scheduler;
    /// Other spelling of `service.nodeInstanceTypeNodeLabelKey`.
    INSTANCE_TYPE_LABEL_ALIAS = "service.instanceTypeNodeLabelKey", Text, "", Restart, Scheduler;
    /// Whether tolerations can compare numbers with `Gt` and `Lt`.
    COMPARES_TAINTS = "service.tolerationComparisonOperators", Bool, "false", Restart, Scheduler;
    /// Obsolete.
    OPERATOR_PLUGINS = "service.operatorPlugins", Text, "", Restart, Nobody;
    /// Writes to the API server per second.
    QPS = "kubernetes.qps", Integer, "1000", Restart, Scheduler;
    /// Writes to the API server at once.
    BURST = "kubernetes.burst", Integer, "1000", Restart, Scheduler;
    /// Interval of health checks. Zero or less disables them.
    HEALTH_INTERVAL = "health.checkInterval", Duration, "30s", Immediate, Core;
    /// Whether the core keeps events.
    EVENT_TRACKING = "event.trackingEnabled", Bool, "true", Immediate, Core;
    /// Number of events that wait to be published.
    EVENT_REQUESTS = "event.requestCapacity", Integer, "1000", Immediate, Core;
    /// Number of events that the core keeps.
    EVENT_RING = "event.ringBufferCapacity", Integer, "100000", Immediate, Core;
    /// Other spelling of `event.ringBufferCapacity`.
    EVENT_RING_ALIAS = "event.ringbufferCapacity", Integer, "100000", Immediate, Core;
    /// Number of event streams.
    EVENT_STREAMS = "event.maxStreams", Integer, "100", Immediate, Core;
    /// Number of event streams of one host.
    EVENT_STREAMS_PER_HOST = "event.maxStreamsPerHost", Integer, "15", Immediate, Core;
    /// Number of events in a response.
    EVENT_RESPONSE = "event.RESTResponseSize", Integer, "10000", Immediate, Core;
    /// Log level. `log.<subsystem>.level` sets the level of a subsystem.
    LOG_LEVEL = "log.level", Level, "INFO", Immediate, Core;
    /// Name of the admission service.
    ADMISSION_SERVICE =
        "admissionController.webHook.amServiceName",
        Text,
        "yunikorn-admission-controller-service",
        Restart,
        Admission;
    /// Address of the scheduler for the admission controller.
    SCHEDULER_ADDRESS =
        "admissionController.webHook.schedulerServiceAddress",
        Text,
        "yunikorn-service:9080",
        Immediate,
        Admission;
    /// Namespaces whose pods Headroom places. Empty means all.
    PROCESS_NAMESPACES =
        "admissionController.filtering.processNamespaces", Patterns, "", Immediate, Admission;
    /// Namespaces whose pods Headroom does not place.
    BYPASS_NAMESPACES =
        "admissionController.filtering.bypassNamespaces",
        Patterns,
        "^kube-system$",
        Immediate,
        Admission;
    /// Namespaces whose pods get application IDs. Empty means all.
    LABEL_NAMESPACES =
        "admissionController.filtering.labelNamespaces", Patterns, "", Immediate, Admission;
    /// Namespaces whose pods get no application IDs.
    NO_LABEL_NAMESPACES =
        "admissionController.filtering.noLabelNamespaces", Patterns, "", Immediate, Admission;
    /// Whether each pod without an application ID gets an application of its own. Admission reloads the setting.
    UNIQUE_IDS =
        "admissionController.filtering.generateUniqueAppId", Bool, "false", Restart, Scheduler;
    /// Whether user information is not checked.
    BYPASS_AUTH = "admissionController.accessControl.bypassAuth", Bool, "false", Immediate, Admission;
    /// Whether controllers can set user information.
    TRUST_CONTROLLERS =
        "admissionController.accessControl.trustControllers", Bool, "true", Immediate, Admission;
    /// Users that are controllers.
    SYSTEM_USERS =
        "admissionController.accessControl.systemUsers",
        Patterns,
        "^system:serviceaccount:kube-system:",
        Immediate,
        Admission;
    /// Users that can set user information.
    EXTERNAL_USERS =
        "admissionController.accessControl.externalUsers", Patterns, "", Immediate, Admission;
    /// Groups that can set user information.
    EXTERNAL_GROUPS =
        "admissionController.accessControl.externalGroups", Patterns, "", Immediate, Admission;
}
