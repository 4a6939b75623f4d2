//! Entries of the cache of users, with their lifetime and their memory.

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::{Millis, Name, Timestamp};

use super::{Answer, LookupFailure};

/// Time for which groups are valid.
pub const POSITIVE_TTL: Millis = Millis::from_secs(300);

/// Minimum age of a failure. The next cleaning removes an older failure.
pub const FAILED_TTL: Millis = Millis::from_secs(30);

/// Memory of an entry in addition to its texts: its rows in two half-full trees, and the headers of its texts.
const ENTRY_BYTES: usize = 320;

/// Memory of a group in addition to its text.
const GROUP_BYTES: usize = 48;

/// Cached data of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name of the user.
    pub user: Name,
    /// Groups in order. After a failure, only the known groups.
    pub groups: Vec<Name>,
    /// Reason why the groups are incomplete. `None` if all groups are known.
    pub failure: Option<LookupFailure>,
    /// Time of the lookup, in whole seconds.
    pub resolved: Timestamp,
}

impl Entry {
    pub(super) fn new(user: Name, answer: Answer, now: Timestamp) -> Self {
        let Answer { groups, failure } = answer;
        Self { user, groups, failure, resolved: whole_seconds(now) }
    }

    /// Returns whether the entry still answers a lookup. A failure answers lookups as long as it is stored.
    fn counts(&self, now: Timestamp) -> bool {
        self.failure.is_some() || whole_seconds(now).since(self.resolved) < POSITIVE_TTL
    }

    /// Returns the rank for eviction: failures first, and then the oldest first.
    fn rank(&self) -> Rank {
        (self.failure.is_none(), self.resolved, self.user.clone())
    }

    fn bytes(&self) -> usize {
        let groups: usize = self.groups.iter().map(|group| GROUP_BYTES + group.len()).sum();
        let reason = match &self.failure {
            Some(LookupFailure::User { reason } | LookupFailure::Groups { reason }) => reason.len(),
            Some(LookupFailure::NoSuchUser | LookupFailure::BrokenOff) | None => 0,
        };
        ENTRY_BYTES + self.user.len() + groups + reason
    }
}

/// Whether the groups are complete, the time of the lookup, and the user.
type Rank = (bool, Timestamp, Name);

/// Entries by user, with a limit of their memory.
#[derive(Debug)]
pub(super) struct Entries {
    by_user: BTreeMap<Name, Entry>,
    by_rank: BTreeSet<Rank>,
    bytes: usize,
    bytes_max: usize,
}

impl Entries {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { by_user: BTreeMap::new(), by_rank: BTreeSet::new(), bytes: 0, bytes_max }
    }

    /// Returns the entry of `user`, whatever its age.
    pub(super) fn get(&self, user: &str) -> Option<&Entry> {
        self.by_user.get(user)
    }

    /// Returns the entry of `user` if it answers a lookup.
    pub(super) fn recall(&self, user: &str, now: Timestamp) -> Option<&Entry> {
        self.get(user).filter(|entry| entry.counts(now))
    }

    /// Stores an entry, which replaces the previous entry of the user. Evicts other entries if necessary. An entry that
    /// alone exceeds the limit is not stored.
    pub(super) fn put(&mut self, entry: Entry) {
        self.remove(&entry.user);
        let bytes = entry.bytes();
        if bytes > self.bytes_max {
            return;
        }
        while self.bytes > self.bytes_max - bytes {
            let (_, _, user) = self.by_rank.first().expect("bytes are those of entries").clone();
            self.remove(&user);
        }
        self.bytes += bytes;
        self.by_rank.insert(entry.rank());
        self.by_user.insert(entry.user.clone(), entry);
    }

    /// Removes entries that are too old.
    pub(super) fn clean(&mut self, now: Timestamp) {
        let now = whole_seconds(now);
        for (positive, ttl) in [(false, FAILED_TTL), (true, POSITIVE_TTL)] {
            while let Some(user) = self.oldest(positive).filter(|(_, age)| now.since(*age) > ttl) {
                self.remove(&user.0);
            }
        }
    }

    /// Returns the user with the oldest complete or failed entry, and its time.
    fn oldest(&self, positive: bool) -> Option<(Name, Timestamp)> {
        let from = (positive, Timestamp::ZERO, Name::default());
        let (kind, resolved, user) = self.by_rank.range(from..).next()?;
        (*kind == positive).then(|| (user.clone(), *resolved))
    }

    fn remove(&mut self, user: &str) {
        if let Some(entry) = self.by_user.remove(user) {
            self.by_rank.remove(&entry.rank());
            self.bytes -= entry.bytes();
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

fn whole_seconds(now: Timestamp) -> Timestamp {
    Timestamp::from_millis(now.as_millis() / 1_000 * 1_000)
}
