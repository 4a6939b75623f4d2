//! Gangs: placeholders hold room for the members of task groups until these come.
//!
//! Source: scheduling §10.

use alloc::vec::Vec;

use crate::config::GangPlacement;
use crate::id::{AllocationId, ApplicationId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, Resources};
use crate::time::{Millis, Timestamp};

use super::{Allocation, Application, Books};

/// How long a gang may take to become complete by default. Source: scheduling §3.5.
pub const PLACEHOLDER_TIMEOUT: Millis = Millis::from_secs(15 * 60);

/// What becomes of an application whose gang is not complete in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GangStyle {
    /// It goes on as one without a gang.
    #[default]
    Soft,
    /// It fails.
    Hard,
}

/// How an application waits for its gang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GangSettings {
    /// What its placeholders need together; without an amount above zero it has no gang.
    pub ask: Amounts,
    /// What becomes of it when the gang is not complete in time.
    pub style: GangStyle,
    /// How long the gang may take, from the first placeholder on.
    pub timeout: Millis,
}

impl Default for GangSettings {
    fn default() -> Self {
        Self { ask: Amounts::EMPTY, style: GangStyle::default(), timeout: PLACEHOLDER_TIMEOUT }
    }
}

/// Where the gang of an application stands.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Gang {
    /// What its placeholders need together; no type with amount zero.
    pub ask: Resources,
    /// What becomes of it when the gang is not complete in time.
    pub style: GangStyle,
    /// How long the gang may take, from the first placeholder on.
    pub timeout: Millis,
    /// When the placeholders are given up, while that is ahead.
    pub deadline: Option<Timestamp>,
    /// Allocated to placeholders; no type with amount zero. Part of what is allocated to the
    /// application.
    pub placeholders: Resources,
    /// How many allocations are placeholders.
    pub placeholder_count: u32,
    /// Its task groups, in the order in which their first placeholders came.
    pub groups: Vec<TaskGroup>,
}

impl Gang {
    /// Whether the placeholders have all that they need together, and there are any.
    pub fn is_complete(&self) -> bool {
        !self.ask.is_empty() && self.ask == self.placeholders
    }

    /// Whether a placeholder of this size is a part of what its placeholders need together. One that is counted in the
    /// types of a label is not: the sum is known in plain types only.
    pub(crate) fn counts(&self, size: &Resources) -> bool {
        let mut types = size.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        !self.ask.is_empty()
            && types.all(|(resource, _)| self.ask.get_or_zero(resource) > Quantity::ZERO)
    }

    /// Whether none of its placeholders was ever placed, as far as the placeholders say that it has now.
    pub(crate) fn is_untouched(&self) -> bool {
        let mut groups = self.groups.iter();
        self.placeholder_count == 0
            && groups.all(|group| group.replaced == 0 && group.timed_out == 0)
    }

    /// The task group of this name, and its position.
    pub fn group(&self, name: &str) -> Option<(usize, &TaskGroup)> {
        self.groups.iter().enumerate().find(|(_, group)| group.name == name)
    }

    pub(super) fn group_mut(&mut self, name: &Name) -> Option<&mut TaskGroup> {
        self.groups.iter_mut().find(|group| group.name == *name)
    }

    /// Count one more placeholder of a task group, which is made with its first.
    pub(super) fn add_placeholder(&mut self, name: &Name, size: &Resources) {
        if self.group(name).is_none() {
            let (name, size) = (name.clone(), size.clone());
            self.groups.push(TaskGroup { name, size, count: 0, replaced: 0, timed_out: 0 });
        }
        self.group_mut(name).expect("made above").count += 1;
    }
}

impl Books {
    /// Whether what an application has stops as a whole or not at all: a gang, or the members of a task that start
    /// together. No-starvation NS-32.
    pub(crate) fn stops_whole(&self, application: ApplicationId) -> bool {
        let needs_members = |gang: &Gang| gang.groups.iter().any(|group| group.minimum() > 0);
        let row = &self.applications[application];
        self.members_of(application) > 1 || row.gang.as_deref().is_some_and(needs_members)
    }

    /// What a gang has and can do without: the newest members beyond the minimum of their task group, and allocations of
    /// no task group, apart from the first of the application. Nothing of a task. Costs the allocations of the application.
    pub(crate) fn beyond_gang(&self, application: ApplicationId) -> Vec<AllocationId> {
        let Some(gang) = &self.applications[application].gang else { return Vec::new() };
        if self.members_of(application) > 1 {
            return Vec::new();
        }
        let live = || {
            let all = self.allocations_of(application);
            all.filter(|(_, row)| row.is_allocated() && row.mark == StopRequest::None)
        };
        let group_of = |row: &Allocation| gang.group(row.task_group()?).map(|(at, _)| at);
        let mut beyond: Vec<AllocationId> = live()
            .filter(|(_, row)| group_of(row).is_none() && !row.originator)
            .map(|(id, _)| id)
            .collect();
        for (at, group) in gang.groups.iter().enumerate() {
            let mut members: Vec<_> = live().filter(|(_, row)| group_of(row) == Some(at)).collect();
            members.sort_by_key(|(_, row)| (row.created, row.number.unsigned_abs()));
            let least = usize::try_from(group.minimum()).unwrap_or(usize::MAX);
            beyond.extend(members.into_iter().skip(least).map(|(id, _)| id));
        }
        beyond
    }
}

/// The gang for which a placeholder holds room, as far as it matters for whether all its placeholders can ever be
/// placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GangSize {
    /// Its application.
    pub(crate) application: ApplicationId,
    /// How many placeholders of this size make up the gang; 0 where its placeholders differ in size.
    pub(crate) places: u32,
}

impl Books {
    /// The gang of a waiting placeholder, where its partition places gangs as a whole and none of it is placed yet. None
    /// for other asks, and for a placeholder that requires a node.
    pub(crate) fn gang_of(&self, ask: AllocationId) -> Option<GangSize> {
        let row = self.allocation(ask);
        if !self.is_of_whole_gang(row) {
            return None;
        }
        let application = &self.applications[row.application];
        if self.backs_off(application) {
            return None; // Its asks are looked at one by one.
        }
        let gang = application.gang.as_ref()?;
        let places = || places_of(&gang.ask, self.resources_of(ask));
        gang.is_untouched().then(|| GangSize { application: row.application, places: places() })
    }

    /// Whether the asks of an application are looked at by themselves: its leaf has it back off, or had. Where users take
    /// turns, or applications stand in a line, that is no reason to pause.
    pub(crate) fn backs_off(&self, application: &Application) -> bool {
        let leaf = application.queue;
        (self.queue(leaf).settings.values.backoff > 0 || application.backed_off.is_some())
            && self.users_of(leaf).is_none()
            && !self.has_line(leaf)
    }

    /// Whether an ask is a placeholder of a gang that is placed as a whole, be some of it placed or not.
    pub(crate) fn is_of_whole_gang(&self, row: &Allocation) -> bool {
        if !row.placeholder || row.required_node().is_some() {
            return false;
        }
        let application = &self.applications[row.application];
        let placement = self.partition(application.partition).settings.gang_placement;
        placement == GangPlacement::Whole
            && application.gang.as_ref().is_some_and(|gang| gang.counts(self.shapes.get(row.shape)))
    }
}

/// How many asks of this size need exactly this in all; 0 where no number does.
fn places_of(whole: &Resources, size: &Resources) -> u32 {
    let mut places = None;
    let mut types = 0;
    for (resource, amount) in size.iter().filter(|(_, amount)| *amount > Quantity::ZERO) {
        let (all, one) = (whole.get_or_zero(resource).get(), amount.get());
        if all <= 0 || all % one != 0 || places.is_some_and(|places| places != all / one) {
            return 0;
        }
        places = Some(all / one);
        types += 1;
    }
    let is_all = whole.iter().count() == types;
    places.filter(|_| is_all).and_then(|places| u32::try_from(places).ok()).unwrap_or(0)
}

/// One task group of a gang.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct TaskGroup {
    /// Its name, unique in its application.
    pub name: Name,
    /// The size of its first placeholder.
    pub size: Resources,
    /// How many placeholders it ever had.
    pub count: u64,
    /// How many of them gave their place to a member.
    pub replaced: u64,
    /// How many of them went otherwise.
    pub timed_out: u64,
}

impl TaskGroup {
    /// How many members the gang cannot do without: those that have or had a placeholder. A placeholder that went without
    /// giving its place to a member is not waited for any more.
    pub(crate) const fn minimum(&self) -> u64 {
        self.count.saturating_sub(self.timed_out)
    }

    /// Whether it has placeholders left, so that a member takes the place of one.
    pub const fn has_replaceable_placeholders(&self) -> bool {
        self.count > self.replaced + self.timed_out
    }
}

/// What the RM was asked to do with an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StopRequest {
    /// Nothing.
    #[default]
    None,
    /// To stop it, as a placeholder that has served or waited too long.
    Released,
    /// To stop it for the sake of others.
    Preempted,
}
