//! Cache of groups of users. Concurrent lookups of a user share one directory query.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_core::{Millis, Name, Timestamp};

use super::entry::Entries;
use super::question::Question;
use super::{Answer, Directory, Entry, LookupFailure, UserError, UserInfo};

/// Limits of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// Interval at which entries that are too old are removed.
    pub clean_every: Millis,
    /// Largest estimated memory of all entries. At the limit, entries are evicted: first failures, and then other
    /// entries, the oldest first. An evicted user is looked up again when needed. An entry that alone exceeds the limit
    /// is not stored.
    pub bytes_max: usize,
}

impl Default for CacheSettings {
    /// One minute, and 64 MiB, which is enough for about 150,000 users with two groups each.
    fn default() -> Self {
        Self { clean_every: Millis::from_secs(60), bytes_max: 64 << 20 }
    }
}

/// Cache of groups of users for a partition.
pub struct UserCache {
    directory: Box<dyn Directory>,
    clean_every: Millis,
    state: Mutex<State>,
}

struct State {
    entries: Entries,
    /// Users with a directory query in progress. If a user sends groups meanwhile, the query is removed from this map
    /// and its answer is not stored, because the sent groups are newer.
    asking: BTreeMap<Name, Arc<Question>>,
    clean_at: Timestamp,
}

/// Source of the answer to a lookup.
enum Source {
    Memory(Answer),
    /// Another thread queries the directory.
    Other(Arc<Question>),
    /// This thread queries the directory.
    Directory(Arc<Question>),
}

impl UserCache {
    /// Returns an empty cache for `directory`. The first cleaning is one interval after `now`.
    pub fn new(
        directory: impl Directory + 'static,
        settings: CacheSettings,
        now: Timestamp,
    ) -> Self {
        let CacheSettings { clean_every, bytes_max } = settings;
        let state = State {
            entries: Entries::new(bytes_max),
            asking: BTreeMap::new(),
            clean_at: now + clean_every,
        };
        Self { directory: Box::new(directory), clean_every, state: Mutex::new(state) }
    }

    /// Returns the groups of `user`. Uses the cache if its entry is younger than 300 s, and otherwise the directory. A
    /// failure is cached until the first cleaning more than 30 s later.
    ///
    /// Blocks while this or another thread queries the directory for the user.
    ///
    /// # Errors
    /// If `user` is empty (never cached), or the directory has no complete answer.
    ///
    /// # Panics
    /// If the directory panics. Other threads that wait for the same user get [`LookupFailure::BrokenOff`], nothing is
    /// cached, and the next lookup queries again.
    pub fn look_up(&self, user: &Name, now: Timestamp) -> Result<UserInfo, UserError> {
        if user.is_empty() {
            return Err(UserError::Empty);
        }
        let answer = match self.source_of(user, now) {
            Source::Memory(answer) => answer,
            Source::Other(question) => question.wait(),
            Source::Directory(question) => self.ask(user, question, now),
        };
        match answer.failure {
            None => Ok(UserInfo { name: user.clone(), groups: answer.groups }),
            Some(failure) => Err(UserError::Unresolved { user: user.clone(), failure }),
        }
    }

    /// Removes old entries, if a cleaning is due.
    ///
    /// Returns the time of the next cleaning, at which the owner has to call this again.
    pub fn tick(&self, now: Timestamp) -> Timestamp {
        let mut state = self.state();
        // If the clock was set back, the next cleaning is at most one interval away.
        state.clean_at = state.clean_at.min(now + self.clean_every);
        if now >= state.clean_at {
            state.entries.clean(now);
            state.clean_at = now + self.clean_every;
        }
        state.clean_at
    }

    /// Returns the entry of `user`, whatever its age.
    pub fn entry(&self, user: &str) -> Option<Entry> {
        self.state().entries.get(user).cloned()
    }

    /// Returns the estimated memory of the entries, which never exceeds the limit.
    pub fn bytes(&self) -> usize {
        self.state().entries.bytes()
    }

    /// Returns the number of threads that wait for a lookup of `user` by another thread.
    pub fn waiting(&self, user: &str) -> usize {
        let question = self.state().asking.get(user).map(Arc::clone);
        question.map_or(0, |question| question.waiting())
    }

    /// Stores that `user` is in these groups.
    pub(super) fn store(&self, user: Name, groups: Vec<Name>, now: Timestamp) -> UserInfo {
        let info = UserInfo { name: user.clone(), groups: groups.clone() };
        let mut state = self.state();
        state.asking.remove(&user);
        state.entries.put(Entry::new(user, Answer::complete(groups), now));
        info
    }

    fn source_of(&self, user: &Name, now: Timestamp) -> Source {
        let mut state = self.state();
        if let Some(Entry { groups, failure, .. }) = state.entries.recall(user, now) {
            return Source::Memory(Answer { groups: groups.clone(), failure: failure.clone() });
        }
        if let Some(question) = state.asking.get(user) {
            return Source::Other(Arc::clone(question));
        }
        let question = Arc::new(Question::default());
        state.asking.insert(user.clone(), Arc::clone(&question));
        Source::Directory(question)
    }

    /// Queries the directory, without a lock, on behalf of all threads that wait for `question`.
    fn ask(&self, user: &Name, question: Arc<Question>, now: Timestamp) -> Answer {
        let asking = Asking { cache: self, user, question };
        let answer = self.directory.look_up(user);
        asking.end(answer.clone(), Some(now));
        answer
    }

    /// No code panics while it holds the lock, so the state is valid even if the lock is poisoned.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for UserCache {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("UserCache").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

/// Ensures that all waiting threads get an answer, even if this thread panics.
struct Asking<'a> {
    cache: &'a UserCache,
    user: &'a Name,
    question: Arc<Question>,
}

impl Asking<'_> {
    /// Answers all waiting threads. Stores the answer if `found` has a time.
    fn end(&self, answer: Answer, found: Option<Timestamp>) {
        let mut state = self.cache.state();
        let current = state.asking.get(self.user);
        if current.is_some_and(|question| Arc::ptr_eq(question, &self.question)) {
            state.asking.remove(self.user);
            if let Some(now) = found {
                state.entries.put(Entry::new(self.user.clone(), answer.clone(), now));
            }
        }
        drop(state);
        self.question.answer(answer);
    }
}

impl Drop for Asking<'_> {
    /// Has no effect after an answer. After a panic, answers with a failure.
    fn drop(&mut self) {
        self.end(Answer::failed(LookupFailure::BrokenOff), None);
    }
}
