//! Computes the effect of another queue file, for the server and for the command line.

use std::sync::Arc;
use std::time::Duration;

use headroom_api::headroomv1::{Plan, PlanRefusal};
use headroom_config::{BUILT_IN, NodeTotals, Review, review_bytes_on, review_on};
use headroom_core::Timestamp;
use headroom_core::books::Books;
use headroom_core::config::{Configuration, QueueConfig};
use headroom_core::plan::{Reach, plan};
use headroom_engine::users::Resolvers;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::convert;

/// Longest wait of a plan for other plans, and for queue files that are applied on condition of a plan.
const WAIT_FOR_OTHERS: Duration = Duration::from_secs(5);

/// Returns the total amounts of all nodes, for each partition with nodes.
pub fn node_totals(books: &Books) -> NodeTotals {
    let with_nodes = books.partitions().values().filter(|row| !row.nodes.is_empty());
    let totals = with_nodes.filter_map(|row| {
        let all = books.queue(row.root).max.as_ref()?;
        Some((row.name.to_string(), books.types().amounts(all)))
    });
    totals.collect()
}

/// Returns the plan of a queue file on these books, and the findings on the file, given these totals of nodes. The
/// caller sets the record and the time of the books in the plan. An empty file means the built-in file.
pub fn plan_of(
    books: &Books,
    now: Timestamp,
    nodes: &NodeTotals,
    (file, text): (&str, &[u8]),
) -> (Plan, Review) {
    made(books, now, nodes, (file, review_bytes_on(text, nodes)))
}

/// Maximum number of queues of a file for which a server computes a plan. Each queue costs about 3 KiB meanwhile.
pub(crate) const PLAN_QUEUES_MAX: usize = 40_000;

/// Returns the plan for a request to a server. `None` if the file has more than [`PLAN_QUEUES_MAX`] queues.
pub(crate) fn plan_asked_for(
    books: &Books,
    now: Timestamp,
    nodes: &NodeTotals,
    (file, text): (&str, &[u8]),
) -> Option<Plan> {
    let review = review_bytes_on(text, nodes);
    let queues = |file: &Configuration| {
        let mut all: Vec<&QueueConfig> = file.partitions.iter().map(|one| &one.root).collect();
        let mut count = 0;
        while let Some(queue) = all.pop() {
            count += 1;
            all.extend(&queue.children);
        }
        count
    };
    if review.configuration.as_ref().is_some_and(|file| queues(file) > PLAN_QUEUES_MAX) {
        return None;
    }
    Some(made(books, now, nodes, (file, review)).0)
}

fn made(
    books: &Books,
    now: Timestamp,
    nodes: &NodeTotals,
    (file, own): (&str, Review),
) -> (Plan, Review) {
    let checksum = own.checksum.clone();
    let says_nothing = own.configuration.as_ref().is_some_and(|file| file.partitions.is_empty());
    let review = if says_nothing { review_on(BUILT_IN, nodes) } else { own };
    let refused = |why: PlanRefusal| {
        let plan = convert::plan::plan(file, &review, &None);
        Plan { refused: Some(why), ..plan }
    };
    let plan = match review.configuration.as_ref().map(|file| (file, Resolvers::of(file))) {
        None => convert::plan::plan(file, &review, &None),
        Some((_, Err(error))) => {
            refused(PlanRefusal { code: error.code().to_owned(), message: error.to_string() })
        }
        Some((configuration, Ok(_))) => {
            let found = plan(books, now, configuration, Reach::default());
            convert::plan::plan(file, &review, &Some(found))
        }
    };
    (Plan { checksum, ..plan }, review)
}

/// Limits concurrent plans to one, because each plan costs time and a copy of the changed parts of the books.
#[derive(Clone, Debug)]
pub(crate) struct Plans {
    one: Arc<Semaphore>,
}

impl Default for Plans {
    fn default() -> Self {
        Self { one: Arc::new(Semaphore::new(1)) }
    }
}

impl Plans {
    /// Waits for permission to compute a plan. `None` if other plans take too long.
    pub(crate) async fn enter(&self) -> Option<OwnedSemaphorePermit> {
        timeout(WAIT_FOR_OTHERS, Arc::clone(&self.one).acquire_owned()).await.ok()?.ok()
    }
}
