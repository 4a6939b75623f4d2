//! Current limits of users and groups by queue.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::resource::{Amounts, Resources};

use super::bound::SharedLimit;
use super::{TrackerKind, WILDCARD};

/// User or group that a limit applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum LimitSubject {
    /// The user with this name.
    User(Name),
    /// Every user without a named limit at the queue, each separately.
    AnyUser,
    /// The group with this name.
    Group(Name),
    /// All users without a named group, together.
    AnyGroup,
}

/// Configured limit of one user or group in one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct LimitSettings {
    /// User or group of the limit.
    pub subject: LimitSubject,
    /// Limit by type. Zero forbids a type, and types that are not named are unlimited.
    pub max: Amounts,
    /// Limit on running applications. 0 is unlimited.
    pub max_applications: u64,
}

/// Limit on amounts and on running applications.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    /// Limit by type. Zero forbids a type. `None` is unlimited.
    pub max: Option<Resources>,
    /// Limit on running applications. 0 is unlimited.
    pub max_applications: u64,
}

/// Limits of one queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct QueueLimits {
    /// Configured limits.
    pub(super) settings: Arc<[LimitSettings]>,
    pub(super) users: OrderedMap<Name, Arc<SharedLimit>>,
    pub(super) any_user: Option<Arc<SharedLimit>>,
    /// Limits of groups in configured order, which determines the group of a user with several groups.
    pub(super) groups: Vec<(Name, Arc<SharedLimit>)>,
    pub(super) any_group: Option<Arc<SharedLimit>>,
}

impl QueueLimits {
    /// Creates the limits from these settings. `max` has their resources as vectors. The last of several limits for one
    /// name counts.
    pub(super) fn of(settings: &[LimitSettings], max: Vec<Option<Resources>>) -> Self {
        let mut limits = Self { settings: settings.into(), ..Self::default() };
        for (one, max) in settings.iter().zip(max) {
            let limit = Limit { max, max_applications: one.max_applications };
            limits.set(&one.subject, SharedLimit::new(limit));
        }
        limits
    }

    fn set(&mut self, subject: &LimitSubject, limit: Arc<SharedLimit>) {
        match subject {
            LimitSubject::User(name) => {
                self.users.insert(name.clone(), limit);
            }
            LimitSubject::AnyUser => self.any_user = Some(limit),
            LimitSubject::AnyGroup => self.any_group = Some(limit),
            LimitSubject::Group(name) => {
                match self.groups.iter_mut().find(|(known, _)| known == name) {
                    Some((_, known)) => *known = limit,
                    None => self.groups.push((name.clone(), limit)),
                }
            }
        }
    }

    /// Returns the names of all limits. `*` is the common group of all other users.
    pub(super) fn names(&self) -> impl Iterator<Item = (TrackerKind, Name)> {
        let users = self.users.iter().map(|(name, _)| (TrackerKind::User, name.clone()));
        let groups = self.groups.iter().map(|(name, _)| (TrackerKind::Group, name.clone()));
        let others = self.any_group.iter().map(|_| (TrackerKind::Group, Name::new(WILDCARD)));
        users.chain(groups).chain(others)
    }

    /// Returns whether a limit names the user or group.
    pub(super) fn has_name(&self, kind: TrackerKind, name: &str) -> bool {
        matches!(self.find(kind, name), Some((_, false)))
    }

    /// Returns the limit for this user or group, and whether it is the one for all others. A named limit replaces the
    /// limit for all others completely.
    pub(super) fn find(&self, kind: TrackerKind, name: &str) -> Option<(&Arc<SharedLimit>, bool)> {
        match kind {
            TrackerKind::User => match self.users.get(name) {
                Some(limit) => Some((limit, false)),
                None => self.any_user.as_ref().map(|limit| (limit, true)),
            },
            TrackerKind::Group if name == WILDCARD => {
                self.any_group.as_ref().map(|limit| (limit, false))
            }
            TrackerKind::Group => {
                self.groups.iter().find(|(known, _)| known == name).map(|(_, limit)| (limit, false))
            }
        }
    }
}
