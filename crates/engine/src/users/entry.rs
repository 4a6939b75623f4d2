//! What is remembered of users: for how long, and how much of it.

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::{Millis, Name, Timestamp};

use super::{Answer, LookupFailure};

/// How long groups count as known.
pub const POSITIVE_TTL: Millis = Millis::from_secs(300);

/// The minimum age of a failure; the cleaner removes it at its next turn.
pub const FAILED_TTL: Millis = Millis::from_secs(30);

/// What an entry takes in addition to its texts: its rows in two trees that are half full, and the
/// headers of its texts.
const ENTRY_BYTES: usize = 320;

/// What a group takes in addition to its text.
const GROUP_BYTES: usize = 48;

/// What is remembered of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Who.
    pub user: Name,
    /// Groups in order. After a failure, those that are known all the same.
    pub groups: Vec<Name>,
    /// Why the groups are not all of them; none for a positive entry.
    pub failure: Option<LookupFailure>,
    /// When it was found out, in whole seconds.
    pub resolved: Timestamp,
}

impl Entry {
    pub(super) fn new(user: Name, answer: Answer, now: Timestamp) -> Self {
        let Answer { groups, failure } = answer;
        Self { user, groups, failure, resolved: whole_seconds(now) }
    }

    /// Whether it still answers a lookup. A failure does as long as it is here.
    fn counts(&self, now: Timestamp) -> bool {
        self.failure.is_some() || whole_seconds(now).since(self.resolved) < POSITIVE_TTL
    }

    /// By which entries leave when there is no room: failures first, the oldest first.
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

/// Whether an entry is positive, when it was found out, and whose it is.
type Rank = (bool, Timestamp, Name);

/// Entries by user, never more than fit into a number of bytes.
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

    /// The entry of `user`, whatever its age.
    pub(super) fn get(&self, user: &str) -> Option<&Entry> {
        self.by_user.get(user)
    }

    /// The entry that answers a lookup of `user`.
    pub(super) fn recall(&self, user: &str, now: Timestamp) -> Option<&Entry> {
        self.get(user).filter(|entry| entry.counts(now))
    }

    /// Put an entry in the place of the user's old one. Others leave if there is no room; one
    /// that alone is too large is not stored.
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

    /// Take away what is older than it may get.
    pub(super) fn clean(&mut self, now: Timestamp) {
        let now = whole_seconds(now);
        for (positive, ttl) in [(false, FAILED_TTL), (true, POSITIVE_TTL)] {
            while let Some(user) = self.oldest(positive).filter(|(_, age)| now.since(*age) > ttl) {
                self.remove(&user.0);
            }
        }
    }

    /// Whose positive or failed entry is the oldest, and when it was found out.
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
