//! Refusals: why a command was not carried out.

mod code;
mod task;
mod tenant;

pub use code::RefusalCode;
pub use task::TaskRejection;
pub use tenant::TenantRejection;

use crate::name::Name;
use crate::placement::RuleError;
use crate::resource::{Amounts, Quantity, format_quantities};

/// Why a command was refused. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// No such partition.
    #[error("partition {partition} does not exist. Use one of: {known}.")]
    UnknownPartition {
        /// As asked for.
        partition: Name,
        /// Those that exist, separated by commas.
        known: Name,
    },
    /// A partition of this name is there already.
    #[error(
        "the queue file defines partition {partition} twice (names ignore case). Rename or remove \
         one of the two partitions."
    )]
    DuplicatePartition {
        /// As configured.
        partition: Name,
    },
    /// Two queues of one path.
    #[error(
        "the queue file defines queue {queue} twice (names ignore case). Rename or remove one of \
         the two queues."
    )]
    DuplicateQueue {
        /// Its path.
        queue: Name,
    },
    /// An access list that cannot be read.
    #[error(
        "the access list of queue {queue} has {words} words, but it can have only a list of users and a list of groups. Separate the two lists with one space."
    )]
    AccessList {
        /// Path of the queue.
        queue: Name,
        /// Parts between single blanks.
        words: usize,
    },
    /// A queue that is to run below one that is stopped.
    #[error(
        "queue {queue} sets `state: running`, but a queue above {queue} is stopped. Nothing was \
         changed. Start the queues above, or remove `state` from {queue}."
    )]
    RunsBelowStopped {
        /// Its path.
        queue: Name,
    },
    /// A lower bound of asks than that of a leaf that is there.
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
        /// In force.
        known: Quantity,
        /// In the file.
        given: Quantity,
    },
    /// An ask that is larger than its queue takes.
    #[error(
        "ask {key} needs {asked} {resource}, but queue {queue} accepts asks of up to {most} (`maximumallocation`). Split the ask, or use another queue.",
        asked = format_quantities(resource, [*asked, *most])[0],
        most = format_quantities(resource, [*asked, *most])[1]
    )]
    AboveMaximumAllocation {
        /// Its key.
        key: Name,
        /// Path of the queue.
        queue: Name,
        /// Resource type.
        resource: Name,
        /// What it needs.
        asked: Quantity,
        /// What the queue takes.
        most: Quantity,
    },
    /// Placement rules that cannot be built; those in force stay.
    #[error("partition {partition}: {error}. Nothing was changed.")]
    PlacementRules {
        /// The partition that has them.
        partition: Name,
        /// What is wrong with which rule.
        error: RuleError,
    },
    /// A command about a tenant, or one that a tenant is in the way of.
    #[error(transparent)]
    Tenant(#[from] TenantRejection),
    /// A command about a task.
    #[error(transparent)]
    Task(#[from] TaskRejection),
    /// A name that must not be empty.
    #[error("the {what} is empty. Send at least one character.")]
    EmptyName {
        /// Which name.
        what: &'static str,
    },
    /// A name that is longer than any real one.
    #[error("the {what} has {bytes} bytes, but at most {limit} are allowed. Shorten the {what}.")]
    LongName {
        /// Which name.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The most.
        limit: usize,
    },
    /// A list with more entries than it may have.
    #[error(
        "the number of {what} is {count}, but at most {limit} are allowed. Send at most {limit}."
    )]
    TooMany {
        /// What is listed.
        what: &'static str,
        /// The number of entries.
        count: usize,
        /// The most.
        limit: usize,
    },
    /// A command whose record would be too large for the journal.
    #[error(
        "the request takes about {bytes} bytes in the journal, but one request can take at most \
         {limit}. Send fewer members, labels, tags, or blocked nodes at once."
    )]
    CommandTooLarge {
        /// The size of the command and its events.
        bytes: usize,
        /// The most.
        limit: usize,
    },
    /// An answer to a question that was never put.
    #[error(
        "question {question} was never sent. The last question is {last} (0 means none). Answer only questions that were sent."
    )]
    UnknownQuestion {
        /// As answered.
        question: u64,
        /// The number of the last question.
        last: u64,
    },
    /// An answer about a node that was not asked about.
    #[error(
        "question {question} about ask {key} does not list node {node}. Answer only for the nodes \
         that the question lists."
    )]
    NodeNotAsked {
        /// Node id.
        node: Name,
        /// Allocation key of the ask.
        key: Name,
        /// The number of the question.
        question: u64,
    },
    /// An answer that more must go than was asked about, or that any must where nobody would.
    #[error(
        "question {question} about ask {key} lists {asked} victims on node {node}, but the answer requires {count}. Answer with 0 to {asked}."
    )]
    VictimsNotAsked {
        /// Node id.
        node: Name,
        /// Allocation key of the ask.
        key: Name,
        /// The number of the question.
        question: u64,
        /// How many were named.
        asked: usize,
        /// How many must go, as answered.
        count: usize,
    },
    /// A node of this id is there already.
    #[error(
        "node {node} is already registered in partition {partition}. Remove the registered node \
         first."
    )]
    DuplicateNode {
        /// Node id.
        node: Name,
        /// Its partition.
        partition: Name,
    },
    /// No such node.
    #[error(
        "node {node} is not registered in partition {partition}. Check the node ID, or register \
         the node."
    )]
    UnknownNode {
        /// As asked for.
        node: Name,
        /// Where it was looked for.
        partition: Name,
    },
    /// A node must not offer less than nothing.
    #[error(
        "node {node} has a capacity of {capacity}, but no amount can be negative. Send amounts of 0 or more."
    )]
    NodeSize {
        /// Node id.
        node: Name,
        /// As given.
        capacity: Amounts,
    },
    /// No such application.
    #[error(
        "application {application} does not exist in partition {partition}, or has ended. Check \
         the application ID, or submit the application."
    )]
    UnknownApplication {
        /// As asked for.
        application: Name,
        /// Where it was looked for.
        partition: Name,
    },
    /// An allocation key belongs to one ask of one application.
    #[error(
        "allocation key {key} belongs to application {holder}, so application {claimant} cannot \
         use this key. Choose another key."
    )]
    DuplicateKey {
        /// Allocation key.
        key: Name,
        /// Who has it.
        holder: Name,
        /// Who wants it.
        claimant: Name,
    },
    /// No such ask or allocation.
    #[error(
        "application {application} has no ask or allocation with key {key}. Check the allocation \
         key."
    )]
    UnknownKey {
        /// As asked for.
        key: Name,
        /// Where it was looked for.
        application: Name,
    },
    /// An application asks for something though its time is over.
    #[error(
        "the lifetime of application {application} is over, so ask {key} receives nothing. The \
         allocations of the application are being released. Submit a new application."
    )]
    LifetimeOver {
        /// Allocation key.
        key: Name,
        /// Whose.
        application: Name,
    },
    /// An ask must want something.
    #[error(
        "ask {key} of application {application} requests {resources}, but at least one amount must be positive and none negative. Correct the amounts."
    )]
    AskSize {
        /// Allocation key.
        key: Name,
        /// Whose.
        application: Name,
        /// As given.
        resources: Amounts,
    },
    /// What runs on a node must not take less than nothing of it.
    #[error(
        "foreign allocation {key} uses {resources}, but no amount can be negative. Send amounts of 0 or more."
    )]
    ForeignSize {
        /// Its key.
        key: Name,
        /// As given.
        resources: Amounts,
    },
    /// The queue has no access to the nodes that are wished for.
    #[error(
        "ask {key} requests nodes with label {label}, but queue {queue} has no access to this \
         label. Add the label to `nodelabels.accessible` of the queue, or use another queue."
    )]
    NoPartitionAccess {
        /// Allocation key.
        key: Name,
        /// Path of the queue.
        queue: Name,
        /// As asked for.
        label: Name,
    },
    /// A type of a label, where the plain type and the label are to be named.
    #[error(
        "{what} names {resource}, which counts {plain} on nodes with label {label}. Use {plain} \
         instead, and set the node label {label}."
    )]
    TypeOfLabel {
        /// What names it.
        what: &'static str,
        /// The type of the label.
        resource: Name,
        /// The plain type.
        plain: Name,
        /// The label.
        label: Name,
    },
    /// More nodes are left out than may be.
    #[error(
        "ask {key} excludes {count} nodes, but at most {limit} are allowed. Exclude fewer nodes."
    )]
    ManyBlockedNodes {
        /// Allocation key.
        key: Name,
        /// How many.
        count: usize,
        /// The most.
        limit: usize,
    },
    /// A placeholder holds room for a task group.
    #[error(
        "placeholder {key} of application {application} has no task group. Set its task group."
    )]
    NoTaskGroup {
        /// Allocation key.
        key: Name,
        /// Whose.
        application: Name,
    },
    /// The sum would not fit into 64 bits.
    #[error(
        "{what}: the total of {resource} would exceed {max}. The current total is {held}, and the \
         request adds {added}. Request less {resource}.",
        max = Quantity::MAX
    )]
    SumTooLarge {
        /// What is summed up.
        what: &'static str,
        /// Resource type.
        resource: Name,
        /// Counted already.
        held: Quantity,
        /// To be added.
        added: Quantity,
    },
    /// More new resource types than one request may bring.
    #[error(
        "{what} names {added} new resource types, but one request can add at most {limit}. Use types that nodes or the queue file already have."
    )]
    ManyNewTypes {
        /// What names them.
        what: &'static str,
        /// New ones.
        added: usize,
        /// The most.
        limit: usize,
    },
    /// More resource types than may be known after a request of its kind.
    #[error(
        "{what} names {added} new resource types, but {known} of at most {limit} are already in use. Use types that nodes or the queue file already have."
    )]
    TooManyTypes {
        /// What names them.
        what: &'static str,
        /// New ones.
        added: usize,
        /// Known ones.
        known: usize,
        /// The most.
        limit: usize,
    },
}

impl Rejection {
    /// A short code that does not change, for programs and logs.
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
