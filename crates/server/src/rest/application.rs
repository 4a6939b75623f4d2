//! Applications, by partition, queue, and state.

use std::collections::BTreeMap;
use std::time::Duration;

use headroom_api::wsv1::{Application, message};
use headroom_core::books::{ApplicationState, Books};
use headroom_core::id::{AllocationId, ApplicationId, PartitionId, QueueId};
use headroom_core::view::{ApplicationView, RejectedView};
use headroom_core::{Name, Timestamp, Wait};

use crate::convert::application::{application, rejected};
use crate::convert::ask::{reference_words, waits};
use crate::service::Service;

use super::refusal::{Answer, Refusal};
use super::request::{RestRequest, Seen, check_queue_path};
use super::respond::{blocking, json};
use super::visible::Visibility;

/// Longest wait for the wait reasons of the scheduler.
const PATIENCE: Duration = Duration::from_secs(1);

/// Maximum number of asks of an application, or applications of a list, for which reasons are computed. The scheduler
/// is blocked meanwhile.
const REASONS_MAX: usize = 256;

/// Maximum number of asks and allocations of an application that are searched for a waiting ask, in a list.
const LOOKED_AT_MAX: usize = 64;

pub(crate) async fn get_queue_applications(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let path = asked.decoded("queue")?;
    check_queue_path(&path)?;
    let chosen = move |seen: &Seen| {
        let partition = seen.partition(&partition)?;
        let queue = seen.queue(partition, &path)?;
        Ok(in_queue(seen, queue, None))
    };
    with_reasons(asked, chosen).await
}

pub(crate) async fn get_queue_applications_by_state(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let path = asked.decoded("queue");
    let state = asked.parameter("state").to_lowercase();
    let status = status(&asked);
    let chosen = move |seen: &Seen| {
        let partition = seen.partition(&partition)?;
        let path = path?;
        check_queue_path(&path)?;
        let queue = seen.queue(partition, &path)?;
        if state != "active" {
            return Err(Refusal::bad(message::QUEUE_APPLICATION_STATES));
        }
        Ok(in_queue(seen, queue, status?))
    };
    with_reasons(asked, chosen).await
}

pub(crate) async fn get_applications(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let state = asked.parameter("state").to_lowercase();
    let status = status(&asked);
    if state == "active" {
        let chosen = move |seen: &Seen| Ok(active_ids(seen, seen.partition(&partition)?, status?));
        return with_reasons(asked, chosen).await;
    }
    asked
        .list(move |seen| {
            let partition = seen.partition(&partition)?;
            let list: Box<dyn Iterator<Item = Application> + Send> = match state.as_str() {
                "completed" => Box::new(ended(seen, partition)),
                "rejected" => Box::new(refused(&seen, partition)),
                _ => return Err(Refusal::bad(message::APPLICATION_STATES)),
            };
            Ok(list)
        })
        .await
}

/// Returns a list of applications. The first applications have the wait reason of one of their asks.
async fn with_reasons(
    asked: RestRequest,
    choose: impl FnOnce(&Seen) -> Result<Vec<ApplicationId>, Refusal> + Send + 'static,
) -> Answer {
    let seen = asked.seen().await;
    let (seen, ids) = blocking(move || choose(&seen).map(|ids| (seen, ids))).await??;
    let books = seen.books();
    let waiting = ids.iter().copied().filter(|id| books.application(*id).ask_count > 0);
    let waiting: Vec<_> = waiting.take(REASONS_MAX).collect();
    let reasons = if waiting.is_empty() {
        BTreeMap::new()
    } else {
        first_reasons(&asked.service, seen.sight.clone(), waiting).await
    };
    let now = asked.service.clock.now();
    let shown = ids.into_iter().map(move |id| {
        let mut shown = show(&seen, id);
        if let Some((key, reason)) = reasons.get(&id) {
            say(&mut shown, key, reason.clone(), now);
        }
        shown
    });
    asked.rest.large.list(move || Ok(shown)).await
}

pub(crate) async fn get_queue_application(asked: RestRequest) -> Answer {
    let path = asked.decoded("queue")?;
    one(asked, Some(path)).await
}

pub(crate) async fn get_application(asked: RestRequest) -> Answer {
    one(asked, None).await
}

/// Returns an active application, with the reasons why its asks wait.
async fn one(asked: RestRequest, path: Option<String>) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let name = asked.parameter("application").to_owned();
    let seen = asked.seen().await;
    let id = find(&seen, &partition, path.as_deref(), &name)?;
    let waits_for_room = seen.books().application(id).ask_count > 0;
    let reasons = if waits_for_room {
        reasons(&asked.service, seen.sight.clone(), (partition, name)).await
    } else {
        Vec::new()
    };
    let now = asked.service.clock.now();
    blocking(move || {
        let mut shown = show(&seen, id);
        for (key, reason) in reasons {
            say(&mut shown, &key, reason, now);
        }
        json(&shown)
    })
    .await
}

/// Sets the reason why one ask of an application waits, unless the ask was placed meanwhile.
fn say(shown: &mut Application, key: &str, reason: String, now: Timestamp) {
    let found = shown.requests.binary_search_by(|ask| ask.allocation_key.as_str().cmp(key));
    if let Some(ask) = found.ok().and_then(|place| shown.requests.get_mut(place)) {
        waits(ask, reason, now);
    }
}

/// Returns the reason of a wait as in the log of an ask, with the words of the reference before it.
fn logged(sight: &Visibility, books: &Books, (wait, ask): (&Wait, AllocationId)) -> String {
    let reason = sight.reason(books, wait, ask);
    match reference_words(wait.code(books, ask)) {
        None => reason,
        Some(words) => format!("{words}: {reason}"),
    }
}

/// Returns the wait reason of an ask for each of these applications. Searches only the first asks and allocations of
/// each.
async fn first_reasons(
    service: &Service,
    sight: Visibility,
    of: Vec<ApplicationId>,
) -> BTreeMap<ApplicationId, (Name, String)> {
    let reasons = service.engine.inspect(move |books, scheduler| {
        let reason = |id: ApplicationId| {
            books.applications().get(id)?;
            let mut some = books.allocations_of(id).take(LOOKED_AT_MAX);
            let (ask, row) = some.find(|(_, row)| row.is_pending())?;
            let wait = scheduler.wait_of(books, ask)?;
            let reason = logged(&sight, books, (&wait, ask));
            Some((id, (row.key.clone(), reason)))
        };
        of.into_iter().filter_map(reason).collect()
    });
    let reasons = tokio::time::timeout(PATIENCE, reasons).await;
    reasons.ok().and_then(Result::ok).unwrap_or_default()
}

/// Returns why asks of an application wait, by key. The scheduler has these reasons, and the books do not. Empty if the
/// scheduler has stopped or is overloaded.
async fn reasons(
    service: &Service,
    sight: Visibility,
    (partition, application): (String, String),
) -> Vec<(Name, String)> {
    let reasons = service.engine.inspect(move |books, scheduler| {
        let partition = books.partition(books.partition_named(&partition)?);
        let id = partition.applications.get(&*application)?;
        let asks = books.allocations_of(*id).filter(|(_, row)| row.is_pending());
        let reasons = asks.take(REASONS_MAX).filter_map(|(ask, row)| {
            let wait = scheduler.wait_of(books, ask)?;
            Some((row.key.clone(), logged(&sight, books, (&wait, ask))))
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
    application(&ApplicationView::of(seen.books(), id), &*seen.rest.rm_metadata)
}

/// Returns the value of the query parameter `status`. `None` if the parameter is absent.
fn status(asked: &RestRequest) -> Result<Option<ApplicationState>, Refusal> {
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

/// Returns the applications that have not ended, optionally only those in a state.
pub(crate) fn active(
    seen: Seen,
    partition: PartitionId,
    state: Option<ApplicationState>,
) -> impl Iterator<Item = Application> + Send + 'static {
    let ids = active_ids(&seen, partition, state);
    shown(seen, ids)
}

fn active_ids(
    seen: &Seen,
    partition: PartitionId,
    state: Option<ApplicationState>,
) -> Vec<ApplicationId> {
    let all = &seen.books().partition(partition).applications;
    in_order(seen, all.iter().map(|(_, id)| *id).collect(), state)
}

fn in_queue(seen: &Seen, queue: QueueId, state: Option<ApplicationState>) -> Vec<ApplicationId> {
    in_order(seen, seen.books().applications_in(queue).map(|(id, _)| id).collect(), state)
}

/// Returns the completed and failed applications. Scans the applications of all partitions.
pub(crate) fn ended(
    seen: Seen,
    partition: PartitionId,
) -> impl Iterator<Item = Application> + Send + 'static {
    let all = seen.books().applications().iter();
    let ended = all.filter(|(_, row)| row.partition == partition && !row.state.is_active());
    let ids = in_order(&seen, ended.map(|(id, _)| id).collect(), None);
    shown(seen, ids)
}

/// Returns the rejected applications, in order of time.
pub(crate) fn refused(
    seen: &Seen,
    partition: PartitionId,
) -> impl Iterator<Item = Application> + Send + use<> {
    let mut all = RejectedView::all(seen.books(), partition);
    all.retain(|one| seen.sight.sees_user(&one.user));
    all.sort_by(|one, other| (one.at, &one.application).cmp(&(other.at, &other.application)));
    all.into_iter().map(|one| rejected(&one))
}

fn shown(
    seen: Seen,
    ids: Vec<ApplicationId>,
) -> impl Iterator<Item = Application> + Send + 'static {
    ids.into_iter().map(move |id| show(&seen, id))
}

/// Returns the visible applications, sorted by time of submission and then by ID.
fn in_order(
    seen: &Seen,
    mut ids: Vec<ApplicationId>,
    state: Option<ApplicationState>,
) -> Vec<ApplicationId> {
    let books: &Books = seen.books();
    ids.retain(|id| {
        let row = books.application(*id);
        state.is_none_or(|state| row.state == state) && seen.sight.sees_application(books, row)
    });
    ids.sort_by(|one, other| {
        let (one, other) = (books.application(*one), books.application(*other));
        (one.submitted, &one.name, one.number).cmp(&(other.submitted, &other.name, other.number))
    });
    ids
}
