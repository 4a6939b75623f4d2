//! Gangs: placeholders reserve capacity for the members of task groups.
//!
//! Source: scheduling §10.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::config::GangPlacement;
use crate::id::{AllocationId, ApplicationId, NodeId};
use crate::name::Name;
use crate::resource::{Amounts, Quantity, Resources};
use crate::time::{Millis, Timestamp};

use super::{Allocation, Application, ApplicationState, Books};

/// Default time in which a gang must become complete. Source: scheduling §3.5.
pub const PLACEHOLDER_TIMEOUT: Millis = Millis::from_secs(15 * 60);

/// Behavior of an application whose gang is not complete in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GangStyle {
    /// Continues without a gang.
    #[default]
    Soft,
    /// Fails.
    Hard,
}

/// Gang settings of an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GangSettings {
    /// Sum of its placeholders. Without a positive amount, the application has no gang.
    pub ask: Amounts,
    /// Behavior if the gang is not complete in time.
    pub style: GangStyle,
    /// Timeout from the first placeholder.
    pub timeout: Millis,
}

impl Default for GangSettings {
    fn default() -> Self {
        Self { ask: Amounts::EMPTY, style: GangStyle::default(), timeout: PLACEHOLDER_TIMEOUT }
    }
}

/// State of the gang of an application.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Gang {
    /// Sum of its placeholders, without types of amount zero.
    pub ask: Resources,
    /// Behavior if the gang is not complete in time.
    pub style: GangStyle,
    /// Timeout from the first placeholder.
    pub timeout: Millis,
    /// Time at which unused placeholders are released. `None` if no timeout runs.
    pub deadline: Option<Timestamp>,
    /// Current usage of placeholders, without types of amount zero. A part of the usage of the application.
    pub placeholders: Resources,
    /// Number of allocations that are placeholders.
    pub placeholder_count: u32,
    /// Task groups in the order of their first placeholders.
    pub groups: Vec<TaskGroup>,
    /// Number of necessary members that were lost with their nodes and have no replacement yet. Counted where gangs are
    /// placed as a whole, until `deadline`. Source: no-starvation NS-33.
    #[cfg_attr(feature = "snapshot", serde(default))]
    pub(crate) lost: u32,
}

impl Gang {
    /// Returns whether the placeholders use exactly the announced sum, and the gang is not empty.
    pub fn is_complete(&self) -> bool {
        !self.ask.is_empty() && self.ask == self.placeholders
    }

    /// Returns whether a placeholder of this size counts towards the announced sum. A placeholder in types of a label
    /// does not, because the sum has plain types only.
    pub(crate) fn counts(&self, size: &Resources) -> bool {
        let mut types = size.iter().filter(|(_, amount)| *amount > Quantity::ZERO);
        !self.ask.is_empty()
            && types.all(|(resource, _)| self.ask.get_or_zero(resource) > Quantity::ZERO)
    }

    /// Returns whether none of its placeholders was ever placed, according to the counts.
    pub(crate) fn is_untouched(&self) -> bool {
        let mut groups = self.groups.iter();
        self.placeholder_count == 0
            && groups.all(|group| group.replaced == 0 && group.timed_out == 0)
    }

    /// Returns the task group with this name, and its position.
    pub fn group(&self, name: &str) -> Option<(usize, &TaskGroup)> {
        self.groups.iter().enumerate().find(|(_, group)| group.name == name)
    }

    /// Starts its timer, unless it already runs. Returns the deadline of a timer that it started.
    pub(super) fn start_timer(&mut self, now: Timestamp) -> Option<Timestamp> {
        if self.deadline.is_some() {
            return None;
        }
        self.deadline = Some(now + self.timeout);
        self.deadline
    }

    /// Counts a member that replaces a lost one.
    pub(super) fn repair(&mut self, member: &Allocation) {
        let is_member = !member.placeholder && member.task_group().is_some();
        self.lost = self.lost.saturating_sub(u32::from(is_member));
    }

    pub(super) fn group_mut(&mut self, name: &Name) -> Option<&mut TaskGroup> {
        self.groups.iter_mut().find(|group| group.name == *name)
    }

    /// Counts one more placeholder of a task group. Creates the task group with its first placeholder.
    pub(super) fn add_placeholder(&mut self, name: &Name, size: &Resources) {
        if self.group(name).is_none() {
            let (name, size) = (name.clone(), size.clone());
            self.groups.push(TaskGroup { name, size, count: 0, replaced: 0, timed_out: 0 });
        }
        self.group_mut(name).expect("made above").count += 1;
    }
}

impl Application {
    /// Returns whether it replaces members of its gang that it lost with their nodes. It then precedes the other
    /// applications of its leaf, and gets a hold at once.
    pub(crate) fn repairs_gang(&self) -> bool {
        self.gang.as_ref().is_some_and(|gang| gang.lost > 0)
    }
}

impl Books {
    /// Returns whether a gang needs a member that was just removed from a running application: the members that remain
    /// in its task group are fewer than the minimum. If the application has at least the minimum of allocations, costs
    /// these allocations.
    pub(super) fn is_missed(&self, member: &Allocation) -> bool {
        let row = &self.applications[member.application];
        let placement = self.partition(row.partition).settings.gang_placement;
        let of_gang = row.state == ApplicationState::Running && !member.placeholder;
        let group = member.task_group().zip(row.gang.as_ref());
        let Some((_, group)) = group.and_then(|(name, gang)| gang.group(name)) else {
            return false;
        };
        let remaining = || {
            let rows = self.allocations_of(member.application);
            rows.filter(|(_, row)| row.is_allocated() && row.task_group() == member.task_group())
        };
        of_gang
            && placement == GangPlacement::Whole
            && (u64::from(row.allocation_count) < group.minimum()
                || (remaining().count() as u64) < group.minimum())
    }

    /// Returns whether the allocations of an application stop together: a gang, or the members of a task that start
    /// together. Source: no-starvation NS-32.
    pub(crate) fn stops_whole(&self, application: ApplicationId) -> bool {
        let needs_members = |gang: &Gang| gang.groups.iter().any(|group| group.minimum() > 0);
        let row = &self.applications[application];
        self.members_of(application) > 1 || row.gang.as_deref().is_some_and(needs_members)
    }

    /// Returns the allocations that a gang does not need: the newest members beyond the minimum of their task group,
    /// and allocations without a task group except the originator. Empty for a task. Costs the allocations of the
    /// application.
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

/// Size of the gang of a placeholder, for the check whether all its placeholders can ever be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GangSize {
    /// Application of the gang.
    pub(crate) application: ApplicationId,
    /// Number of placeholders of this size in the gang. 0 if its placeholders differ in size.
    pub(crate) places: u32,
}

impl Books {
    /// Returns the gang of a waiting placeholder if its partition places gangs as a whole and none of it is placed yet.
    /// `None` for other asks, and for a placeholder that requires a node.
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

    /// Returns the amounts that the gang of a placeholder has on each node. Empty for other asks.
    ///
    /// A gang that is placed as a whole releases nothing until it is complete. Costs its allocations.
    pub(crate) fn placed_of_gang(&self, ask: AllocationId) -> BTreeMap<NodeId, Resources> {
        let row = self.allocation(ask);
        let mut placed: BTreeMap<NodeId, Resources> = BTreeMap::new();
        if self.is_of_whole_gang(row) {
            for (id, one) in self.allocations_of(row.application) {
                if let Some(node) = one.node {
                    placed.entry(node).or_default().add(self.node_request(id));
                }
            }
        }
        placed
    }

    /// Returns whether the asks of an application are checked by themselves, because its leaf backs off, or did so.
    /// There is no back-off in a leaf with user limits or a head of line.
    pub(crate) fn backs_off(&self, application: &Application) -> bool {
        let leaf = application.queue;
        (self.queue(leaf).settings.values.backoff > 0 || application.backed_off.is_some())
            && self.users_of(leaf).is_none()
            && !self.has_line(leaf)
    }

    /// Returns whether an ask is a placeholder of a gang that is placed as a whole, placed in part or not.
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

/// Returns the number of asks of this size that have exactly this sum. 0 if no number does.
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
    /// Name, unique in its application.
    pub name: Name,
    /// Size of its first placeholder.
    pub size: Resources,
    /// Number of placeholders so far.
    pub count: u64,
    /// Number of placeholders that members replaced.
    pub replaced: u64,
    /// Number of placeholders that ended without a replacement.
    pub timed_out: u64,
}

impl TaskGroup {
    /// Returns the number of members that the gang needs: those that replaced a placeholder or still can. Placeholders
    /// that ended without a replacement do not count.
    pub(crate) const fn minimum(&self) -> u64 {
        self.count.saturating_sub(self.timed_out)
    }

    /// Returns whether placeholders are left that members must replace.
    pub const fn has_replaceable_placeholders(&self) -> bool {
        self.count > self.replaced + self.timed_out
    }
}

/// Requested stop of an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StopRequest {
    /// No stop was requested.
    #[default]
    None,
    /// The RM must stop a placeholder that is no longer needed or waited too long.
    Released,
    /// The RM must stop a preempted allocation.
    Preempted,
}
