//! Words and numbers of records. They are those of YuniKorn, because programs rely on them.

/// Kind of the object of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An ask.
    Request = 1,
    /// An application.
    Application = 2,
    /// A node.
    Node = 3,
    /// A queue.
    Queue = 4,
    /// A user or a group.
    UserGroup = 5,
}

/// Whether something was added, removed, or set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// None of these.
    None = 0,
    /// A value was set.
    Set = 1,
    /// An object was added.
    Add = 2,
    /// An object was removed.
    Remove = 3,
}

/// Detail of the change.
///
/// Some details exist in the protocol and are never recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detail {
    /// No detail.
    None = 0,
    /// An ask was withdrawn.
    RequestCancel = 100,
    /// Never recorded.
    RequestAlloc = 101,
    /// An ask was withdrawn because its gang was not complete in time.
    RequestTimeout = 102,
    /// An allocation was added.
    AppAlloc = 200,
    /// An ask was added.
    AppRequest = 201,
    /// The application was rejected.
    AppReject = 202,
    /// The application was submitted.
    AppNew = 203,
    /// The application is Accepted.
    AppAccepted = 204,
    /// The application is Running.
    AppRunning = 206,
    /// The application is Completing.
    AppCompleting = 207,
    /// The application is Completed.
    AppCompleted = 208,
    /// The application is Failing.
    AppFailing = 209,
    /// The application is Failed.
    AppFailed = 210,
    /// The application is Resuming.
    AppResuming = 211,
    /// The application ended long ago and was dropped.
    AppExpired = 212,
    /// A queue has reached its limit on running applications.
    AppCannotRunQueue = 213,
    /// No queue limit blocks the application any more.
    AppRunnableQueue = 214,
    /// A user or group has reached the limit on running applications.
    AppCannotRunQuota = 215,
    /// No user or group limit blocks the application any more.
    AppRunnableQuota = 216,
    /// The node was removed.
    NodeDecommission = 300,
    /// The node was drained, or became schedulable again.
    NodeSchedulable = 302,
    /// An allocation was added to the node, or removed from it.
    NodeAlloc = 303,
    /// The capacity of the node changed.
    NodeCapacity = 304,
    /// Never recorded.
    NodeOccupied = 305,
    /// A reservation of the node began or ended.
    NodeReservation = 306,
    /// Never recorded.
    QueueConfig = 400,
    /// A placement rule created the queue.
    QueueDynamic = 401,
    /// The queue became a leaf or a parent.
    QueueType = 402,
    /// The maximum of the queue changed.
    QueueMax = 403,
    /// The guarantee of the queue changed.
    QueueGuaranteed = 404,
    /// An application was added to the queue, or removed from it.
    QueueApp = 405,
    /// Never recorded.
    QueueAlloc = 406,
    /// Quota preemption began, because the queue exceeds its maximum.
    QueuePreemption = 407,
    /// The RM stopped the allocation.
    AllocCancel = 500,
    /// The allocation was preempted.
    AllocPreempt = 501,
    /// The allocation was a placeholder that timed out.
    AllocTimeout = 502,
    /// The allocation was a placeholder that a member replaced.
    AllocReplaced = 503,
    /// The node of the allocation was removed.
    AllocNodeRemoved = 504,
    /// The limit of a user.
    UserLimit = 600,
    /// The limit of a group.
    GroupLimit = 601,
    /// A group began or stopped to be charged for an application.
    AppLink = 602,
    /// The usage of a user.
    UserResource = 603,
    /// The usage of a group.
    GroupResource = 604,
}

impl Kind {
    /// Returns the number in the protocol.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// Returns the word in the protocol.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Application => "APP",
            Self::Node => "NODE",
            Self::Queue => "QUEUE",
            Self::UserGroup => "USERGROUP",
        }
    }
}

impl Change {
    /// Returns the number in the protocol.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// Returns the word in the protocol.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Set => "SET",
            Self::Add => "ADD",
            Self::Remove => "REMOVE",
        }
    }
}

impl Detail {
    /// All details by number.
    pub const ALL: [Self; 44] = [
        Self::None,
        Self::RequestCancel,
        Self::RequestAlloc,
        Self::RequestTimeout,
        Self::AppAlloc,
        Self::AppRequest,
        Self::AppReject,
        Self::AppNew,
        Self::AppAccepted,
        Self::AppRunning,
        Self::AppCompleting,
        Self::AppCompleted,
        Self::AppFailing,
        Self::AppFailed,
        Self::AppResuming,
        Self::AppExpired,
        Self::AppCannotRunQueue,
        Self::AppRunnableQueue,
        Self::AppCannotRunQuota,
        Self::AppRunnableQuota,
        Self::NodeDecommission,
        Self::NodeSchedulable,
        Self::NodeAlloc,
        Self::NodeCapacity,
        Self::NodeOccupied,
        Self::NodeReservation,
        Self::QueueConfig,
        Self::QueueDynamic,
        Self::QueueType,
        Self::QueueMax,
        Self::QueueGuaranteed,
        Self::QueueApp,
        Self::QueueAlloc,
        Self::QueuePreemption,
        Self::AllocCancel,
        Self::AllocPreempt,
        Self::AllocTimeout,
        Self::AllocReplaced,
        Self::AllocNodeRemoved,
        Self::UserLimit,
        Self::GroupLimit,
        Self::AppLink,
        Self::UserResource,
        Self::GroupResource,
    ];

    /// Returns the number in the protocol.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// Returns the word in the protocol.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "DETAILS_NONE",
            Self::RequestCancel => "REQUEST_CANCEL",
            Self::RequestAlloc => "REQUEST_ALLOC",
            Self::RequestTimeout => "REQUEST_TIMEOUT",
            Self::AppAlloc => "APP_ALLOC",
            Self::AppRequest => "APP_REQUEST",
            Self::AppReject => "APP_REJECT",
            Self::AppNew => "APP_NEW",
            Self::AppAccepted => "APP_ACCEPTED",
            Self::AppRunning => "APP_RUNNING",
            Self::AppCompleting => "APP_COMPLETING",
            Self::AppCompleted => "APP_COMPLETED",
            Self::AppFailing => "APP_FAILING",
            Self::AppFailed => "APP_FAILED",
            Self::AppResuming => "APP_RESUMING",
            Self::AppExpired => "APP_EXPIRED",
            Self::AppCannotRunQueue => "APP_CANNOTRUN_QUEUE",
            Self::AppRunnableQueue => "APP_RUNNABLE_QUEUE",
            Self::AppCannotRunQuota => "APP_CANNOTRUN_QUOTA",
            Self::AppRunnableQuota => "APP_RUNNABLE_QUOTA",
            Self::NodeDecommission => "NODE_DECOMISSION",
            Self::NodeSchedulable => "NODE_SCHEDULABLE",
            Self::NodeAlloc => "NODE_ALLOC",
            Self::NodeCapacity => "NODE_CAPACITY",
            Self::NodeOccupied => "NODE_OCCUPIED",
            Self::NodeReservation => "NODE_RESERVATION",
            Self::QueueConfig => "QUEUE_CONFIG",
            Self::QueueDynamic => "QUEUE_DYNAMIC",
            Self::QueueType => "QUEUE_TYPE",
            Self::QueueMax => "QUEUE_MAX",
            Self::QueueGuaranteed => "QUEUE_GUARANTEED",
            Self::QueueApp => "QUEUE_APP",
            Self::QueueAlloc => "QUEUE_ALLOC",
            Self::QueuePreemption => "QUEUE_PREEMPTION",
            Self::AllocCancel => "ALLOC_CANCEL",
            Self::AllocPreempt => "ALLOC_PREEMPT",
            Self::AllocTimeout => "ALLOC_TIMEOUT",
            Self::AllocReplaced => "ALLOC_REPLACED",
            Self::AllocNodeRemoved => "ALLOC_NODEREMOVED",
            Self::UserLimit => "UG_USER_LIMIT",
            Self::GroupLimit => "UG_GROUP_LIMIT",
            Self::AppLink => "UG_APP_LINK",
            Self::UserResource => "UG_USER_RESOURCE",
            Self::GroupResource => "UG_GROUP_RESOURCE",
        }
    }
}
