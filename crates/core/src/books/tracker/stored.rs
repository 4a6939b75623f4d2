//! Serialization of trackers: users and groups, their levels, the amounts of accounts, and the limits.
//!
//! All other data is derived: names, places, the limit that applies to a level, and the combined limits of accounts.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::ser::{SerializeSeq as _, SerializeStruct as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::id::{LevelId, QueueId, TrackerId};
use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::resource::{PackedUsage, ResourceTypes, Resources};
use crate::stored::Unsound;
use crate::table::Table;

use super::levels::{BLOCK, Levels};
use super::limit::QueueLimits;
use super::{LimitSettings, LimitSubject, Tracker, TrackerKind, Trackers};

/// Fields in the order of serialization. Only append fields.
#[derive(Deserialize)]
pub(super) struct Stored {
    rows: Table<TrackerId, Tracker>,
    levels: Levels,
    /// Usage of the levels with an account, in their order.
    tallies: Vec<PackedUsage>,
    /// Number of allocated chunks for accounts. Chunks are never freed.
    room: u32,
    limits: OrderedMap<QueueId, StoredLimits>,
    wildcards: OrderedMap<QueueId, Arc<[QueueId]>>,
}

/// Limits of one queue: the configured ones, and their resources as vectors.
#[derive(Clone, Serialize, Deserialize)]
struct StoredLimits {
    settings: Arc<[LimitSettings]>,
    max: Vec<Option<Resources>>,
}

impl Serialize for Trackers {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Trackers", 6)?;
        fields.serialize_field("rows", &self.rows)?;
        fields.serialize_field("levels", &self.levels)?;
        fields.serialize_field("tallies", &Tallies(self))?;
        fields.serialize_field("room", &self.accounts.room())?;
        let mut limits = OrderedMap::default();
        for (queue, one) in self.limits.iter() {
            let max = one.settings.iter().map(|setting| one.max_of(&setting.subject)).collect();
            limits.insert(*queue, StoredLimits { settings: one.settings.clone(), max });
        }
        fields.serialize_field("limits", &limits)?;
        fields.serialize_field("wildcards", &self.wildcards)?;
        fields.end()
    }
}

struct Tallies<'books>(&'books Trackers);

impl Serialize for Tallies<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let all = self.0;
        let standing = || all.levels.iter().filter(|(_, row)| row.has_account);
        let mut tallies = to.serialize_seq(Some(standing().count()))?;
        for (id, _) in standing() {
            tallies.serialize_element(all.accounts[id].tally())?;
        }
        tallies.end()
    }
}

impl QueueLimits {
    /// Returns the resources of a limit of this queue.
    fn max_of(&self, subject: &LimitSubject) -> Option<Resources> {
        let bound = match subject {
            LimitSubject::User(name) => self.users.get(name),
            LimitSubject::AnyUser => self.any_user.as_ref(),
            LimitSubject::AnyGroup => self.any_group.as_ref(),
            LimitSubject::Group(name) => {
                self.groups.iter().find(|(known, _)| known == name).map(|(_, bound)| bound)
            }
        };
        bound?.limit.max.clone()
    }
}

type Outcome = Result<(), Unsound>;

impl TryFrom<Stored> for Trackers {
    type Error = Unsound;

    fn try_from(stored: Stored) -> Result<Self, Unsound> {
        let Stored { rows, levels, tallies, room, limits, wildcards } = stored;
        let mut trackers = Self { rows, levels, wildcards, ..Self::default() };
        for (queue, one) in limits.iter() {
            let named = one.settings.iter().all(|setting| match &setting.subject {
                LimitSubject::User(name) | LimitSubject::Group(name) => !name.is_empty(),
                LimitSubject::AnyUser | LimitSubject::AnyGroup => true,
            });
            let paired = one.settings.len() == one.max.len() && !one.settings.is_empty();
            Unsound::unless(named && paired, queue, "its limits and what they come to")?;
            let limits = QueueLimits::of(&one.settings, one.max.clone());
            trackers.limits.append(*queue, limits)?;
        }
        let foreseen = trackers.limits.iter().filter(|(_, one)| one.any_user.is_some()).count();
        let paths = trackers.wildcards.len() == foreseen;
        Unsound::unless(paths, "all queues", "paths of limits of all other users")?;
        trackers.name_rows()?;
        trackers.place_levels()?;
        trackers.relink_levels()?;
        trackers.open_accounts(&tallies, room)?;
        Ok(trackers)
    }
}

impl Trackers {
    fn name_rows(&mut self) -> Outcome {
        let mut named: Vec<(TrackerKind, Name, TrackerId)> =
            self.rows.iter().map(|(id, row)| (row.kind, row.name.clone(), id)).collect();
        named.sort_unstable();
        for (kind, name, id) in named {
            let names = match kind {
                TrackerKind::User => &mut self.users,
                TrackerKind::Group => &mut self.groups,
            };
            names.append(name, id)?;
        }
        Ok(())
    }

    /// Rebuilds the index of levels by queue, and sets the limit that applies to each level.
    fn place_levels(&mut self) -> Outcome {
        let mut places: Vec<((QueueId, TrackerId), LevelId)> =
            self.levels.iter().map(|(id, row)| ((row.queue, row.tracker), id)).collect();
        places.sort_unstable();
        for (place, level) in places {
            let known = self.rows.get(place.1).is_some();
            Unsound::unless(known, level, "the tracker of a level")?;
            self.places.append(place, level)?;
            let (bound, from_wildcard) = self.bound_of(place.1, place.0);
            let row = &mut self.levels[level];
            Unsound::unless(row.from_wildcard == from_wildcard, level, "the limit of a level")?;
            row.bound = bound;
        }
        Ok(())
    }

    /// Links the child levels of each level, beginning with the roots of the trackers.
    fn relink_levels(&mut self) -> Outcome {
        let mut open = Vec::new();
        for (id, row) in self.rows.iter() {
            let root = self.levels.get(row.root);
            let root = root.filter(|root| root.tracker == id && root.parent.is_none());
            let alone = root.is_some_and(|root| root.next_sibling.is_none());
            Unsound::unless(alone, &row.name, "the user's level at the root queue")?;
            open.push(row.root);
        }
        let mut seen = open.len();
        while let Some(parent) = open.pop() {
            let row = &self.levels[parent];
            let (tracker, links, leans) = (row.tracker, row.links, !row.has_account);
            let (mut next, mut last, mut count) = (row.first_child, None, 0_usize);
            while let Some(id) = next {
                let known = self.levels.get(id).is_some_and(|child| {
                    child.parent == Some(parent)
                        && child.tracker == tracker
                        && child.previous_sibling.is_none()
                        && (!leans || child.links == links)
                });
                Unsound::unless(known, parent, "the levels below a level")?;
                let child = &mut self.levels[id];
                child.previous_sibling = last;
                next = child.next_sibling;
                last = Some(id);
                count += 1;
                open.push(id);
            }
            Unsound::unless(!leans || count == 1, parent, "what a level leans on")?;
            seen += count;
        }
        Unsound::unless(seen == self.places.len(), "all levels", "those below the roots")
    }

    fn open_accounts(&mut self, tallies: &[PackedUsage], room: u32) -> Outcome {
        let standing: Vec<LevelId> =
            self.levels.iter().filter(|(_, row)| row.has_account).map(|(id, _)| id).collect();
        let each = standing.len() == tallies.len();
        Unsound::unless(each, "all levels", "the amounts that they use")?;
        for (level, tally) in standing.into_iter().zip(tallies) {
            let mut above = self.levels[level].parent;
            while let Some(id) = above.filter(|above| !self.levels[*above].has_account) {
                above = self.levels[id].parent;
            }
            self.open(level, *tally, above);
        }
        // Numbers of levels are assigned in blocks of two kinds.
        let most = self.levels.slots().div_ceil(BLOCK as usize) * 2;
        let within = (self.accounts.room()..=most).contains(&(room as usize));
        Unsound::unless(within, "all levels", "the room for what they use")?;
        self.accounts.make_room(room as usize);
        Ok(())
    }

    /// Returns the names of all users and groups.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = Name> {
        self.users.iter().chain(self.groups.iter()).map(|(name, _)| name.clone())
    }

    /// Returns the paths of the queues with a limit for all other users.
    pub(crate) fn paths_of_wildcards(&self) -> impl Iterator<Item = (QueueId, &Arc<[QueueId]>)> {
        self.wildcards.iter().map(|(queue, path)| (*queue, path))
    }

    /// Returns whether a queue has a limit for all other users.
    pub(crate) fn limits_any_user(&self, queue: QueueId) -> bool {
        self.limits.get(&queue).is_some_and(|limits| limits.any_user.is_some())
    }

    /// Returns whether all types of all amounts are known.
    pub(crate) fn know_types(&self, types: &ResourceTypes) -> bool {
        let limits = self.limits.iter().all(|(_, one)| {
            let mut subjects = one.settings.iter().map(|setting| &setting.subject);
            subjects.all(|subject| one.max_of(subject).is_none_or(|max| types.know(&max)))
        });
        let beyond = self.levels.iter().filter_map(|(_, row)| row.beyond.as_ref());
        limits
            && beyond.into_iter().all(|one| types.know(one))
            && self.accounts.iter().all(|one| types.know_used(one.tally()))
    }
}
