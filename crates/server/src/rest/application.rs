//! Applications, by partition, queue and state.

use std::time::Duration;

use headroom_api::wsv1::{Application, message};
use headroom_core::Name;
use headroom_core::books::{ApplicationState, Books};
use headroom_core::id::{ApplicationId, PartitionId, QueueId};
use headroom_core::view::{ApplicationView, RejectedView};

use crate::convert::application::{application, rejected};
use crate::convert::ask::waits;
use crate::service::Service;

use super::refusal::{Answer, Refusal};
use super::request::{Asked, Seen, check_queue_path};
use super::respond::{blocking, json};

/// How long the scheduler is waited for, when it is asked why something waits.
const PATIENCE: Duration = Duration::from_secs(1);

/// For how many asks of one application it is found out why they wait: the scheduler is held up
/// for that long.
const REASONS_MAX: usize = 256;

pub(crate) async fn get_queue_applications(asked: Asked) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let path = asked.decoded("queue")?;
    check_queue_path(&path)?;
    asked
        .list(move |seen| {
            let partition = seen.partition(&partition)?;
            let queue = seen.queue(partition, &path)?;
            Ok(in_queue(seen, queue, None))
        })
        .await
}

pub(crate) async fn get_queue_applications_by_state(asked: Asked) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let path = asked.decoded("queue");
    let state = asked.parameter("state").to_lowercase();
    let status = status(&asked);
    asked
        .list(move |seen| {
            let partition = seen.partition(&partition)?;
            let path = path?;
            check_queue_path(&path)?;
            let queue = seen.queue(partition, &path)?;
            if state != "active" {
                return Err(Refusal::bad(message::QUEUE_APPLICATION_STATES));
            }
            Ok(in_queue(seen, queue, status?))
        })
        .await
}

pub(crate) async fn get_applications(asked: Asked) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let state = asked.parameter("state").to_lowercase();
    let status = status(&asked);
    asked
        .list(move |seen| {
            let partition = seen.partition(&partition)?;
            let list: Box<dyn Iterator<Item = Application> + Send> = match state.as_str() {
                "active" => Box::new(active(seen, partition, status?)),
                "completed" => Box::new(ended(seen, partition)),
                "rejected" => Box::new(refused(&seen, partition)),
                _ => return Err(Refusal::bad(message::APPLICATION_STATES)),
            };
            Ok(list)
        })
        .await
}

pub(crate) async fn get_queue_application(asked: Asked) -> Answer {
    let path = asked.decoded("queue")?;
    one(asked, Some(path)).await
}

pub(crate) async fn get_application(asked: Asked) -> Answer {
    one(asked, None).await
}

/// An active application, with the reasons why its asks wait.
async fn one(asked: Asked, path: Option<String>) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let name = asked.parameter("application").to_owned();
    let seen = asked.seen().await;
    let id = find(&seen, &partition, path.as_deref(), &name)?;
    let waits_for_room = seen.books().application(id).ask_count > 0;
    let reasons =
        if waits_for_room { reasons(&asked.service, partition, name).await } else { Vec::new() };
    let now = asked.service.clock.now();
    blocking(move || {
        let mut shown = show(&seen, id);
        for (key, reason) in reasons {
            // By key; one that was placed in between is not there any more.
            let found =
                shown.requests.binary_search_by(|ask| ask.allocation_key.as_str().cmp(&key));
            if let Some(ask) = found.ok().and_then(|place| shown.requests.get_mut(place)) {
                waits(ask, reason, now);
            }
        }
        json(&shown)
    })
    .await
}

/// Why asks of an application wait, by key. The scheduler knows it, the books do not; if it has
/// stopped, or has too much to do, nothing is said.
async fn reasons(service: &Service, partition: String, application: String) -> Vec<(Name, String)> {
    let reasons = service.engine.inspect(move |books, scheduler| {
        let partition = books.partition(books.partition_named(&partition)?);
        let id = partition.applications.get(&*application)?;
        let asks = books.allocations_of(*id).filter(|(_, row)| row.is_pending());
        let reasons = asks.take(REASONS_MAX).filter_map(|(ask, row)| {
            let wait = scheduler.wait_of(books, ask)?;
            Some((row.key.clone(), wait.sentence(books, books.resources_of(ask))))
        });
        Some(reasons.collect())
    });
    let reasons = tokio::time::timeout(PATIENCE, reasons).await;
    reasons.ok().and_then(Result::ok).flatten().unwrap_or_default()
}

fn find(
    seen: &Seen,
    partition: &str,
    path: Option<&str>,
    name: &str,
) -> Result<ApplicationId, Refusal> {
    let books = seen.books();
    let partition = seen.partition(partition)?;
    let queue = match path {
        Some(path) => {
            check_queue_path(path)?;
            Some(seen.queue(partition, path)?)
        }
        None => None,
    };
    let found = books.partition(partition).applications.get(name).copied();
    let is_shown = |id: &ApplicationId| {
        let row = books.application(*id);
        queue.is_none_or(|queue| queue == row.queue) && seen.sight.sees_application(books, row)
    };
    found.filter(is_shown).ok_or_else(Refusal::no_application)
}

fn show(seen: &Seen, id: ApplicationId) -> Application {
    application(&ApplicationView::of(seen.books(), id), &*seen.rest.beside)
}

/// The word behind `status`, if there is one.
fn status(asked: &Asked) -> Result<Option<ApplicationState>, Refusal> {
    let Some(word) = asked.query("status").filter(|word| !word.is_empty()) else {
        return Ok(None);
    };
    Ok(Some(match word.to_lowercase().as_str() {
        "new" => ApplicationState::New,
        "accepted" => ApplicationState::Accepted,
        "running" => ApplicationState::Running,
        "completing" => ApplicationState::Completing,
        "failing" => ApplicationState::Failing,
        "resuming" => ApplicationState::Resuming,
        _ => return Err(Refusal::bad(message::ACTIVE_STATUSES)),
    }))
}

/// Those that have not ended; of a state, if one is given.
pub(crate) fn active(
    seen: Seen,
    partition: PartitionId,
    state: Option<ApplicationState>,
) -> impl Iterator<Item = Application> + Send + 'static {
    let all = &seen.books().partition(partition).applications;
    let ids = all.iter().map(|(_, id)| *id).collect();
    shown(seen, ids, state)
}

fn in_queue(
    seen: Seen,
    queue: QueueId,
    state: Option<ApplicationState>,
) -> impl Iterator<Item = Application> + Send + 'static {
    let ids = seen.books().applications_in(queue).map(|(id, _)| id).collect();
    shown(seen, ids, state)
}

/// Completed and failed ones. Looks at the applications of all partitions.
pub(crate) fn ended(
    seen: Seen,
    partition: PartitionId,
) -> impl Iterator<Item = Application> + Send + 'static {
    let all = seen.books().applications().iter();
    let ended = all.filter(|(_, row)| row.partition == partition && !row.state.is_active());
    let ids = ended.map(|(id, _)| id).collect();
    shown(seen, ids, None)
}

/// Those that were refused, in the order of time.
pub(crate) fn refused(
    seen: &Seen,
    partition: PartitionId,
) -> impl Iterator<Item = Application> + Send + use<> {
    let mut all = RejectedView::all(seen.books(), partition);
    all.retain(|one| seen.sight.sees_user(&one.user));
    all.sort_by(|one, other| (one.at, &one.application).cmp(&(other.at, &other.application)));
    all.into_iter().map(|one| rejected(&one))
}

/// Those that are seen, by the time of their submission and then by id.
fn shown(
    seen: Seen,
    mut ids: Vec<ApplicationId>,
    state: Option<ApplicationState>,
) -> impl Iterator<Item = Application> + Send + 'static {
    let books: &Books = seen.books();
    ids.retain(|id| {
        let row = books.application(*id);
        state.is_none_or(|state| row.state == state) && seen.sight.sees_application(books, row)
    });
    ids.sort_by(|one, other| {
        let (one, other) = (books.application(*one), books.application(*other));
        (one.submitted, &one.name, one.number).cmp(&(other.submitted, &other.name, other.number))
    });
    ids.into_iter().map(move |id| show(&seen, id))
}
