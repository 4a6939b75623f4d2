//! A directory query for which several threads can wait.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Answer;

/// A query that one thread makes, and for which other threads wait.
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
    /// Answers all waiting threads. Only the first answer counts.
    pub(super) fn answer(&self, answer: Answer) {
        self.state().answer.get_or_insert(answer);
        self.answered.notify_all();
    }

    /// Waits for the answer of the querying thread.
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

    /// Returns the number of waiting threads.
    pub(super) fn waiting(&self) -> usize {
        self.state().waiting
    }

    /// No code panics while it holds the lock, so the state is valid even if the lock is poisoned.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
