//! What another queue file would do, for the server and for the command line.

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

/// How long a plan waits for others, and for files that are taken into force by a plan.
const WAIT_FOR_OTHERS: Duration = Duration::from_secs(5);

/// What all nodes of each partition have together, of partitions with nodes.
pub fn node_totals(books: &Books) -> NodeTotals {
    let with_nodes = books.partitions().values().filter(|row| !row.nodes.is_empty());
    let totals = with_nodes.filter_map(|row| {
        let all = books.queue(row.root).max.as_ref()?;
        Some((row.name.to_string(), books.types().amounts(all)))
    });
    totals.collect()
}

/// What a text would do to these books, without the moment of the books, and the findings on it where the nodes
/// have so much. A file that says nothing stands for the built-in one, as where it is taken into force.
pub fn plan_of(
    books: &Books,
    now: Timestamp,
    nodes: &NodeTotals,
    (file, text): (&str, &[u8]),
) -> (Plan, Review) {
    made(books, now, nodes, (file, review_bytes_on(text, nodes)))
}

/// How many queues a file may have of which a server makes a plan: each costs some 3 KiB while it is made.
pub(crate) const PLAN_QUEUES_MAX: usize = 40_000;

/// The same for requests to a server; none where the file has more than [`PLAN_QUEUES_MAX`] queues.
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

/// Plans that are made at once: one, since each costs a copy of what changes in the books, and time.
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
    /// When a plan may be made; none if others take too long.
    pub(crate) async fn enter(&self) -> Option<OwnedSemaphorePermit> {
        timeout(WAIT_FOR_OTHERS, Arc::clone(&self.one).acquire_owned()).await.ok()?.ok()
    }
}
