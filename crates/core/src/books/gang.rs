//! Gangs: placeholders hold room for the members of task groups until these come.
//!
//! Source: scheduling §10.

use alloc::vec::Vec;

use crate::name::Name;
use crate::resource::{Amounts, Resources};
use crate::time::{Millis, Timestamp};

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
