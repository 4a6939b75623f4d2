//! Bounded queue of messages to a client, in order, with one consumer at a time.
//!
//! Pushing never waits. A reconnected client gets the messages that arrived meanwhile. If the client is disconnected or
//! slow for too long, the queue overflows, and the client must start over.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tonic::Status;

/// Reason of the end of a stream that a newer stream replaced.
pub(super) const REPLACED: &str = "a newer stream of the same kind replaced this stream";

/// A message that can be merged with the next message until it is sent.
pub(super) trait Coalesce: Sized {
    /// Merges the next message into this message, or returns the next message.
    fn absorb(&mut self, next: Self) -> Result<(), Self>;
}

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overflow;

/// Messages for one stream of a client.
#[derive(Debug)]
pub(super) struct MessageQueue<M> {
    state: Mutex<State<M>>,
    changed: Notify,
    held_max: usize,
}

#[derive(Debug)]
struct State<M> {
    held: VecDeque<M>,
    /// Number of consumers so far. The last consumer is the current consumer.
    taker: u64,
    /// The last dismissed consumer, and the reason.
    dismissed: Option<(u64, Status)>,
    /// Reason why nothing more is sent.
    ended: Option<Status>,
}

/// The consumer of a queue, until another consumer replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Consumer(u64);

impl<M: Coalesce> MessageQueue<M> {
    /// Returns an empty queue for at most `held_max` messages.
    pub(super) fn new(held_max: usize) -> Self {
        let state = State { held: VecDeque::new(), taker: 0, dismissed: None, ended: None };
        Self { state: Mutex::new(state), changed: Notify::new(), held_max }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If the queue is full. The message is then lost.
    pub(super) fn push(&self, message: M) -> Result<(), Overflow> {
        let mut state = self.state();
        if state.ended.is_some() {
            return Ok(());
        }
        let rest = match state.held.back_mut() {
            Some(last) => last.absorb(message).err(),
            None => Some(message),
        };
        if let Some(message) = rest {
            if state.held.len() >= self.held_max {
                return Err(Overflow);
            }
            state.held.push_back(message);
        }
        drop(state);
        self.changed.notify_waiters();
        Ok(())
    }

    /// Sends an optional message, if the queue is less than half full. Returns whether the message was accepted.
    pub(super) fn offer(&self, message: M) -> bool {
        let has_room = self.state().held.len() < self.held_max / 2;
        has_room && self.push(message).is_ok()
    }

    /// Returns a new consumer, which replaces the previous consumer.
    pub(super) fn take_over(&self) -> Consumer {
        let mut state = self.state();
        state.taker += 1;
        let taker = Consumer(state.taker);
        drop(state);
        self.changed.notify_waiters();
        taker
    }

    /// Returns whether this is the current consumer.
    pub(super) fn is_taken_by(&self, taker: Consumer) -> bool {
        self.state().taker == taker.0
    }

    /// Dismisses this consumer for this reason. The messages wait for another consumer.
    pub(super) fn dismiss(&self, taker: Consumer, why: Status) {
        let mut state = self.state();
        if state.taker == taker.0 {
            state.taker += 1;
            state.dismissed = Some((taker.0, why));
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Ends the queue with this reason. Only the first call has an effect.
    pub(super) fn end(&self, why: Status) {
        let mut state = self.state();
        state.ended.get_or_insert(why);
        state.held.clear();
        drop(state);
        self.changed.notify_waiters();
    }

    /// Waits for the next message, and returns it.
    ///
    /// # Errors
    /// If another consumer replaced this consumer, or the queue has ended.
    pub(super) async fn next(&self, taker: Consumer) -> Result<M, Status> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            if let Some(next) = self.look(taker) {
                return next;
            }
            changed.await;
        }
    }

    /// Waits until this consumer is dismissed or the queue ends. Returns the reason.
    pub(super) async fn over(&self, taker: Consumer) -> Status {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(why) = Self::why_over(&self.state(), taker) {
                return why;
            }
            changed.await;
        }
    }

    fn look(&self, taker: Consumer) -> Option<Result<M, Status>> {
        let mut state = self.state();
        if let Some(why) = Self::why_over(&state, taker) {
            return Some(Err(why));
        }
        state.held.pop_front().map(Ok)
    }

    fn why_over(state: &State<M>, taker: Consumer) -> Option<Status> {
        if state.taker == taker.0 {
            return state.ended.clone();
        }
        let mine = state.dismissed.as_ref().filter(|(who, _)| *who == taker.0);
        Some(mine.map_or_else(|| Status::aborted(REPLACED), |(_, why)| why.clone()))
    }

    fn state(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    impl Coalesce for u32 {
        fn absorb(&mut self, next: Self) -> Result<(), Self> {
            // Two halves are merged into a whole.
            if *self == 5 && next == 5 {
                *self = 10;
                return Ok(());
            }
            Err(next)
        }
    }

    #[tokio::test]
    async fn messages_come_in_order_and_are_held_while_nobody_takes_them() {
        let lane = MessageQueue::new(2);
        assert_eq!([1, 5, 5].map(|one| lane.push(one)), [Ok(()); 3], "two halves are one message");
        assert_eq!(lane.push(2), Err(Overflow));
        let taker = lane.take_over();
        assert_eq!(lane.next(taker).await.unwrap(), 1);
        assert_eq!(lane.next(taker).await.unwrap(), 10);
        let (next, pushed) = tokio::join!(lane.next(taker), async { lane.push(3) });
        assert_eq!((next.unwrap(), pushed), (3, Ok(())));
    }

    #[tokio::test]
    async fn who_takes_over_gets_what_comes_and_the_one_before_is_told() {
        let lane = MessageQueue::<u32>::new(2);
        let (first, second) = (lane.take_over(), lane.take_over());
        assert_eq!(lane.push(1), Ok(()));
        assert_eq!(lane.next(first).await.unwrap_err().code(), Code::Aborted);
        assert_eq!(lane.next(second).await.unwrap(), 1);
        assert!(!lane.is_taken_by(first) && lane.is_taken_by(second));
        let (over, ()) = tokio::join!(lane.over(second), async {
            lane.end(Status::unavailable("it ends"));
            lane.end(Status::internal("too late"));
        });
        assert_eq!(over.code(), Code::Unavailable);
        assert_eq!(lane.next(second).await.unwrap_err().code(), Code::Unavailable);
    }

    #[tokio::test]
    async fn who_is_sent_away_is_told_why_and_another_finds_what_is_held() {
        let lane = MessageQueue::<u32>::new(2);
        let first = lane.take_over();
        assert_eq!(lane.push(1), Ok(()));
        lane.dismiss(first, Status::invalid_argument("no"));
        assert_eq!(lane.next(first).await.unwrap_err().code(), Code::InvalidArgument);
        assert!(!lane.is_taken_by(first));
        let second = lane.take_over();
        lane.dismiss(first, Status::internal("gone already"));
        assert_eq!(lane.next(second).await.unwrap(), 1);
    }
}
