//! `GET /headroom/v1/partitions/{partition}/explain/…`: explains why an ask waits, and finds changes that start the
//! ask. `POST …/explain` does the same for a hypothetical ask.
//!
//! The scheduler computes an explanation itself, and is blocked meanwhile. Remedies are verified on a copy of the
//! books, in parallel with the writer.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use headroom_api::headroomv1::{
    CheckVerdict, Code, ExplainedCheck, ExplainedHold, ExplainedPod, ExplainedPreemption,
    ExplainedState, Explanation, Remedies, Stamp, VerdictChange,
};
use headroom_core::books::{Books, Rejected};
use headroom_core::explain::remedy::{self, IN_TURN_STEPS, RemedyKind, TRIALS};
use headroom_core::explain::{self, Verdict};
use headroom_core::id::{AllocationId, ApplicationId, PartitionId};
use headroom_core::{Name, Timestamp, WaitChange};

use super::answer::{Refused, json};
use super::partitions::of_path;
use super::request::{NativeRequest, PodNames};
use super::visible;
use super::words::{epoch, time};
use crate::caller::Caller;
use crate::convert::value::resources;
use crate::pods::{NoAnswer, PodAnswer};
use crate::rest::Visibility;
use crate::service::Service;

mod checks;
mod edits;
mod history;
mod preemption;
mod would_run;

pub(super) use would_run::would_run;

use checks::VisibleChecks;

/// The explained object, and the books at that moment.
struct Found {
    books: Arc<Books>,
    sequence: u64,
    time: Timestamp,
    about: About,
}

enum About {
    Explained(Box<explain::Explanation>),
    /// An application without asks and allocations.
    Nothing(ApplicationId),
    Rejected(Rejected),
    Ended(ApplicationId),
    Missing,
}

pub(super) async fn application(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let name = Name::new(asked.named("application").unwrap_or_default());
    let wanted = wanted(&asked, true)?;
    answer(&service, &asked, wanted, (name, None), None).await
}

pub(super) async fn ask(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let name = Name::new(asked.named("application").unwrap_or_default());
    let key = Name::new(asked.named("ask").unwrap_or_default());
    let wanted = wanted(&asked, true)?;
    answer(&service, &asked, wanted, (name, Some(key)), None).await
}

/// Explains the ask of a pod, and adds the verdicts of the nodes. Only a caller who sees everything learns about a pod
/// without an ask, because nobody owns it yet.
pub(super) async fn pod(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let namespace = asked.named("namespace").unwrap_or_default().to_owned();
    let name = asked.named("pod").unwrap_or_default().to_owned();
    let missing = || {
        let detail = format!("no pod {namespace}/{name} is scheduled here, or you cannot see it");
        Refused::new(&asked, Code::NotFound, detail)
    };
    // An answer costs a check of each node, so the request is checked first.
    let wanted = wanted(&asked, true)?;
    let view = service.engine.views().at_least(0).await;
    of_path(&view.books, &asked)?;
    let answer_of = service.pods().ask(&namespace, &name).await;
    let PodAnswer { application, ask, unasked, pod } = answer_of.map_err(|why| match why {
        NoAnswer::NoPod => missing(),
        NoAnswer::Busy => Refused::new(
            &asked,
            Code::TooManyRequests,
            "too many questions about pods wait for an answer".to_owned(),
        ),
    })?;
    let Some(unasked) = unasked else {
        return answer(&service, &asked, wanted, (application, Some(ask)), Some(pod))
            .await
            .map_err(|refused| if refused.code() == Code::NotFound { missing() } else { refused });
    };
    if !Visibility::of(&asked.caller).is_all() {
        return Err(missing());
    }
    let stamp = Stamp { sequence: view.sequence, epoch: epoch(&service), as_of: time(view.time) };
    let body = Explanation {
        stamp,
        application: application.to_string(),
        line: explain::cut(&format!("not submitted: {unasked}")),
        sentence: Some(unasked),
        pod: Some(pod),
        ..Explanation::default()
    };
    Ok(json(&asked, &body))
}

async fn answer(
    service: &Service,
    asked: &NativeRequest,
    wanted: Sought,
    (name, key): (Name, Option<Name>),
    pod: Option<ExplainedPod>,
) -> Result<Response<Body>, Refused> {
    let view = service.engine.views().at_least(0).await;
    let partition = view.books.partition(of_path(&view.books, asked)?).name.clone();
    let find = {
        let (partition, name, key) = (partition.clone(), name.clone(), key.clone());
        move |moment: &headroom_engine::WriterState<'_>| {
            let books = moment.books;
            let about = books.partition_named(&partition).map_or(About::Missing, |partition| {
                about(books, moment.scheduler, partition, (&name, key.as_ref()))
            });
            Found {
                books: moment.copy_of_books(),
                sequence: moment.sequence,
                time: moment.time,
                about,
            }
        }
    };
    let found = service.engine.inspect_at(find).await;
    let found = found.map_err(|why| Refused::unavailable(asked, &why))?;
    let stamp = Stamp { sequence: found.sequence, epoch: epoch(service), as_of: time(found.time) };
    let now = service.clock.now().max(found.time);
    let mut body = visible_body(&found, asked, (&name, key.as_ref()))?;
    body.stamp = stamp;
    body.pod = pod;
    if let Some(key) = body.ask.as_deref().filter(|_| wanted.all_changes) {
        let ask = history::Named { partition, application: name, key: Name::new(key) };
        body.history = history::all(service, asked, ask, found.sequence).await?;
        // The current wait can be older than the scheduler.
        if let (Some(first), Some(last)) = (body.blocked_by.first(), body.history.last())
            && first.id == last.id
        {
            body.since = Some(last.at);
        }
    }
    if let About::Explained(explanation) = found.about
        && !wanted.is_empty()
        && explanation.verdict != Verdict::Allocated
    {
        let (viewer, books) = (Viewer::of(asked), found.books);
        let looked = move || wanted.look(&books, &viewer, now, &explanation);
        let looked = tokio::task::spawn_blocking(looked).await;
        looked.unwrap_or_else(|_| Looked::gave_up()).show(&mut body);
    }
    Ok(json(asked, &body))
}

/// Who reads an explanation, and how pods are named.
struct Viewer {
    caller: Caller,
    pods: PodNames,
}

impl Viewer {
    fn of(asked: &NativeRequest) -> Self {
        Self { caller: asked.caller.clone(), pods: asked.pods.clone() }
    }
}

/// Optional parts of an explanation.
struct Looked {
    remedies: Option<Remedies>,
    preemption: Option<ExplainedPreemption>,
}

impl Looked {
    /// The trials have failed. The log has the reason.
    fn gave_up() -> Self {
        let remedies = Remedies { ran_out: true, ..Remedies::default() };
        Self { remedies: Some(remedies), preemption: None }
    }

    fn show(self, body: &mut Explanation) {
        body.remedies = self.remedies;
        body.preemption = self.preemption;
    }
}

/// Requested parts of an explanation, in addition to the reason of the wait.
struct Sought {
    /// Requested kinds of remedies.
    kinds: Vec<RemedyKind>,
    /// Whether to predict the outcome if the earlier asks are placed first.
    in_turn: bool,
    /// Whether to predict what preemption would do.
    preemption: bool,
    /// Whether to read all past reasons of the wait from the journal.
    all_changes: bool,
}

impl Sought {
    const fn is_empty(&self) -> bool {
        self.kinds.is_empty() && !self.in_turn && !self.preemption
    }

    /// Returns the changes that start an explained ask. Omits changes that the caller cannot see.
    fn look(
        &self,
        books: &Books,
        viewer: &Viewer,
        now: Timestamp,
        explanation: &explain::Explanation,
    ) -> Looked {
        let preemption = self.preemption.then(|| explain::preemption(books, explanation, now));
        let preemption = preemption.flatten();
        let remedies = (self.in_turn || !self.kinds.is_empty()).then(|| {
            let mut found = remedy::remedies(books, now, explanation, &self.kinds, TRIALS);
            if self.in_turn {
                found.look_in_turn(books, now, explanation.ask, IN_TURN_STEPS);
            }
            edits::visible_remedies(books, viewer, &found)
        });
        Looked {
            remedies,
            preemption: preemption.map(|found| preemption::visible(books, viewer, &found)),
        }
    }
}

/// Returns the requested parts of an explanation. A hypothetical ask has no past reasons.
fn wanted(asked: &NativeRequest, is_there: bool) -> Result<Sought, Refused> {
    let known: &[&str] = if is_there {
        &["remedies", "inTurn", "preemption", "history"]
    } else {
        &["remedies", "inTurn", "preemption"]
    };
    let parameters = asked.parameters(known)?;
    let in_turn = parameters.flag("inTurn")?.unwrap_or(false);
    let preemption = parameters.flag("preemption")?.unwrap_or(false);
    let malformed = |detail: String| Refused::new(asked, Code::Malformed, detail);
    let kinds = kinds(parameters.get("remedies")).map_err(malformed)?;
    let all_changes = match parameters.get("history") {
        None | Some("last") => false,
        Some("all") => true,
        Some(word) => {
            let detail = format!("`history` is {word:?}, but it must be `last` or `all`");
            return Err(malformed(detail));
        }
    };
    Ok(Sought { kinds, in_turn, preemption, all_changes })
}

/// Parses the kinds of remedies in a text.
fn kinds(text: Option<&str>) -> Result<Vec<RemedyKind>, String> {
    let one = |word: &str| {
        let known = RemedyKind::ALL.into_iter().find(|kind| kind.word() == word);
        known.ok_or_else(|| {
            format!(
                "`remedies` has {word:?}, but it must be `all`, or a comma-separated list of `wait`, `resume`, `raise`, `release`, `shrink`, `add`, and `move`"
            )
        })
    };
    match text {
        None => Ok(Vec::new()),
        Some("all") => Ok(RemedyKind::ALL.to_vec()),
        Some(text) => text.split(',').map(one).collect(),
    }
}

/// Returns an explanation from books without a server, with remedies of these kinds. The caller has the journal, and
/// therefore sees everything.
///
/// # Errors
/// A sentence, if a kind of remedy is unknown.
pub fn explanation_of(
    books: &Books,
    (now, sequence): (Timestamp, u64),
    found: &explain::Explanation,
    (remedies, in_turn, preemption): (Option<&str>, bool, bool),
) -> Result<Explanation, String> {
    let kinds = kinds(remedies)?;
    let sought = Sought { kinds, in_turn, preemption, all_changes: false };
    // A journal has no names of pods.
    let viewer = Viewer { caller: Caller::open(), pods: PodNames::default() };
    let mut body = explained(books, &viewer.caller, found);
    body.stamp = Stamp { sequence, epoch: String::new(), as_of: time(now) };
    if !sought.is_empty() && found.verdict != Verdict::Allocated {
        sought.look(books, &viewer, now, found).show(&mut body);
    }
    Ok(body)
}

/// Explains an ask, or the first ask of an application.
fn about(
    books: &Books,
    scheduler: &headroom_core::Scheduler,
    partition: PartitionId,
    (name, key): (&Name, Option<&Name>),
) -> About {
    let row = books.partition(partition);
    let Some(application) = row.applications.get(&**name).copied() else {
        return if key.is_none() { no_more(books, partition, name) } else { About::Missing };
    };
    let ask: Option<AllocationId> = match key {
        Some(key) => {
            let found = books.allocation_named(application, key);
            if found.is_none() {
                return About::Missing;
            }
            found
        }
        None => explain::first_in(books, scheduler, application),
    };
    match ask.and_then(|ask| explain::explain(books, scheduler, ask)) {
        Some(explanation) => About::Explained(Box::new(explanation)),
        None => About::Nothing(application),
    }
}

/// Returns the last known outcome of an application that no longer exists. `None` if no outcome is stored.
fn no_more(books: &Books, partition: PartitionId, name: &Name) -> About {
    let row = books.partition(partition);
    let rejected = row.rejected.iter().map(|(_, one)| one);
    let rejected = rejected.filter(|one| one.application == *name).last();
    match (row.ended_named(name), rejected) {
        (Some(id), Some(one)) if books.application(id).submitted <= one.at => {
            About::Rejected(one.clone())
        }
        (Some(id), _) => About::Ended(id),
        (None, Some(one)) => About::Rejected(one.clone()),
        (None, None) => About::Missing,
    }
}

/// Returns the part of the explanation that the caller can see.
fn visible_body(
    found: &Found,
    asked: &NativeRequest,
    (name, key): (&Name, Option<&Name>),
) -> Result<Explanation, Refused> {
    let books = &found.books;
    let missing = || {
        let what = key.map_or_else(String::new, |key| format!("ask {key:?} of "));
        let detail = format!("{what}application {name:?} does not exist, or you cannot see it");
        Refused::new(asked, Code::NotFound, detail)
    };
    let sight = Visibility::of(&asked.caller);
    match &found.about {
        About::Rejected(one) if sight.sees_user(&one.user) => Ok(Explanation {
            application: one.application.to_string(),
            queue: one.queue.to_string(),
            user: one.user.to_string(),
            state: ExplainedState::Rejected,
            code: Some(one.code.to_string()),
            line: explain::cut(&format!("rejected: {} {}", one.code, one.message)),
            sentence: Some(one.message.to_string()),
            since: Some(time(one.at)),
            ..Explanation::default()
        }),
        About::Missing | About::Rejected(_) => Err(missing()),
        About::Nothing(id) => {
            let row = books.application(*id);
            if !sight.sees_application(books, row) {
                return Err(missing());
            }
            Ok(Explanation {
                application: row.name.to_string(),
                queue: row.queue_path.to_string(),
                user: row.user.to_string(),
                state: ExplainedState::Allocated,
                line: format!("the application has no asks and no allocations: {}", row.state),
                since: Some(time(row.state_since)),
                ..Explanation::default()
            })
        }
        About::Ended(id) => {
            let row = books.application(*id);
            if !sight.sees_application(books, row) {
                return Err(missing());
            }
            Ok(ended(books, *id))
        }
        About::Explained(explanation) => {
            let row = books.allocation(explanation.ask);
            let application = books.application(row.application);
            if !visible::user_in(books, &asked.caller, &application.user, application.queue) {
                return Err(missing());
            }
            Ok(explained(books, &asked.caller, explanation))
        }
    }
}

/// Returns the explanation of an application that has ended.
fn ended(books: &Books, id: ApplicationId) -> Explanation {
    let row = books.application(id);
    let task = row.task.as_deref();
    let state = books.task_state(id).map(|state| state.as_str().to_owned());
    let outcome = state.unwrap_or_else(|| row.state.to_string());
    let nodes = task.map(|task| words(&task.nodes)).unwrap_or_default();
    let ran = if nodes.is_empty() { String::new() } else { format!(", ran on {nodes}") };
    let size = task.map(|task| resources(&books.types().amounts(&task.size)));
    let at = time(row.state_since);
    Explanation {
        application: row.name.to_string(),
        queue: row.queue_path.to_string(),
        user: row.user.to_string(),
        resources: size.unwrap_or_default(),
        state: ExplainedState::Ended,
        line: explain::cut(&format!("ended: {outcome} at {at}{ran}")),
        since: Some(at),
        ..Explanation::default()
    }
}

fn words(names: &[Name]) -> String {
    let names: Vec<&str> = names.iter().map(Name::as_str).collect();
    names.join(", ")
}

/// Returns the part of an explanation that the caller can see. The caller must see its subject.
fn explained(books: &Books, caller: &Caller, explanation: &explain::Explanation) -> Explanation {
    let row = books.allocation(explanation.ask);
    let application = books.application(row.application);
    let visible = VisibleChecks { books, caller };
    let checks = visible.checks(explanation);
    let failed = |one: &&ExplainedCheck| one.verdict == CheckVerdict::Failed;
    Explanation {
        application: application.name.to_string(),
        ask: Some(row.key.to_string()),
        queue: application.queue_path.to_string(),
        user: application.user.to_string(),
        resources: resources(&books.plain_size_of(explanation.ask)),
        state: state(explanation.verdict),
        line: visible.line(explanation),
        sentence: visible.sentence(explanation),
        since: explanation.since.map(time),
        position: explanation.place.map(|place| place.position),
        of: explanation.place.map(|place| place.of),
        ahead: explanation.place.map(|place| place.position - 1),
        ahead_in_partition: explanation.place.map(|place| place.ahead_in_partition),
        blocked_by: checks.iter().filter(failed).cloned().collect(),
        checks,
        history: explanation.history.iter().map(change).collect(),
        hold: row.hold().map(|hold| ExplainedHold {
            queue: visible::queue(books, caller, hold.top)
                .then(|| books.queue(hold.top).path.to_string()),
            since: time(hold.since),
            until: time(books.hold_ends_at(explanation.ask, hold)),
        }),
        ..Explanation::default()
    }
}

fn change(mark: &WaitChange) -> VerdictChange {
    VerdictChange { at: time(mark.at), sequence: mark.sequence, id: mark.code.as_str().to_owned() }
}

const fn state(verdict: Verdict) -> ExplainedState {
    match verdict {
        Verdict::Allocated => ExplainedState::Allocated,
        Verdict::StartsNext => ExplainedState::StartsNext,
        Verdict::Waiting => ExplainedState::Waiting,
        Verdict::Impossible => ExplainedState::Impossible,
        Verdict::HeldBack => ExplainedState::HeldBack,
    }
}
