//! Inputs of a run: queues, nodes, jobs, and how jobs become asks.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use headroom_core::Name;
use headroom_core::config::{Configuration, PartitionConfig, QueueConfig};
use headroom_core::resource::Amounts;

use crate::fault::FaultSource;
use crate::nodes::NodeSpec;
use crate::workload::{Job, Workload};

/// Conversion of a job with N processors to asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// One ask if the job fits on a node, and otherwise N asks.
    #[default]
    Fitting,
    /// One ask of N processors on one node.
    Single,
    /// N asks that start and end individually.
    Tasks,
    /// N asks that start together: a task group with N placeholders, even if N is 1.
    Gang,
}

/// Frequency of complete checks of the books.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checks {
    /// At intervals: every 10,000 events, or ten times the number of live rows if this is more.
    #[default]
    NowAndThen,
    /// After this number of events. Also checks every task of every job at every point in time.
    Every(NonZeroU64),
}

impl Checks {
    /// After every event.
    pub const ALWAYS: Self = Self::Every(NonZeroU64::MIN);
}

/// All inputs of a run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The queue file. Its first partition is simulated.
    pub configuration: Configuration,
    /// Nodes of the cluster.
    pub nodes: Vec<NodeSpec>,
    /// The jobs.
    pub workload: Workload,
    /// Source of the workload, for messages.
    pub source: String,
    /// Conversion of jobs to asks.
    pub shape: Shape,
    /// Time limit of the run, in ms of virtual time.
    pub until_ms: Option<u64>,
    /// Frequency of checks of the books.
    pub checks: Checks,
    /// Seed of all random behavior of the simulator.
    pub seed: u64,
    /// Injected faults.
    pub faults: Option<FaultSource>,
    /// Whether a job with an unknown queue or resource type counts as rejected. Otherwise the run is refused.
    pub reject_misfits: bool,
}

/// Reason why the parts of a run do not match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The queue file has no partition.
    #[error("the queue file has no partition. Add `partitions:` with at least one entry")]
    NoPartition,
    /// The cluster has no nodes.
    #[error(
        "the cluster has no nodes. Set --nodes, such as --nodes '10*{{vcore: 8, memory: 32Gi}}'"
    )]
    NoNode,
    /// A job has no queue.
    #[error(
        "{at}: job {job} has no queue. Set a queue, for example with --queue-of 'root.{{group}}'"
    )]
    NoQueue {
        /// File and line.
        at: String,
        /// Name of the job.
        job: Name,
    },
    /// A job has a queue that the file does not define.
    #[error(
        "{at}: job {job} has queue {queue}, but the queue file does not define this queue. Use one \
         of the leaves of the file: {leaves}"
    )]
    UnknownQueue {
        /// File and line.
        at: String,
        /// Name of the job.
        job: Name,
        /// Queue, as derived from the workload.
        queue: Name,
        /// The first leaves of the file.
        leaves: String,
    },
    /// A job has a parent queue.
    #[error("{at}: job {job} has queue {queue}, but this queue is a parent. Use a leaf: {leaves}")]
    ParentQueue {
        /// File and line.
        at: String,
        /// Name of the job.
        job: Name,
        /// Queue, as derived from the workload.
        queue: Name,
        /// The first leaves of the file.
        leaves: String,
    },
    /// A fault names an unknown node.
    #[error(
        "--faults names node {node}, which is not one of the {count} nodes of the cluster. The \
         first node is {first}"
    )]
    UnknownNode {
        /// Name of the node.
        node: Name,
        /// Number of nodes.
        count: usize,
        /// Name of the first node.
        first: Name,
    },
    /// A job asks for a resource type that no node has.
    #[error("{at}: job {job} requests {resource}, which no node has. The nodes have: {known}")]
    UnknownType {
        /// File and line.
        at: String,
        /// Name of the job.
        job: Name,
        /// Resource type.
        resource: Name,
        /// Resource types of the nodes.
        known: String,
    },
}

/// Maximum number of leaves in a message.
const LEAVES_TOLD: usize = 12;

impl Setup {
    /// Checks that the setup can be simulated. Stops at the first job that does not match.
    ///
    /// # Errors
    /// A [`SetupError`] with file and line.
    pub fn check(&self) -> Result<(), SetupError> {
        let partition = self.configuration.partitions.first().ok_or(SetupError::NoPartition)?;
        if self.nodes.is_empty() {
            return Err(SetupError::NoNode);
        }
        if let Some(faults) = &self.faults {
            let names: Vec<Name> = self.nodes.iter().map(|node| node.name.clone()).collect();
            if let Some(node) = faults.unknown_node(&names) {
                let (node, count, first) = (node.clone(), names.len(), names[0].clone());
                return Err(SetupError::UnknownNode { node, count, first });
            }
        }
        let paths = self.names_leaves().then(|| Paths::of(&partition.root));
        let types: BTreeSet<Name> = self
            .nodes
            .iter()
            .flat_map(|node| node.resources.iter())
            .map(|(name, _)| name.clone())
            .collect();
        if self.reject_misfits {
            return Ok(());
        }
        self.workload.jobs.iter().try_for_each(|job| self.check_job(job, paths.as_ref(), &types))
    }

    /// Returns whether every job runs in the leaf that the job specifies, because the file has no other placement rule.
    fn names_leaves(&self) -> bool {
        let played = self.configuration.partitions.first();
        played.into_iter().flat_map(|one| &one.placement_rules).all(|rule| {
            rule.name.eq_ignore_ascii_case("provided") && !rule.create && rule.parent.is_none()
        })
    }

    /// Returns the queue of a job for its submission. If jobs name leaves, a path can omit `root`. Otherwise a
    /// placement rule interprets the name.
    pub(super) fn queue_asked_for(&self, job: &Job) -> Name {
        match &job.queue {
            Some(queue) if !queue.is_empty() && self.names_leaves() => Name::from(full_path(queue)),
            queue => queue.clone().unwrap_or_default(),
        }
    }

    fn check_job(
        &self,
        job: &Job,
        paths: Option<&Paths>,
        types: &BTreeSet<Name>,
    ) -> Result<(), SetupError> {
        let at = match job.line {
            0 => self.source.clone(),
            line => format!("{}:{line}", self.source),
        };
        let job_name = job.name.clone();
        if let Some(paths) = paths {
            let Some(queue) = job.queue.clone() else {
                return Err(SetupError::NoQueue { at, job: job_name });
            };
            let path = full_path(&queue);
            if !paths.leaves.contains(&path) {
                let leaves = paths.listed();
                return Err(if paths.parents.contains(&path) {
                    SetupError::ParentQueue { at, job: job_name, queue, leaves }
                } else {
                    SetupError::UnknownQueue { at, job: job_name, queue, leaves }
                });
            }
        }
        let mut asked = job.sizes().flat_map(Amounts::iter);
        match asked.find(|(name, _)| !types.contains(*name)) {
            None => Ok(()),
            Some((resource, _)) => Err(SetupError::UnknownType {
                at,
                job: job_name,
                resource: resource.clone(),
                known: types.iter().map(Name::as_str).collect::<Vec<_>>().join(", "),
            }),
        }
    }
}

/// Returns the path of a queue in the form of the core.
fn full_path(queue: &str) -> String {
    let path = queue.to_ascii_lowercase();
    if path == "root" || path.starts_with("root.") { path } else { format!("root.{path}") }
}

/// Paths of a queue tree.
#[derive(Default)]
struct Paths {
    leaves: BTreeSet<String>,
    parents: BTreeSet<String>,
}

impl Paths {
    fn of(root: &QueueConfig) -> Self {
        let mut paths = Self::default();
        paths.parents.insert("root".to_owned());
        let mut open: Vec<(String, &QueueConfig)> =
            root.children.iter().map(|child| ("root".to_owned(), child)).collect();
        while let Some((above, queue)) = open.pop() {
            let path = format!("{above}.{}", queue.name.to_ascii_lowercase());
            open.extend(queue.children.iter().map(|child| (path.clone(), child)));
            let kind = if queue.is_parent() { &mut paths.parents } else { &mut paths.leaves };
            kind.insert(path);
        }
        paths
    }

    fn listed(&self) -> String {
        let mut text: Vec<&str> =
            self.leaves.iter().take(LEAVES_TOLD).map(String::as_str).collect();
        if self.leaves.len() > LEAVES_TOLD {
            text.push("…");
        }
        text.join(", ")
    }
}

/// Returns a queue file for a workload without one. Each group has a queue without limits below root. Sets the queues
/// of the jobs. Characters that a queue name cannot contain become `_`.
pub fn queues_of_groups(workload: &mut Workload) -> Configuration {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || "_:#/@-".contains(letter);
    let mut names = BTreeSet::new();
    for job in &mut workload.jobs {
        let wanted = job.queue.as_ref().or(job.groups.first());
        let text = wanted.map_or("default", |name| name.strip_prefix("root.").unwrap_or(name));
        let name: String = text
            .to_ascii_lowercase()
            .chars()
            .map(|letter| if legal(letter) { letter } else { '_' })
            .take(64)
            .collect();
        let name = if name.is_empty() { "default".to_owned() } else { name };
        job.queue = Some(Name::from(format!("root.{name}")));
        names.insert(name);
    }
    let children = names
        .into_iter()
        .map(|name| QueueConfig { name: Name::from(name), ..QueueConfig::default() })
        .collect();
    let root = QueueConfig {
        name: Name::new("root"),
        parent: true,
        children,
        submit_acl: "*".to_owned(),
        ..QueueConfig::default()
    };
    let partitions = vec![PartitionConfig::new("default", root)];
    Configuration { partitions, ..Configuration::default() }
}
