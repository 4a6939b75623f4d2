//! Refusals: why a command was not carried out.

mod code;
mod task;
mod tenant;

pub use code::RefusalCode;
pub use task::TaskRejection;
pub use tenant::TenantRejection;

use crate::name::Name;
use crate::placement::RuleError;
use crate::resource::{Amounts, Quantity, figures};

/// Why a command was refused. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// No such partition.
    #[error("partition {partition} does not exist; configured are: {known}")]
    UnknownPartition {
        /// As asked for.
        partition: Name,
        /// Those that exist, separated by commas.
        known: Name,
    },
    /// A partition of this name is there already.
    #[error(
        "partition {partition} is configured twice; a file names each partition once, whatever the case"
    )]
    DuplicatePartition {
        /// As configured.
        partition: Name,
    },
    /// Two queues of one path.
    #[error("queue {queue} is configured twice; names of queues differ in lower case")]
    DuplicateQueue {
        /// Its path.
        queue: Name,
    },
    /// An access list that cannot be read.
    #[error(
        "the access list of queue {queue} has {words} words; it takes users and groups, two at most, with one blank between them"
    )]
    AccessList {
        /// Path of the queue.
        queue: Name,
        /// Parts between single blanks.
        words: usize,
    },
    /// A queue that is to run below one that is stopped.
    #[error(
        "queue {queue} says `state: running`, and a queue above it is stopped; a queue runs only where all above it do, so start those, or leave the key out. The file changes nothing"
    )]
    RunsBelowStopped {
        /// Its path.
        queue: Name,
    },
    /// A lower bound of asks than that of a leaf that is there.
    #[error(
        "queue {queue} takes asks of up to {known} {resource}, and {given} in the new file; `maximumallocation` can be raised only while the queue is there, so write {known} or more. The file changes nothing",
        known = figures(resource, [*known, *given])[0],
        given = figures(resource, [*known, *given])[1]
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
        "ask {key} needs {asked} {resource}, and queue {queue} takes asks of up to {most} (`maximumallocation`); ask for less in more pieces, or use another queue",
        asked = figures(resource, [*asked, *most])[0],
        most = figures(resource, [*asked, *most])[1]
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
    #[error("partition {partition}: {error}; the file changes nothing")]
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
    #[error("the {what} is empty; it must have at least one character")]
    EmptyName {
        /// Which name.
        what: &'static str,
    },
    /// A name that is longer than any real one.
    #[error("the {what} has {bytes} bytes; no more than {limit} can be")]
    LongName {
        /// Which name.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The most.
        limit: usize,
    },
    /// A list with more entries than it may have.
    #[error("the {what} are {count}; no more than {limit} can be")]
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
        "the request takes about {bytes} bytes in the journal, more than the {limit} that one request may take; send less at once: fewer members, labels, tags, or blocked nodes"
    )]
    CommandTooLarge {
        /// The size of the command and its events.
        bytes: usize,
        /// The most.
        limit: usize,
    },
    /// An answer to a question that was never put.
    #[error("question {question} was never put; the last one is {last}, 0 if there was none")]
    UnknownQuestion {
        /// As answered.
        question: u64,
        /// The number of the last question.
        last: u64,
    },
    /// An answer about a node that was not asked about.
    #[error(
        "question {question} about {key} does not name node {node}; answer for the nodes that it names"
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
        "question {question} about {key} names {asked} that might go on node {node}, the answer {count}; answer with a number up to that"
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
    #[error("node {node} is registered already in partition {partition}; remove it first")]
    DuplicateNode {
        /// Node id.
        node: Name,
        /// Its partition.
        partition: Name,
    },
    /// No such node.
    #[error("node {node} is not registered in partition {partition}")]
    UnknownNode {
        /// As asked for.
        node: Name,
        /// Where it was looked for.
        partition: Name,
    },
    /// A node must not offer less than nothing.
    #[error("node {node} has size {capacity}; no amount may be below zero")]
    NodeSize {
        /// Node id.
        node: Name,
        /// As given.
        capacity: Amounts,
    },
    /// No such application.
    #[error("application {application} does not exist in partition {partition}, or has ended")]
    UnknownApplication {
        /// As asked for.
        application: Name,
        /// Where it was looked for.
        partition: Name,
    },
    /// An allocation key belongs to one ask of one application.
    #[error("allocation key {key} is held by application {holder}, {claimant} wants it too")]
    DuplicateKey {
        /// Allocation key.
        key: Name,
        /// Who has it.
        holder: Name,
        /// Who wants it.
        claimant: Name,
    },
    /// No such ask or allocation.
    #[error("application {application} has no ask and no allocation with key {key}")]
    UnknownKey {
        /// As asked for.
        key: Name,
        /// Where it was looked for.
        application: Name,
    },
    /// An application asks for something though its time is over.
    #[error(
        "the lifetime of application {application} is over, so it gets nothing for {key}; what it has is given back, and it ends with the last of that"
    )]
    LifetimeOver {
        /// Allocation key.
        key: Name,
        /// Whose.
        application: Name,
    },
    /// An ask must want something.
    #[error(
        "ask {key} of application {application} wants {resources}; at least one amount must be above zero and none below"
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
    #[error("{key} on a node takes {resources}; no amount may be below zero")]
    ForeignSize {
        /// Its key.
        key: Name,
        /// As given.
        resources: Amounts,
    },
    /// The queue has no access to the nodes that are wished for.
    #[error(
        "ask {key} wants nodes of label {label}, to which queue {queue} has no access; name the label in `nodelabels.accessible` of the queue, or use another queue"
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
        "{what} names {resource}, which is how {plain} on nodes of label {label} is counted; name {plain}, and the label {label} beside it"
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
    #[error("ask {key} leaves out {count} nodes; no more than {limit} can be")]
    ManyBlockedNodes {
        /// Allocation key.
        key: Name,
        /// How many.
        count: usize,
        /// The most.
        limit: usize,
    },
    /// A placeholder holds room for a task group.
    #[error("placeholder {key} of application {application} names no task group; it must name one")]
    NoTaskGroup {
        /// Allocation key.
        key: Name,
        /// Whose.
        application: Name,
    },
    /// The sum would not fit into 64 bits.
    #[error(
        "{what}: {resource} would sum up to more than {max}: {held} are counted already and {added} would be added",
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
        "{what} names {added} resource types that are new, and no more than {limit} may be; types of nodes and of the queue file are not new"
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
        "{what} names {added} resource types that are new, {known} are known already, and no more than {limit} may be then; types of nodes and of the queue file are not new"
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
