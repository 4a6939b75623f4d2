//! Subject of a wait reason: the queue, user, node, or manager that sets the bound.

use alloc::format;
use alloc::string::{String, ToString};

use crate::books::Books;
use crate::books::tracker::TrackerKind;
use crate::id::{AllocationId, ApplicationId, LevelId, NodeId, PartitionId, QueueId};
use crate::name::Name;

use super::{Blocker, WaitCode, standstill};

/// Subject that sets the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// This queue. A root queue represents the cluster.
    Queue(QueueId),
    /// A user or group at this tracker level.
    Level(PartitionId, LevelId),
    /// This node.
    Node(NodeId),
    /// Every node of this partition.
    AnyNode(PartitionId),
    /// The node that the ask requires, which is not registered.
    RequiredNode(PartitionId),
    /// This partition.
    Partition(PartitionId),
    /// The answers of the resource manager about this ask.
    Answer(AllocationId),
    /// A resource manager that has questions to answer, or whose nodes have not all reported.
    Manager(PartitionId),
    /// A disconnected resource manager.
    AbsentManager(PartitionId),
    /// This application.
    Application(ApplicationId),
    /// The gang of another application. The application can have ended since.
    Gang(ApplicationId),
}

/// A user or group at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtQueue<'a> {
    /// Whether it is a user or a group.
    pub kind: TrackerKind,
    /// The name of the user or group.
    pub name: &'a Name,
    /// The queue.
    pub queue: QueueId,
}

impl About {
    /// Returns the queue if the subject is a queue.
    pub const fn queue(self) -> Option<QueueId> {
        if let Self::Queue(queue) = self { Some(queue) } else { None }
    }

    /// Returns the node if the subject is one registered node.
    pub const fn node(self) -> Option<NodeId> {
        if let Self::Node(node) = self { Some(node) } else { None }
    }

    /// Returns the user or group and the queue if the subject is a tracker level.
    pub fn level(self, books: &Books) -> Option<AtQueue<'_>> {
        let Self::Level(partition, level) = self else { return None };
        let trackers = &books.partition(partition).trackers;
        let level = trackers.level(level);
        let tracker = trackers.tracker(level.tracker);
        Some(AtQueue { kind: tracker.kind, name: &tracker.name, queue: level.queue })
    }
}

impl Blocker {
    /// Returns the display text of the subject: a queue path, a user or group at a queue, or nodes.
    pub fn subject(self, books: &Books) -> String {
        let about = self.about();
        match about {
            About::Queue(queue) => books.queue(queue).path.to_string(),
            About::Level(..) => about.level(books).map_or_else(String::new, |at| {
                let kind = match at.kind {
                    TrackerKind::User => "user",
                    TrackerKind::Group => "group",
                };
                format!("{kind} {} at {}", at.name, books.queue(at.queue).path)
            }),
            About::Node(node) => format!("node {}", books.node(node).name),
            About::AnyNode(_) => "every node".into(),
            About::RequiredNode(_) => "the required node".into(),
            About::Partition(id) => format!("partition {}", books.partition(id).name),
            About::Manager(id) if books.is_recovering(id) => {
                format!("nodes of partition {}", books.partition(id).name)
            }
            About::Manager(_) => "the RM".into(),
            About::Answer(_) => "predicates".into(),
            About::AbsentManager(id) => standstill::manager(books, id),
            About::Gang(id) => books
                .applications()
                .get(id)
                .map_or_else(|| "a gang".into(), |row| format!("gang {}", row.name)),
            About::Application(id) => format!("application {}", books.application(id).name),
        }
    }

    /// Returns the subject as sentences name it: "the cluster" for a root maximum, "queue PATH" for a queue.
    pub(super) fn subject_in_sentence(self, books: &Books) -> String {
        if let Self::QueueMax(queue) = self
            && books.queue(queue).parent.is_none()
        {
            return "the cluster".into();
        }
        let subject = self.subject(books);
        if self.about().queue().is_some() { format!("queue {subject}") } else { subject }
    }

    /// Returns `group` if the subject is a group, and `user` otherwise.
    pub(super) fn user_or_group(self, books: &Books, user: WaitCode, group: WaitCode) -> WaitCode {
        match self.about().level(books).map(|at| at.kind) {
            Some(TrackerKind::Group) => group,
            Some(TrackerKind::User) | None => user,
        }
    }
}
