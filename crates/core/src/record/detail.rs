//! The words and numbers of records: those of the reference, which programs know.

/// What kind of object a record is about.
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

/// Whether something came, went, or was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// Neither.
    None = 0,
    /// It has another value.
    Set = 1,
    /// It came.
    Add = 2,
    /// It went.
    Remove = 3,
}

/// What of an object a record is about.
///
/// Some are defined by the protocol and never recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detail {
    /// Nothing more to say.
    None = 0,
    /// An ask was withdrawn.
    RequestCancel = 100,
    /// Never recorded.
    RequestAlloc = 101,
    /// An ask was given up, because its gang was not complete in time.
    RequestTimeout = 102,
    /// An allocation came.
    AppAlloc = 200,
    /// An ask came.
    AppRequest = 201,
    /// It was refused.
    AppReject = 202,
    /// It was submitted.
    AppNew = 203,
    /// It is Accepted.
    AppAccepted = 204,
    /// It is Running.
    AppRunning = 206,
    /// It is Completing.
    AppCompleting = 207,
    /// It is Completed.
    AppCompleted = 208,
    /// It is Failing.
    AppFailing = 209,
    /// It is Failed.
    AppFailed = 210,
    /// It is Resuming.
    AppResuming = 211,
    /// It ended long ago and is forgotten.
    AppExpired = 212,
    /// A queue runs as many applications as it may.
    AppCannotRunQueue = 213,
    /// No queue holds it back any more.
    AppRunnableQueue = 214,
    /// A user or group runs as many applications as it may.
    AppCannotRunQuota = 215,
    /// No user or group holds it back any more.
    AppRunnableQuota = 216,
    /// It left.
    NodeDecommission = 300,
    /// It was drained, or taken into use.
    NodeSchedulable = 302,
    /// Something runs on it, or does no more.
    NodeAlloc = 303,
    /// It has another size.
    NodeCapacity = 304,
    /// Never recorded.
    NodeOccupied = 305,
    /// It is reserved for an ask, or no longer is.
    NodeReservation = 306,
    /// Never recorded.
    QueueConfig = 400,
    /// A placement rule made it.
    QueueDynamic = 401,
    /// It became a leaf, or a parent.
    QueueType = 402,
    /// It has another maximum.
    QueueMax = 403,
    /// It has another guarantee.
    QueueGuaranteed = 404,
    /// An application came, or went.
    QueueApp = 405,
    /// Never recorded.
    QueueAlloc = 406,
    /// Room was asked back, because it uses more than its maximum.
    QueuePreemption = 407,
    /// The RM stopped it.
    AllocCancel = 500,
    /// It was stopped for the sake of others.
    AllocPreempt = 501,
    /// It was a placeholder that was given up.
    AllocTimeout = 502,
    /// It was a placeholder whose place was taken.
    AllocReplaced = 503,
    /// Its node left.
    AllocNodeRemoved = 504,
    /// The limit of a user.
    UserLimit = 600,
    /// The limit of a group.
    GroupLimit = 601,
    /// An application is charged to a group, or is no more.
    AppLink = 602,
    /// The use of a user.
    UserResource = 603,
    /// The use of a group.
    GroupResource = 604,
}

impl Kind {
    /// The number on the wire.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The word on the wire.
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
    /// The number on the wire.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The word on the wire.
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
    /// All, by number.
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

    /// The number on the wire.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The word on the wire.
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
