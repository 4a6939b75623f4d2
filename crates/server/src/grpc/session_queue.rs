//! The message queue of the session profile. Messages have numbers, and are stored until the RM acknowledges them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use headroom_api::si::headroom::SchedulerMessage;
use headroom_api::si::headroom::scheduler_message::Content;
use tokio::sync::Notify;
use tonic::Status;

use super::message_queue::{Coalesce as _, Overflow, REPLACED};

/// Messages for the stream of a session.
#[derive(Debug)]
pub(super) struct SessionQueue {
    state: Mutex<State>,
    changed: Notify,
    held_max: usize,
    /// Number of the last message of the RM that was passed on. The task that passes on messages holds the lock.
    pub(super) receiving: tokio::sync::Mutex<u64>,
}

#[derive(Debug, Default)]
struct State {
    /// Messages without a number yet.
    unsent: VecDeque<Content>,
    /// Messages that were sent and not acknowledged.
    sent: VecDeque<(u64, Content)>,
    /// Number of these that were sent on the current stream.
    repeated: usize,
    /// Number of the last sent message.
    last: u64,
    /// Number of the last message of the RM whose results are all reported.
    applied: u64,
    /// Number of streams so far. The last stream is the current stream.
    taker: u64,
    /// The last dismissed stream, and the reason.
    dismissed: Option<(u64, Status)>,
    /// Reason why nothing more is sent.
    ended: Option<Status>,
}

impl SessionQueue {
    /// Returns an empty queue for at most `held_max` messages, including messages that are not acknowledged.
    pub(super) fn new(held_max: usize) -> Self {
        let receiving = tokio::sync::Mutex::default();
        Self { state: Mutex::default(), changed: Notify::new(), held_max, receiving }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the queue is full. The message is then lost.
    pub(super) fn push(&self, content: Content) -> Result<(), Overflow> {
        let mut state = self.state();
        if state.ended.is_some() {
            return Ok(());
        }
        let rest = match state.unsent.back_mut() {
            Some(last) => absorb(last, content),
            None => Some(content),
        };
        if let Some(content) = rest {
            if state.held() >= self.held_max {
                return Err(Overflow);
            }
            state.unsent.push_back(content);
        }
        drop(state);
        self.changed.notify_waiters();
        Ok(())
    }

    /// Sends an optional message, if the queue is less than half full. Returns whether the message was accepted.
    pub(super) fn offer(&self, content: Content) -> bool {
        let has_room = self.state().held() < self.held_max / 2;
        has_room && self.push(content).is_ok()
    }

    /// Replaces the current stream by a new stream, whose RM has processed all messages up to this number.
    ///
    /// # Errors
    /// If no message has this number.
    pub(super) fn take_over(&self, processed: u64) -> Result<u64, Status> {
        let mut state = self.state();
        state.acknowledge(processed)?;
        state.repeated = 0;
        state.taker += 1;
        let taker = state.taker;
        drop(state);
        self.changed.notify_waiters();
        Ok(taker)
    }

    /// Stores that the RM has processed all messages up to this number.
    ///
    /// # Errors
    /// If no message has that number.
    pub(super) fn acknowledge(&self, processed: u64) -> Result<(), Status> {
        self.state().acknowledge(processed)
    }

    /// Returns whether this is the current stream.
    pub(super) fn is_taken_by(&self, taker: u64) -> bool {
        self.state().taker == taker
    }

    /// Ends a stream with this reason. The messages wait for another stream.
    pub(super) fn dismiss(&self, taker: u64, why: Status) {
        let mut state = self.state();
        if state.taker == taker {
            state.taker += 1;
            state.dismissed = Some((taker, why));
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Stores that all messages of the RM up to this number are applied and reported.
    pub(super) fn note_applied(&self, seq: u64) {
        let mut state = self.state();
        state.applied = state.applied.max(seq);
    }

    /// Returns the number of the last message of the RM that is applied and reported.
    pub(super) fn applied(&self) -> u64 {
        self.state().applied
    }

    /// Ends the queue with this reason. Only the first call has an effect.
    pub(super) fn end(&self, why: Status) {
        let mut state = self.state();
        state.ended.get_or_insert(why);
        (state.unsent, state.sent, state.repeated) = (VecDeque::new(), VecDeque::new(), 0);
        drop(state);
        self.changed.notify_waiters();
    }

    /// Waits for the next message, and returns it.
    ///
    /// # Errors
    /// If another stream replaced this stream, or the queue has ended.
    pub(super) async fn next(&self, taker: u64) -> Result<SchedulerMessage, Status> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let mut state = self.state();
                if let Some(why) = state.why_over(taker) {
                    return Err(why);
                }
                if let Some(message) = state.take() {
                    return Ok(message);
                }
            }
            changed.await;
        }
    }

    /// Waits until this stream is replaced or ended. Returns the reason.
    pub(super) async fn over(&self, taker: u64) -> Status {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(why) = self.state().why_over(taker) {
                return why;
            }
            changed.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn held(&self) -> usize {
        self.unsent.len() + self.sent.len()
    }

    fn acknowledge(&mut self, processed: u64) -> Result<(), Status> {
        if processed > self.last {
            return Err(Status::invalid_argument(format!(
                "ackSeq is {processed}, but the last message that the scheduler sent has seq {}",
                self.last
            )));
        }
        while self.sent.front().is_some_and(|(seq, _)| *seq <= processed) {
            self.sent.pop_front();
            self.repeated = self.repeated.saturating_sub(1);
        }
        Ok(())
    }

    fn take(&mut self) -> Option<SchedulerMessage> {
        if self.repeated == self.sent.len() {
            let content = self.unsent.pop_front()?;
            self.last += 1;
            self.sent.push_back((self.last, content));
        }
        let (seq, content) = self.sent.get(self.repeated)?.clone();
        self.repeated += 1;
        Some(SchedulerMessage { seq, ack_seq: self.applied, content: Some(content) })
    }

    fn why_over(&self, taker: u64) -> Option<Status> {
        if self.taker == taker {
            return self.ended.clone();
        }
        let mine = self.dismissed.as_ref().filter(|(who, _)| *who == taker);
        Some(mine.map_or_else(|| Status::aborted(REPLACED), |(_, why)| why.clone()))
    }
}

/// Merges the next message into the last message, or returns the next message.
fn absorb(last: &mut Content, next: Content) -> Option<Content> {
    match (last, next) {
        (Content::Allocation(last), Content::Allocation(next)) => {
            last.absorb(next).err().map(Content::Allocation)
        }
        (_, next) => Some(next),
    }
}

#[cfg(test)]
mod tests {
    use headroom_api::si::headroom::Pong;

    use super::*;

    fn pong(id: u64) -> Content {
        Content::Pong(Pong { id })
    }

    async fn numbers(line: &SessionQueue, taker: u64, count: usize) -> Vec<(u64, u64)> {
        let mut numbers = Vec::new();
        for _ in 0..count {
            let message = line.next(taker).await.unwrap();
            let Some(Content::Pong(Pong { id })) = message.content else { panic!("{message:?}") };
            numbers.push((message.seq, id));
        }
        numbers
    }

    #[tokio::test]
    async fn a_new_stream_gets_again_what_was_not_acknowledged_and_nothing_else() {
        let line = SessionQueue::new(8);
        let first = line.take_over(0).unwrap();
        for id in [11, 12, 13] {
            line.push(pong(id)).unwrap();
        }
        assert_eq!(numbers(&line, first, 3).await, [(1, 11), (2, 12), (3, 13)]);
        line.push(pong(14)).unwrap();
        let second = line.take_over(2).unwrap();
        assert_eq!(line.next(first).await.unwrap_err().code(), tonic::Code::Aborted);
        assert_eq!(numbers(&line, second, 2).await, [(3, 13), (4, 14)]);
        line.acknowledge(4).unwrap();
        line.push(pong(15)).unwrap();
        assert_eq!(numbers(&line, second, 1).await, [(5, 15)]);
        assert_eq!(line.acknowledge(9).unwrap_err().code(), tonic::Code::InvalidArgument);
    }

    #[test]
    fn what_is_not_acknowledged_counts_as_held_and_what_may_be_lost_goes_first() {
        let line = SessionQueue::new(4);
        assert!(line.offer(pong(1)) && line.offer(pong(2)));
        assert!(!line.offer(pong(3)), "half of the room is for what may not be lost");
        assert_eq!([line.push(pong(4)), line.push(pong(5))], [Ok(()), Ok(())]);
        assert_eq!(line.push(pong(6)), Err(Overflow));
    }
}
