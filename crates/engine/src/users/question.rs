//! One question to a directory, for which any number of threads may wait.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Answer;

/// A question that one thread asks; the others wait for its answer.
#[derive(Debug, Default)]
pub(super) struct Question {
    state: Mutex<State>,
    answered: Condvar,
}

#[derive(Debug, Default)]
struct State {
    answer: Option<Answer>,
    waiting: usize,
}

impl Question {
    /// Give everybody the answer; the first one counts.
    pub(super) fn answer(&self, answer: Answer) {
        self.state().answer.get_or_insert(answer);
        self.answered.notify_all();
    }

    /// Wait until the asking thread has the answer.
    pub(super) fn wait(&self) -> Answer {
        let mut state = self.state();
        state.waiting += 1;
        loop {
            if let Some(answer) = state.answer.clone() {
                state.waiting -= 1;
                return answer;
            }
            state = self.answered.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How many threads wait.
    pub(super) fn waiting(&self) -> usize {
        self.state().waiting
    }

    /// Nothing panics while it is locked, so a poisoned lock holds what it should.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
