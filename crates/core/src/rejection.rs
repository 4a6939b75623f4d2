//! Rejections: the reasons why a command was refused.

mod code;
mod task;
mod tenant;

pub use code::RefusalCode;
pub use task::TaskRejection;
pub use tenant::TenantRejection;

use crate::name::Name;
use crate::placement::RuleError;
use crate::resource::{Amounts, Quantity, format_quantities};

/// Reason why a command was refused. A refused command changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The partition does not exist.
    #[error("partition {partition} does not exist. Use one of: {known}.")]
    UnknownPartition {
        /// Requested name.
        partition: Name,
        /// Names of the existing partitions, separated by commas.
        known: Name,
    },
    /// The queue file defines a partition twice.
    #[error(
        "the queue file defines partition {partition} twice (names ignore case). Rename or remove \
         one of the two partitions."
    )]
    DuplicatePartition {
        /// Name as configured.
        partition: Name,
    },
    /// The queue file defines a queue path twice.
    #[error(
        "the queue file defines queue {queue} twice (names ignore case). Rename or remove one of \
         the two queues."
    )]
    DuplicateQueue {
        /// Path of the queue.
        queue: Name,
    },
    /// An access list has too many words.
    #[error(
        "the access list of queue {queue} has {words} words, but it can have only a list of users and a list of groups. Separate the two lists with one space."
    )]
    AccessList {
        /// Path of the queue.
        queue: Name,
        /// Number of words between single spaces.
        words: usize,
    },
    /// A queue is set to run, but an ancestor is stopped.
    #[error(
        "queue {queue} sets `state: running`, but a queue above {queue} is stopped. Nothing was \
         changed. Start the queues above, or remove `state` from {queue}."
    )]
    RunsBelowStopped {
        /// Path of the queue.
        queue: Name,
    },
    /// The new `maximumallocation` of an existing leaf is lower than the current one.
    #[error(
        "queue {queue} accepts asks of up to {known} {resource}, but the new queue file sets \
         {given}. `maximumallocation` of an existing queue can only increase. Nothing was changed. \
         Set {known} or more.",
        known = format_quantities(resource, [*known, *given])[0],
        given = format_quantities(resource, [*known, *given])[1]
    )]
    MaximumAllocationLowered {
        /// Path of the queue.
        queue: Name,
        /// Resource type.
        resource: Name,
        /// Current limit.
        known: Quantity,
        /// Limit in the new queue file.
        given: Quantity,
    },
    /// An ask exceeds `maximumallocation` of its queue.
    #[error(
        "ask {key} needs {asked} {resource}, but queue {queue} accepts asks of up to {most} (`maximumallocation`). Split the ask, or use another queue.",
        asked = format_quantities(resource, [*asked, *most])[0],
        most = format_quantities(resource, [*asked, *most])[1]
    )]
    AboveMaximumAllocation {
        /// Allocation key of the ask.
        key: Name,
        /// Path of the queue.
        queue: Name,
        /// Resource type.
        resource: Name,
        /// Requested amount.
        asked: Quantity,
        /// Largest allowed amount.
        most: Quantity,
    },
    /// Placement rules cannot be built. The current rules remain.
    #[error("partition {partition}: {error}. Nothing was changed.")]
    PlacementRules {
        /// Name of the partition.
        partition: Name,
        /// Invalid rule and the error.
        error: RuleError,
    },
    /// A command about a tenant, or a command that a tenant prevents.
    #[error(transparent)]
    Tenant(#[from] TenantRejection),
    /// A command about a task.
    #[error(transparent)]
    Task(#[from] TaskRejection),
    /// A required name is empty.
    #[error("the {what} is empty. Send at least one character.")]
    EmptyName {
        /// Kind of the name.
        what: &'static str,
    },
    /// A name is too long.
    #[error("the {what} has {bytes} bytes, but at most {limit} are allowed. Shorten the {what}.")]
    LongName {
        /// Kind of the name.
        what: &'static str,
        /// Length in bytes.
        bytes: usize,
        /// Largest allowed length in bytes.
        limit: usize,
    },
    /// A list has too many entries.
    #[error(
        "the number of {what} is {count}, but at most {limit} are allowed. Send at most {limit}."
    )]
    TooMany {
        /// Kind of the entries.
        what: &'static str,
        /// The number of entries.
        count: usize,
        /// Largest allowed number.
        limit: usize,
    },
    /// The record of a command would be too large for the journal.
    #[error(
        "the request takes about {bytes} bytes in the journal, but one request can take at most \
         {limit}. Send fewer members, labels, tags, or blocked nodes at once."
    )]
    CommandTooLarge {
        /// Estimated size of the command and its events in bytes.
        bytes: usize,
        /// Largest allowed size in bytes.
        limit: usize,
    },
    /// An answer refers to a question that was never sent.
    #[error(
        "question {question} was never sent. The last question is {last} (0 means none). Answer only questions that were sent."
    )]
    UnknownQuestion {
        /// Number in the answer.
        question: u64,
        /// Number of the last question. 0 if none was sent.
        last: u64,
    },
    /// An answer has a verdict on a node that the question does not list.
    #[error(
        "question {question} about ask {key} does not list node {node}. Answer only for the nodes \
         that the question lists."
    )]
    NodeNotAsked {
        /// Node id.
        node: Name,
        /// Allocation key of the ask.
        key: Name,
        /// Number of the question.
        question: u64,
    },
    /// An answer requires the removal of more victims than the question lists.
    #[error(
        "question {question} about ask {key} lists {asked} victims on node {node}, but the answer requires {count}. Answer with 0 to {asked}."
    )]
    VictimsNotAsked {
        /// Node ID.
        node: Name,
        /// Allocation key of the ask.
        key: Name,
        /// Number of the question.
        question: u64,
        /// Number of victims in the question.
        asked: usize,
        /// Number of required removals in the answer.
        count: usize,
    },
    /// A node with this ID is already registered.
    #[error(
        "node {node} is already registered in partition {partition}. Remove the registered node \
         first."
    )]
    DuplicateNode {
        /// Node id.
        node: Name,
        /// Name of the partition.
        partition: Name,
    },
    /// The node is not registered.
    #[error(
        "node {node} is not registered in partition {partition}. Check the node ID, or register \
         the node."
    )]
    UnknownNode {
        /// Requested node ID.
        node: Name,
        /// Partition that was searched.
        partition: Name,
    },
    /// A node has a negative capacity.
    #[error(
        "node {node} has a capacity of {capacity}, but no amount can be negative. Send amounts of 0 or more."
    )]
    NodeSize {
        /// Node id.
        node: Name,
        /// Capacity in the request.
        capacity: Amounts,
    },
    /// The application does not exist or has ended.
    #[error(
        "application {application} does not exist in partition {partition}, or has ended. Check \
         the application ID, or submit the application."
    )]
    UnknownApplication {
        /// Requested application ID.
        application: Name,
        /// Partition that was searched.
        partition: Name,
    },
    /// An allocation key already belongs to another application.
    #[error(
        "allocation key {key} belongs to application {holder}, so application {claimant} cannot \
         use this key. Choose another key."
    )]
    DuplicateKey {
        /// Allocation key.
        key: Name,
        /// Application that uses the key.
        holder: Name,
        /// Application that requests the key.
        claimant: Name,
    },
    /// The application has no ask or allocation with this key.
    #[error(
        "application {application} has no ask or allocation with key {key}. Check the allocation \
         key."
    )]
    UnknownKey {
        /// Requested allocation key.
        key: Name,
        /// Application that was searched.
        application: Name,
    },
    /// The lifetime of the application is over.
    #[error(
        "the lifetime of application {application} is over, so ask {key} receives nothing. The \
         allocations of the application are being released. Submit a new application."
    )]
    LifetimeOver {
        /// Allocation key.
        key: Name,
        /// Application ID.
        application: Name,
    },
    /// An ask has no positive amount, or a negative one.
    #[error(
        "ask {key} of application {application} requests {resources}, but at least one amount must be positive and none negative. Correct the amounts."
    )]
    AskSize {
        /// Allocation key.
        key: Name,
        /// Application ID.
        application: Name,
        /// Amounts in the request.
        resources: Amounts,
    },
    /// A foreign allocation has a negative amount.
    #[error(
        "foreign allocation {key} uses {resources}, but no amount can be negative. Send amounts of 0 or more."
    )]
    ForeignSize {
        /// Key of the foreign allocation.
        key: Name,
        /// Amounts in the request.
        resources: Amounts,
    },
    /// The queue has no access to the requested node label.
    #[error(
        "ask {key} requests nodes with label {label}, but queue {queue} has no access to this \
         label. Add the label to `nodelabels.accessible` of the queue, or use another queue."
    )]
    NoPartitionAccess {
        /// Allocation key.
        key: Name,
        /// Path of the queue.
        queue: Name,
        /// Requested label.
        label: Name,
    },
    /// A labeled resource type is named. The plain type and the label must be specified instead.
    #[error(
        "{what} names {resource}, which counts {plain} on nodes with label {label}. Use {plain} \
         instead, and set the node label {label}."
    )]
    TypeOfLabel {
        /// Object that names the type.
        what: &'static str,
        /// Labeled resource type.
        resource: Name,
        /// Plain resource type.
        plain: Name,
        /// Node label.
        label: Name,
    },
    /// An ask blocks too many nodes.
    #[error(
        "ask {key} excludes {count} nodes, but at most {limit} are allowed. Exclude fewer nodes."
    )]
    ManyBlockedNodes {
        /// Allocation key.
        key: Name,
        /// Number of blocked nodes.
        count: usize,
        /// Largest allowed number.
        limit: usize,
    },
    /// A placeholder has no task group.
    #[error(
        "placeholder {key} of application {application} has no task group. Set its task group."
    )]
    NoTaskGroup {
        /// Allocation key.
        key: Name,
        /// Application ID.
        application: Name,
    },
    /// A sum would not fit into 64 bits.
    #[error(
        "{what}: the total of {resource} would exceed {max}. The current total is {held}, and the \
         request adds {added}. Request less {resource}.",
        max = Quantity::MAX
    )]
    SumTooLarge {
        /// Object whose amounts are added up.
        what: &'static str,
        /// Resource type.
        resource: Name,
        /// Current sum.
        held: Quantity,
        /// Amount to add.
        added: Quantity,
    },
    /// A request adds too many resource types at once.
    #[error(
        "{what} names {added} new resource types, but one request can add at most {limit}. Use types that nodes or the queue file already have."
    )]
    ManyNewTypes {
        /// Object that names the types.
        what: &'static str,
        /// Number of new types.
        added: usize,
        /// Largest allowed number per request.
        limit: usize,
    },
    /// A request would exceed the number of resource types that its kind allows.
    #[error(
        "{what} names {added} new resource types, but {known} of at most {limit} are already in use. Use types that nodes or the queue file already have."
    )]
    TooManyTypes {
        /// Object that names the types.
        what: &'static str,
        /// Number of new types.
        added: usize,
        /// Number of known types.
        known: usize,
        /// Largest allowed number of known types.
        limit: usize,
    },
}

impl Rejection {
    /// Returns a short, stable code for programs and logs.
    pub const fn code(&self) -> RefusalCode {
        match self {
            Self::UnknownPartition { .. } => RefusalCode::UnknownPartition,
            Self::DuplicatePartition { .. } => RefusalCode::DuplicatePartition,
            Self::DuplicateQueue { .. } => RefusalCode::DuplicateQueue,
            Self::AccessList { .. } => RefusalCode::AccessList,
            Self::RunsBelowStopped { .. } => RefusalCode::RunsBelowStopped,
            Self::MaximumAllocationLowered { .. } => RefusalCode::MaximumAllocationLowered,
            Self::AboveMaximumAllocation { .. } => RefusalCode::AboveMaximumAllocation,
            Self::PlacementRules { error, .. } => error.code(),
            Self::Tenant(rejection) => rejection.code(),
            Self::Task(rejection) => rejection.code(),
            Self::LongName { .. } => RefusalCode::LongName,
            Self::TooMany { .. } => RefusalCode::TooMany,
            Self::CommandTooLarge { .. } => RefusalCode::CommandTooLarge,
            Self::EmptyName { .. } => RefusalCode::EmptyName,
            Self::DuplicateNode { .. } => RefusalCode::DuplicateNode,
            Self::UnknownNode { .. } => RefusalCode::UnknownNode,
            Self::NodeSize { .. } => RefusalCode::NodeSize,
            Self::UnknownApplication { .. } => RefusalCode::UnknownApplication,
            Self::DuplicateKey { .. } => RefusalCode::DuplicateKey,
            Self::UnknownKey { .. } => RefusalCode::UnknownKey,
            Self::LifetimeOver { .. } => RefusalCode::LifetimeOver,
            Self::NoPartitionAccess { .. } => RefusalCode::NoPartitionAccess,
            Self::TypeOfLabel { .. } => RefusalCode::TypeOfLabel,
            Self::ManyBlockedNodes { .. } => RefusalCode::ManyBlockedNodes,
            Self::AskSize { .. } => RefusalCode::AskSize,
            Self::ForeignSize { .. } => RefusalCode::ForeignSize,
            Self::NoTaskGroup { .. } => RefusalCode::NoTaskGroup,
            Self::SumTooLarge { .. } => RefusalCode::SumTooLarge,
            Self::UnknownQuestion { .. } => RefusalCode::UnknownQuestion,
            Self::NodeNotAsked { .. } => RefusalCode::NodeNotAsked,
            Self::VictimsNotAsked { .. } => RefusalCode::VictimsNotAsked,
            Self::ManyNewTypes { .. } | Self::TooManyTypes { .. } => RefusalCode::TooManyTypes,
        }
    }
}
