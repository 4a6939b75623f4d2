//! Why asks of an RM wait, for an RM that informs its users.

use std::sync::Arc;

use headroom_core::books::Books;
use headroom_core::explain::{Explainer, Verdict};
use headroom_core::{Blocker, Kind, Name, more_nodes_help};

use tokio::sync::mpsc;

use super::interface::Interface;
use crate::cluster::ClusterCounters;
use crate::pods::PodQuestion;

/// Largest number of asks in one request.
pub const ASKS_MAX: usize = 64;

/// Why an ask waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskWait {
    /// Key of the ask.
    pub key: Name,
    /// What starts the ask.
    pub lacks: Lacking,
    /// First line of its explanation.
    pub line: String,
}

/// What an ask needs to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// Nothing: it is checked in one of the next steps, or after an answer of the RM.
    Nothing,
    /// A node. More nodes can help.
    Node,
    /// Something else, such as a quota. More nodes do not help.
    Other,
}

impl Interface {
    /// Returns the questions about pods, for the RM in this process that schedules a Kubernetes cluster. `None` after
    /// the first call.
    pub fn pod_questions(&self) -> Option<mpsc::Receiver<PodQuestion>> {
        self.service().pods().take()
    }

    /// Shows the counters of a Kubernetes scheduler in this process in the metrics.
    pub fn tell_cluster_by(&self, counters: Arc<ClusterCounters>) {
        self.service().live().tell_cluster_by(counters);
    }

    /// Returns why the asks with these keys wait. Leaves out those that do not wait, and those beyond [`ASKS_MAX`].
    ///
    /// Costs the checks of each ask with the nodes, in the thread of the writer.
    pub async fn waits(&self, keys: Vec<Name>) -> Vec<AskWait> {
        let look = self.service().engine.inspect(move |books, scheduler| {
            let explainer = Explainer::new(books, scheduler);
            let of = |key| ask_wait(books, &explainer, key);
            keys.into_iter().take(ASKS_MAX).filter_map(of).collect()
        });
        // Without the engine, nothing waits.
        look.await.unwrap_or_default()
    }
}

fn ask_wait(books: &Books, explainer: &Explainer<'_>, key: Name) -> Option<AskWait> {
    let mut partitions = books.partitions().values();
    let ask = partitions.find_map(|partition| partition.allocations.get(&*key).copied())?;
    let explanation = explainer.checks(ask)?;
    let first = explanation.blocked_by().next();
    let lacks = match (explanation.verdict, first.map(|check| check.blocker.row().kind)) {
        (Verdict::Allocated, _) => return None,
        (Verdict::StartsNext, _) | (_, None | Some(Kind::Rm)) => Lacking::Nothing,
        (_, Some(Kind::State | Kind::Number | Kind::Amount | Kind::Policy | Kind::Node)) => {
            // A check of a user can fail after that of a full cluster, and more nodes do not help then.
            let mut blockers = explanation.blocked_by().map(|check| check.blocker);
            let is_about_nodes = blockers.all(|blocker| is_about_nodes(books, blocker));
            if is_about_nodes && more_nodes_help(books, ask) {
                Lacking::Node
            } else {
                Lacking::Other
            }
        }
    };
    Some(AskWait { key, lacks, line: explanation.line(books) })
}

/// Returns whether more nodes remove a reason: no node is suitable, or the whole cluster is full or too small.
fn is_about_nodes(books: &Books, blocker: Blocker) -> bool {
    if let Blocker::QueueMax(queue) | Blocker::QueueTooSmall(queue) = blocker {
        return books.queue(queue).parent.is_none();
    }
    matches!(blocker.row().kind, Kind::Node | Kind::Rm)
}
