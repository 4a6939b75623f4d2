//! Sends an RM the results of its requests, and all other events, in one order.
//!
//! Both come from the same records. Records of the RM's own requests are read from the intake, together with
//! rejections. All other records are read from the feed. The notifier merges both by record number. Events before a
//! request are therefore sent before its answer, and later events after it.

use std::collections::VecDeque;
use std::sync::Arc;

use headroom_api::si::v1::AllocationResponse;
use headroom_core::Command;
use headroom_engine::{Entry, Follower, Outcome, Unavailable};
use tokio::sync::mpsc;
use tonic::Status;

use crate::convert::si::{RmUpdate, Step, answers, rm_update};

use super::intake::{Pending, Work};
use super::manager::Manager;
use super::message_queue::Coalesce as _;
use super::outbox::OutboundMessage;

/// Sends messages to one RM.
pub(super) struct RmNotifier {
    manager: Arc<Manager>,
    /// Identity in the origin of entries that its requests caused.
    identity: String,
    pendings: mpsc::Receiver<Pending>,
    follower: Follower,
    /// Entries that were read, but not reported.
    ahead: VecDeque<Arc<Entry>>,
    /// The last reported entry that a request of this RM caused.
    settled: u64,
}

impl RmNotifier {
    /// Returns a notifier for entries from this number on, and for results from the intake.
    pub(super) fn new(
        manager: Arc<Manager>,
        identity: String,
        pendings: mpsc::Receiver<Pending>,
        from: u64,
    ) -> Self {
        let follower = manager.handle().feed().follow(from);
        Self { manager, identity, pendings, follower, ahead: VecDeque::new(), settled: 0 }
    }

    /// Runs until the registration ends.
    pub(super) async fn run(mut self) {
        let manager = Arc::clone(&self.manager);
        tokio::select! {
            why = self.tell_all() => manager.end(&why),
            _ = manager.over() => {}
        }
    }

    /// Sends everything until an error. Returns the error.
    async fn tell_all(&mut self) -> Status {
        loop {
            if let Err(why) = self.tell_next().await {
                return why;
            }
        }
    }

    async fn tell_next(&mut self) -> Result<(), Status> {
        tokio::select! {
            pending = self.pendings.recv() => match pending {
                Some(pending) => self.settle(pending).await,
                None => Err(Status::aborted("the registration of this resource manager has ended. \
                                             Register again")),
            },
            entry = next_entry(&mut self.ahead, &mut self.follower) => {
                let entry = entry?;
                if !self.is_own(&entry) {
                    return self.tell_of(&entry);
                }
                // The position of this entry is that of the request that caused it.
                while self.settled < entry.record.sequence {
                    let pending = self.pendings.recv().await;
                    let ended = || Status::aborted("the registration of this resource manager has \
                                                    ended. Register again");
                    self.settle(pending.ok_or_else(ended)?).await?;
                }
                Ok(())
            }
        }
    }

    fn is_own(&self, entry: &Entry) -> bool {
        entry.record.origin.as_ref().is_some_and(|origin| origin.identity == self.identity)
    }

    /// Reports the result of a request after all earlier events.
    async fn settle(&mut self, pending: Pending) -> Result<(), Status> {
        let seq = pending.seq;
        match pending.work {
            Work::Commands(steps, answer) => {
                let outcomes = answer.await.map_err(|error| unavailable(&error))?;
                self.answer(&steps, &outcomes).await?;
            }
            Work::Say(what) => {
                if let Some(say) = what {
                    // After everything that had happened by now.
                    let newest = self.manager.handle().feed().newest();
                    self.catch_up(newest + 1).await?;
                    self.manager.outbox.note_applied(seq);
                    self.say(*say)?;
                }
            }
        }
        self.manager.outbox.note_applied(seq);
        Ok(())
    }

    async fn answer(&mut self, steps: &[Step], outcomes: &[Outcome]) -> Result<(), Status> {
        let entries = outcomes.iter().flatten().filter_map(|one| one.entry.as_ref());
        let numbers: Vec<u64> = entries.map(|entry| entry.record.sequence).collect();
        if let (Some(first), Some(last)) = (numbers.first(), numbers.last()) {
            self.catch_up(*first).await?;
            self.settled = *last;
        }
        self.tell_together(answers(self.manager.id(), steps, outcomes))
    }

    /// Reports all entries before this published entry.
    async fn catch_up(&mut self, sequence: u64) -> Result<(), Status> {
        loop {
            let next = self.ahead.front().map(|entry| entry.record.sequence);
            if next.unwrap_or_else(|| self.follower.position()) >= sequence {
                return Ok(());
            }
            let entry = next_entry(&mut self.ahead, &mut self.follower).await?;
            if !self.is_own(&entry) {
                self.tell_of(&entry)?;
            }
        }
    }

    fn tell_of(&self, entry: &Entry) -> Result<(), Status> {
        if let Some(Command::SetQuestions { partition, .. }) = &entry.record.command {
            // Open questions of the partition are dropped.
            self.manager.asking.forget(partition);
        }
        let (rm, time) = (self.manager.id(), entry.record.time);
        self.tell_together(entry.notices.iter().map(|notice| rm_update(rm, time, notice)))
    }

    /// Reports events that happened at once. Merges messages if possible, regardless of the speed of the reader.
    fn tell_together(&self, all: impl IntoIterator<Item = RmUpdate>) -> Result<(), Status> {
        let mut held: Option<AllocationResponse> = None;
        for update in all {
            let update = match (update, &mut held) {
                (RmUpdate::Allocation(one), Some(last)) => match last.absorb(one) {
                    Ok(()) => continue,
                    Err(one) => RmUpdate::Allocation(one),
                },
                (update, _) => update,
            };
            if let Some(before) = held.take() {
                self.say(OutboundMessage::Allocation(before))?;
            }
            match update {
                RmUpdate::Allocation(one) => held = Some(one),
                update => self.tell(update)?,
            }
        }
        held.map_or(Ok(()), |last| self.say(OutboundMessage::Allocation(last)))
    }

    fn tell(&self, update: RmUpdate) -> Result<(), Status> {
        match update {
            RmUpdate::Application(one) => self.say(OutboundMessage::Application(one)),
            RmUpdate::Allocation(one) => self.say(OutboundMessage::Allocation(one)),
            RmUpdate::Node(one) => self.say(OutboundMessage::Node(one)),
            RmUpdate::ContainerState(one) => {
                self.manager.asking.waiting.note(one);
                Ok(())
            }
            RmUpdate::Asked(partition, asked) => {
                self.manager.asking.put(&self.manager, partition, *asked);
                Ok(())
            }
        }
    }

    fn say(&self, say: OutboundMessage) -> Result<(), Status> {
        self.manager.outbox.push(say).map_err(|_| {
            Status::resource_exhausted(
                "too many messages wait for this resource manager, which was too slow or \
                 disconnected too long. Register again",
            )
        })
    }
}

/// Waits for the next entry of the feed, and returns it.
async fn next_entry(
    ahead: &mut VecDeque<Arc<Entry>>,
    follower: &mut Follower,
) -> Result<Arc<Entry>, Status> {
    loop {
        if let Some(entry) = ahead.pop_front() {
            return Ok(entry);
        }
        match follower.next().await {
            Ok(Some(entries)) => ahead.extend(entries),
            Ok(None) => return Err(Status::unavailable("the scheduler is shutting down")),
            Err(too_old) => {
                return Err(Status::resource_exhausted(format!("{too_old} Register again")));
            }
        }
    }
}

/// Returns the status if the engine accepts no commands.
pub(super) fn unavailable(error: &Unavailable) -> Status {
    Status::unavailable(error.to_string())
}
