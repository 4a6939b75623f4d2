//! Questions to an RM, and messages in addition to the answers to its requests. Scheduler interface §9, §12.4.
//!
//! A question of the scheduler arrives as a record and is answered by a command. If the RM does not support a question,
//! this module answers it: every node is suitable, except nodes that a constraint of the ask excludes. If an answer
//! does not arrive in time, no node is suitable in this attempt. After three missing answers in a row, the RM is
//! paused, and its questions stay open until it answers.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use headroom_api::si::headroom::callback_reply::Answer;
use headroom_api::si::headroom::callback_request::Question;
use headroom_api::si::headroom::callback_scheduler_message::Content;
use headroom_api::si::headroom::scheduler_message;
use headroom_api::si::headroom::state_dump::Outcome;
use headroom_api::si::headroom::{
    CallbackReply, CallbackRequest, Capabilities, StateDump, StateDumpRequest,
};
use headroom_core::books::Questions;
use headroom_core::{Command, Name};
use headroom_engine::{RmQuestion, Submission};
use tokio::sync::{Notify, oneshot};
use tonic::Status;

use crate::convert::si::{Inquiry, Part};

use super::background::spawn;
use super::constraints::{ConstraintsOf, refusing};
use super::manager::Manager;
use super::message_queue::{Coalesce, MessageQueue, Overflow};
use super::outbox::{OutboundMessage, Outbox};
use super::settings::Settings;
use super::watching::Waiting;

/// Number of missing answers in a row after which the RM is paused. Source: scheduler interface §12.4.
const SILENCES_MAX: u32 = 3;

impl Coalesce for Content {
    fn absorb(&mut self, next: Self) -> Result<(), Self> {
        Err(next)
    }
}

/// The questions to an RM.
pub(super) struct RmQuestions {
    state: Mutex<State>,
    /// Queue for the question stream of the published interface.
    pub(super) lane: MessageQueue<Content>,
    /// Node constraints of its asks.
    pub(super) constraints: ConstraintsOf,
    /// Notified after the RM has declared which messages it wants to receive.
    pub(super) attached: Notify,
    /// Asks that more nodes would help.
    pub(super) waiting: Waiting,
    answer_within: Duration,
}

#[derive(Default)]
struct State {
    /// Last declaration of the RM: questions that it answers, and messages that it wants to receive.
    capabilities: Capabilities,
    /// Open questions, by number.
    open: BTreeMap<u64, Open>,
    /// Requests without an answer, by the ID of the request.
    sent: BTreeMap<u64, Sent>,
    last_id: u64,
    /// Number of missing answers since the last received answer.
    silences: u32,
    /// Nodes whose verdicts become void after a while, with their partitions.
    stale: BTreeSet<(Name, Name)>,
}

struct Open {
    inquiry: Inquiry,
    /// Parts that the RM has not answered yet.
    parts: Vec<Part>,
}

enum Sent {
    /// Number of the question, and its part.
    Part(u64, Part),
    Dump(oneshot::Sender<Result<String, String>>),
}

impl RmQuestions {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            state: Mutex::default(),
            lane: MessageQueue::new(settings.messages_held),
            constraints: ConstraintsOf::default(),
            attached: Notify::new(),
            waiting: Waiting::default(),
            answer_within: settings.answer_within,
        }
    }

    /// Sets the questions that the RM answers, and the messages that the RM wants to receive.
    pub(super) fn set_capabilities(&self, capabilities: Capabilities) {
        let mut state = self.state();
        (state.capabilities, state.silences) = (capabilities, 0);
        // Questions from a previous stream are sent again on this one, or dropped.
        state.sent.clear();
        drop(state);
        self.waiting.seed();
        self.attached.notify_one();
    }

    /// Returns the questions that the RM answers, and the messages that the RM wants to receive.
    pub(super) fn capabilities(&self) -> Capabilities {
        self.state().capabilities
    }

    /// Returns the questions that the scheduler asks. `None` if every node suits every ask.
    pub(super) fn questions(&self) -> Option<Questions> {
        let capabilities = self.capabilities();
        let constrained = !self.constraints.is_empty();
        let victims = capabilities.preemption_predicates || constrained;
        let wanted = u16::try_from(capabilities.questions_at_once).ok().and_then(NonZeroU16::new);
        let at_once = wanted.map_or(Questions::AT_ONCE, |wanted| wanted.min(Questions::AT_ONCE));
        (capabilities.predicates || victims).then_some(Questions { victims, at_once })
    }

    /// Handles a question of the scheduler.
    pub(super) fn put(&self, manager: &Arc<Manager>, partition: Name, asked: RmQuestion) {
        let Some(constraint) = self.constraints.get(&partition, &asked.key) else {
            return self.take_in(manager, partition, asked, |_| None);
        };
        // The question might be about a node that no view has yet.
        let manager = Arc::clone(manager);
        spawn(async move {
            let view = manager.handle().views().at_least(0).await;
            let refuse = refusing(&constraint, &view.books, &partition);
            manager.asking.take_in(&manager, partition.clone(), asked, refuse);
        });
    }

    fn take_in(
        &self,
        manager: &Arc<Manager>,
        partition: Name,
        asked: RmQuestion,
        refuse: impl Fn(&Name) -> Option<Name>,
    ) {
        let number = asked.question;
        let (inquiry, parts) = Inquiry::of(partition, asked, self.capabilities(), refuse);
        self.state().open.insert(number, Open { inquiry, parts });
        if !manager.holds_questions() {
            self.ask(manager, number);
        }
    }

    /// Drops all questions about this partition.
    pub(super) fn forget(&self, partition: &Name) {
        let State { open, sent, .. } = &mut *self.state();
        open.retain(|_, one| one.inquiry.partition() != partition);
        sent.retain(|_, one| match one {
            Sent::Part(number, _) => open.contains_key(number),
            Sent::Dump(_) => true,
        });
    }

    /// Sends all open questions.
    pub(super) fn ask_all(&self, manager: &Arc<Manager>) {
        let numbers: Vec<u64> = self.state().open.keys().copied().collect();
        for number in numbers {
            self.ask(manager, number);
        }
    }

    /// Sends the unanswered parts of a question to the RM. If all parts are answered, answers the question.
    fn ask(&self, manager: &Arc<Manager>, number: u64) {
        let mut requests = Vec::new();
        {
            let mut state = self.state();
            let Some(open) = state.open.get(&number) else { return };
            let parts: Vec<(Part, Question)> =
                open.parts.iter().map(|one| (one.clone(), open.inquiry.ask(one))).collect();
            for (part, question) in parts {
                state.last_id += 1;
                let id = state.last_id;
                state.sent.insert(id, Sent::Part(number, part));
                requests.push((id, question));
            }
        }
        if requests.is_empty() {
            self.settle(manager, number);
        }
        for (id, question) in requests {
            self.send_request(manager, id, question);
        }
    }

    fn send_request(&self, manager: &Arc<Manager>, id: u64, question: Question) {
        let within = self.answer_within;
        let deadline_ms = u32::try_from(within.as_millis()).unwrap_or(u32::MAX);
        let request = CallbackRequest { id, deadline_ms, question: Some(question) };
        // A message that cannot be sent counts as not answered in time.
        let _ = self.send(manager, Content::Request(request));
        let manager = Arc::clone(manager);
        spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(within) => manager.asking.miss(&manager, id),
                _ = manager.over() => {}
            }
        });
    }

    fn send(&self, manager: &Manager, content: Content) -> Result<(), Overflow> {
        match &manager.outbox {
            Outbox::Compat(_) => self.lane.push(content),
            outbox @ Outbox::Session(_) => {
                outbox.push(OutboundMessage::Session(as_session(content)))
            }
        }
    }

    /// Sends an optional message, which can be dropped under pressure. Returns whether the message was accepted.
    pub(super) fn offer(&self, manager: &Manager, content: Content) -> bool {
        match &manager.outbox {
            Outbox::Compat(_) => self.lane.offer(content),
            Outbox::Session(line) => line.offer(as_session(content)),
        }
    }

    /// Handles an answer of the RM. Any answer ends a pause for missing answers.
    pub(super) fn answer(&self, manager: &Arc<Manager>, reply: CallbackReply) {
        let sent = {
            let mut state = self.state();
            state.silences = 0;
            state.sent.remove(&reply.id)
        };
        match sent {
            Some(Sent::Part(number, part)) => {
                if !self.capabilities().predicates_cacheable {
                    // In another attempt, the answer might differ.
                    self.void_later(manager, number, &part);
                }
                self.note(manager, number, &part, |inquiry| inquiry.note(&part, reply.answer));
            }
            Some(Sent::Dump(asker)) => {
                // The caller might have disconnected.
                let _ = asker.send(dump_of(reply.answer));
            }
            // The answer is too late.
            None => {}
        }
        if manager.is_silent() {
            manager.set_away(|away| away.silent = false);
            self.ask_all(manager);
        }
    }

    /// Handles the timeout of a request, unless the request has an answer.
    fn miss(&self, manager: &Arc<Manager>, id: u64) {
        let silences = {
            let mut state = self.state();
            let Some(Sent::Part(..)) = state.sent.get(&id) else {
                state.sent.remove(&id);
                return;
            };
            if manager.is_away() {
                // The question is sent again when the RM is back.
                state.sent.remove(&id);
                return;
            }
            state.silences += 1;
            state.silences
        };
        let within = self.answer_within;
        tracing::warn!(
            rm = manager.id(),
            id,
            ?within,
            silences,
            "the resource manager did not answer in time"
        );
        let sent = self.state().sent.remove(&id);
        let Some(Sent::Part(number, part)) = sent else { return };
        if silences >= SILENCES_MAX {
            manager.set_away(|away| away.silent = true);
            self.knock_until_answered(manager);
            return;
        }
        let reason =
            format!("the resource manager did not answer within {} ms", within.as_millis());
        self.void_later(manager, number, &part);
        self.note(manager, number, &part, |inquiry| inquiry.refuse(&part, &reason));
    }

    /// Stores the answer to a part of a question. Answers the question once all parts have an answer.
    fn note(
        &self,
        manager: &Arc<Manager>,
        number: u64,
        part: &Part,
        note: impl FnOnce(&mut Inquiry),
    ) {
        let is_complete = {
            let mut state = self.state();
            let Some(open) = state.open.get_mut(&number) else { return };
            note(&mut open.inquiry);
            open.parts.retain(|one| one != part);
            open.parts.is_empty()
        };
        if is_complete {
            self.settle(manager, number);
        }
    }

    /// Answers a question whose parts all have an answer.
    fn settle(&self, manager: &Arc<Manager>, number: u64) {
        let Some(open) = self.state().open.remove(&number) else { return };
        submit(manager, vec![open.inquiry.verdicts()]);
    }

    /// Cancels verdicts about these nodes after a while, because a verdict applies to one attempt. Until then, a
    /// rejected ask waits, so that the RM does not get the same questions all the time.
    fn void_later(&self, manager: &Arc<Manager>, number: u64, part: &Part) {
        let is_first = {
            let mut state = self.state();
            let State { open, stale, .. } = &mut *state;
            let Some(open) = open.get(&number) else { return };
            let is_first = stale.is_empty();
            let partition = open.inquiry.partition();
            stale.extend(part.nodes().into_iter().map(|node| (partition.clone(), node)));
            is_first
        };
        if !is_first {
            return;
        }
        let (within, manager) = (self.answer_within, Arc::clone(manager));
        spawn(async move {
            tokio::time::sleep(within).await;
            let stale = std::mem::take(&mut manager.asking.state().stale);
            let void = |(partition, node)| Command::VoidVerdicts { partition, node };
            submit(&manager, stale.into_iter().map(void).collect());
        });
    }

    /// Sends a question to a silent RM at intervals, until it answers or its registration ends.
    fn knock_until_answered(&self, manager: &Arc<Manager>) {
        let (within, manager) = (self.answer_within, Arc::clone(manager));
        spawn(async move {
            while manager.is_silent() && !manager.is_over() {
                let asking = &manager.asking;
                let first = asking.state().open.keys().next().copied();
                match first {
                    Some(number) => asking.ask(&manager, number),
                    None => {
                        // Without open questions, the RM no longer counts as silent.
                        manager.set_away(|away| away.silent = false);
                    }
                }
                tokio::time::sleep(within).await;
            }
        });
    }

    /// Requests the RM's own state as JSON text. `None` if the RM does not support that.
    pub(super) async fn dump(&self, manager: &Arc<Manager>) -> Option<Result<String, String>> {
        if !self.capabilities().state_dump {
            return None;
        }
        let (asker, answered) = oneshot::channel();
        let id = {
            let mut state = self.state();
            state.last_id += 1;
            let id = state.last_id;
            state.sent.insert(id, Sent::Dump(asker));
            id
        };
        self.send_request(manager, id, Question::StateDump(StateDumpRequest {}));
        let silence = || {
            Err(format!(
                "the resource manager did not answer within {} ms",
                self.answer_within.as_millis()
            ))
        };
        Some(answered.await.unwrap_or_else(|_| silence()))
    }

    /// Ends all questions.
    pub(super) fn end(&self, why: &Status) {
        self.lane.end(why.clone());
        let mut state = self.state();
        (state.open, state.sent) = (BTreeMap::new(), BTreeMap::new());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Submits commands on behalf of an RM, and ignores their outcomes. A command that is too late changes nothing.
pub(super) fn submit(manager: &Arc<Manager>, commands: Vec<Command>) {
    if commands.is_empty() {
        return;
    }
    let manager = Arc::clone(manager);
    spawn(async move {
        let origin = Some(Arc::new(manager.own_origin()));
        let submission = |command| Submission { origin: origin.clone(), command };
        let submissions = commands.into_iter().map(submission).collect();
        // A stopped engine asks nothing more.
        let _ = manager.handle().submit_all(submissions).await;
    });
}

fn dump_of(answer: Option<Answer>) -> Result<String, String> {
    match answer {
        Some(Answer::StateDump(StateDump { outcome: Some(Outcome::Json(json)) })) => Ok(json),
        Some(Answer::StateDump(StateDump { outcome: Some(Outcome::Error(error)) })) => Err(error),
        _ => Err("the answer belongs to another question".to_owned()),
    }
}

/// Returns the same message for the session profile.
fn as_session(content: Content) -> scheduler_message::Content {
    match content {
        Content::Request(one) => scheduler_message::Content::CallbackRequest(one),
        Content::Events(one) => scheduler_message::Content::Events(one),
        Content::ContainerState(one) => scheduler_message::Content::ContainerState(one),
    }
}
