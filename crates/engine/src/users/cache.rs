//! Remembers who is in which groups, and asks a directory once for all who want to know.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use headroom_core::{Millis, Name, Timestamp};

use super::entry::Entries;
use super::question::Question;
use super::{Answer, Directory, Entry, LookupFailure, UserError, UserInfo};

/// Bounds of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// How often entries that are too old are taken away.
    pub clean_every: Millis,
    /// The most memory that entries may take, estimated. When it is used up, entries leave
    /// to make room: failures before others, the oldest first. A user who left is looked up
    /// again when wanted. An entry that alone is larger is not stored.
    pub bytes_max: usize,
}

impl Default for CacheSettings {
    /// Every minute; 64 MiB, which is about 150,000 users with two groups each.
    fn default() -> Self {
        Self { clean_every: Millis::from_secs(60), bytes_max: 64 << 20 }
    }
}

/// Who is in which groups, as far as it was asked for lately. One per partition.
pub struct UserCache {
    directory: Box<dyn Directory>,
    clean_every: Millis,
    state: Mutex<State>,
}

struct State {
    entries: Entries,
    /// Who is being looked up. A question whose user meanwhile sent groups is no longer here,
    /// and its answer is not remembered: what was sent is newer than what was asked.
    asking: BTreeMap<Name, Arc<Question>>,
    clean_at: Timestamp,
}

/// Where the answer to a lookup comes from.
enum Source {
    Memory(Answer),
    /// Another thread asks.
    Other(Arc<Question>),
    /// This thread has to ask.
    Directory(Arc<Question>),
}

impl UserCache {
    /// An empty cache in front of `directory`, to be cleaned for the first time one period
    /// after `now`.
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

    /// The groups of `user`: remembered if they are younger than 300 s, else asked for.
    /// A failure is repeated as long as it is remembered, which is until the first cleaning
    /// more than 30 s later.
    ///
    /// Blocks while the directory is asked, or another thread asks it for the same user.
    ///
    /// # Errors
    /// When `user` is empty, which is not remembered, or the directory has no complete answer.
    ///
    /// # Panics
    /// When the directory does. Others who wait for the same user get
    /// [`LookupFailure::BrokenOff`], nothing is remembered, and the next lookup asks again.
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

    /// Clean if it is time to.
    ///
    /// Returns when it will be time again; the owner of the cache calls this then.
    pub fn tick(&self, now: Timestamp) -> Timestamp {
        let mut state = self.state();
        // After the wall clock stepped back, the next turn is not further off than ever.
        state.clean_at = state.clean_at.min(now + self.clean_every);
        if now >= state.clean_at {
            state.entries.clean(now);
            state.clean_at = now + self.clean_every;
        }
        state.clean_at
    }

    /// What is remembered of `user`, whatever its age.
    pub fn entry(&self, user: &str) -> Option<Entry> {
        self.state().entries.get(user).cloned()
    }

    /// Memory that entries take, estimated; never more than the settings allow.
    pub fn bytes(&self) -> usize {
        self.state().entries.bytes()
    }

    /// How many threads wait for another one to look `user` up.
    pub fn waiting(&self, user: &str) -> usize {
        let question = self.state().asking.get(user).map(Arc::clone);
        question.map_or(0, |question| question.waiting())
    }

    /// Remember that `user` is in these groups.
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

    /// Ask the directory, without a lock, for everybody who waits for `question`.
    fn ask(&self, user: &Name, question: Arc<Question>, now: Timestamp) -> Answer {
        let asking = Asking { cache: self, user, question };
        let answer = self.directory.look_up(user);
        asking.end(answer.clone(), Some(now));
        answer
    }

    /// Nothing of ours panics while it is locked, so a poisoned lock holds what it should.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for UserCache {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("UserCache").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

/// Nobody is left waiting, whatever becomes of the thread that asks.
struct Asking<'a> {
    cache: &'a UserCache,
    user: &'a Name,
    question: Arc<Question>,
}

impl Asking<'_> {
    /// Give the answer to all who wait; remember it if `found` says when.
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
    /// Without effect after an answer; after a panic it is the answer.
    fn drop(&mut self) {
        self.end(Answer::failed(LookupFailure::BrokenOff), None);
    }
}
