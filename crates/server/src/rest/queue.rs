//! Queues.

use headroom_api::wsv1::{Queue, Resources};
use headroom_core::id::{PartitionId, QueueId};
use headroom_core::view::QueueView;

use crate::convert::queue;

use super::refusal::{Answer, Refusal};
use super::request::{RestRequest, Seen, check_queue_path};
use super::visible::Extent;

pub(crate) async fn get_queues(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let look = move |seen: &Seen| {
        let partition = seen.partition(&partition)?;
        tree(seen, partition, seen.books().partition(partition).root)
    };
    asked.object(look).await
}

pub(crate) async fn get_queue(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    // The presence of the parameter counts, not its value.
    let with_children = asked.query("subtree").is_some();
    let path = asked.decoded("queue");
    let look = move |seen: &Seen| {
        let partition = seen.partition(&partition)?;
        let path = path?;
        check_queue_path(&path)?;
        let queue = seen.queue(partition, &path)?;
        if with_children { tree(seen, partition, queue) } else { alone(seen, queue) }
    };
    asked.object(look).await
}

fn alone(seen: &Seen, queue: QueueId) -> Result<Queue, Refusal> {
    let books = seen.books();
    show(seen, queue, &QueueView::alone(books, queue)).ok_or_else(Refusal::no_queue)
}

/// Returns a queue with all its visible descendants.
pub(crate) fn tree(seen: &Seen, partition: PartitionId, queue: QueueId) -> Result<Queue, Refusal> {
    let books = seen.books();
    let view = QueueView::tree(books, queue);
    let show = |view: &QueueView| show(seen, books.queue_at(partition, &view.path)?, view);
    queue::tree(&view, &show).ok_or_else(Refusal::no_queue)
}

fn show(seen: &Seen, queue: QueueId, view: &QueueView) -> Option<Queue> {
    let (books, sight) = (seen.books(), &seen.sight);
    match sight.extent(books, queue) {
        Extent::Nothing => None,
        Extent::Passage => {
            let children = books.children(queue).filter(|(id, _)| sight.sees_queue(books, *id));
            let mut child_names: Vec<String> =
                children.map(|(_, child)| child.path.to_string()).collect();
            child_names.sort();
            Some(Queue { child_names, ..queue::passage(view) })
        }
        Extent::Figures => {
            // Other users' applications that are about to start are not among the visible figures.
            let starting = own_starting(seen, view);
            let shown = Queue { allocating_accepted_apps: starting, ..queue::queue(view) };
            Some(bounded(seen, queue, shown))
        }
        Extent::All => Some(bounded(seen, queue, queue::queue(view))),
    }
}

/// Removes the headroom from a queue if an ancestor's figures are hidden. The headroom is the minimum over all
/// ancestors, so it would reveal the usage of the hidden ancestor.
fn bounded(seen: &Seen, queue: QueueId, shown: Queue) -> Queue {
    let (books, sight) = (seen.books(), &seen.sight);
    let sees = |(id, _)| sight.extent(books, id) >= Extent::Figures;
    if sight.is_all() || books.up(queue).all(sees) {
        return shown;
    }
    Queue { headroom: Resources::default(), ..shown }
}

fn own_starting(seen: &Seen, view: &QueueView) -> Vec<String> {
    let books = seen.books();
    let Some(partition) = books.partition_named(&view.partition) else {
        return Vec::new();
    };
    let applications = &books.partition(partition).applications;
    let is_own = |name: &&headroom_core::Name| {
        let found = applications.get(name.as_str());
        found.is_some_and(|id| seen.sight.sees_application(books, books.application(*id)))
    };
    view.starting.iter().filter(is_own).map(ToString::to_string).collect()
}
