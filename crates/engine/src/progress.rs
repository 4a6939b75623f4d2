//! Progress of published data, for readers that wait for more, and its end.

use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    reached: u64,
    ended: bool,
}

/// Publishes the progress.
#[derive(Debug)]
pub(crate) struct Progress(watch::Sender<State>);

impl Progress {
    pub(crate) fn new(reached: u64) -> Self {
        Self(watch::Sender::new(State { reached, ended: false }))
    }

    pub(crate) fn reached(&self) -> u64 {
        self.0.borrow().reached
    }

    pub(crate) fn reach(&self, reached: u64) {
        self.0.send_if_modified(|state| std::mem::replace(&mut state.reached, reached) != reached);
    }

    /// Publishes the end.
    pub(crate) fn end(&self) {
        self.0.send_modify(|state| state.ended = true);
    }

    pub(crate) fn watch(&self) -> Waiter {
        Waiter(self.0.subscribe())
    }
}

/// Waits for progress.
#[derive(Debug)]
pub(crate) struct Waiter(watch::Receiver<State>);

impl Waiter {
    /// Waits until the progress exceeds `known`. Returns `false` if the progress has ended.
    pub(crate) async fn beyond(&mut self, known: u64) -> bool {
        let come = |state: &State| state.ended || state.reached > known;
        self.0.wait_for(come).await.is_ok_and(|state| state.reached > known)
    }
}
