//! What is to be sent to a client, in order, bounded; and who takes it.
//!
//! The sender into a lane never waits. A client that is away finds what came in the meantime; one
//! that is away or slow for too long has lost its place.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tonic::Status;

/// The error of a stream when another has come.
pub(super) const REPLACED: &str = "a newer stream of the same kind replaced this stream";

/// A message that may take in the one that follows it, as long as nobody has taken it.
pub(super) trait Coalesce: Sized {
    /// Take in the next message, or give it back.
    fn absorb(&mut self, next: Self) -> Result<(), Self>;
}

/// More was to be held than may be.
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
    /// Counts who took from it; the last one does now.
    taker: u64,
    /// Who was sent away last, and why.
    dismissed: Option<(u64, Status)>,
    /// Why nothing more is sent.
    ended: Option<Status>,
}

/// Who takes from a lane, until another does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Consumer(u64);

impl<M: Coalesce> MessageQueue<M> {
    /// An empty lane that holds so many messages at most.
    pub(super) fn new(held_max: usize) -> Self {
        let state = State { held: VecDeque::new(), taker: 0, dismissed: None, ended: None };
        Self { state: Mutex::new(state), changed: Notify::new(), held_max }
    }

    /// Send a message.
    ///
    /// # Errors
    /// When too many are held; it is lost then.
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

    /// Send what may be lost, if there is plenty of room; whether it is sent.
    pub(super) fn offer(&self, message: M) -> bool {
        let has_room = self.state().held.len() < self.held_max / 2;
        has_room && self.push(message).is_ok()
    }

    /// Take from it from now on, in the place of the previous consumer.
    pub(super) fn take_over(&self) -> Consumer {
        let mut state = self.state();
        state.taker += 1;
        let taker = Consumer(state.taker);
        drop(state);
        self.changed.notify_waiters();
        taker
    }

    /// Whether this is who takes from it.
    pub(super) fn is_taken_by(&self, taker: Consumer) -> bool {
        self.state().taker == taker.0
    }

    /// Send away who takes from it, for this reason. What is held waits for another.
    pub(super) fn dismiss(&self, taker: Consumer, why: Status) {
        let mut state = self.state();
        if state.taker == taker.0 {
            state.taker += 1;
            state.dismissed = Some((taker.0, why));
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Nothing more is sent, for this reason; the first one counts.
    pub(super) fn end(&self, why: Status) {
        let mut state = self.state();
        state.ended.get_or_insert(why);
        state.held.clear();
        drop(state);
        self.changed.notify_waiters();
    }

    /// The next message; waits for it.
    ///
    /// # Errors
    /// When another takes from it now, or nothing more is sent.
    pub(super) async fn next(&self, taker: Consumer) -> Result<M, Status> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on a change is noticed.
            changed.as_mut().enable();
            if let Some(next) = self.look(taker) {
                return next;
            }
            changed.await;
        }
    }

    /// Wait until this one may take from it no more, and say why.
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
            // Two halves make a whole.
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
