//! The limits in force: who is limited to what at which queue.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::resource::{Amounts, Resources};

use super::bound::SharedLimit;
use super::{TrackerKind, WILDCARD};

/// Who a limit is for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub enum LimitSubject {
    /// The user of this name.
    User(Name),
    /// Every user without a named limit at the queue, each separately.
    AnyUser,
    /// The group of this name.
    Group(Name),
    /// All who are in no named group, together.
    AnyGroup,
}

/// The limit of one user or group in one queue, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct LimitSettings {
    /// Who is limited.
    pub subject: LimitSubject,
    /// Types named are limited to the amount, zero forbids; empty = unlimited.
    pub max: Amounts,
    /// Applications that may run at once; 0 = unlimited.
    pub max_applications: u64,
}

/// What may be used at once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limit {
    /// Types present are limited to their amount, zero forbids; none = unlimited.
    pub max: Option<Resources>,
    /// Applications that may run at once; 0 = unlimited.
    pub max_applications: u64,
}

/// The limits of one queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct QueueLimits {
    /// As configured.
    pub(super) settings: Arc<[LimitSettings]>,
    pub(super) users: OrderedMap<Name, Arc<SharedLimit>>,
    pub(super) any_user: Option<Arc<SharedLimit>>,
    /// In configured order, which decides whom a user of several groups counts for.
    pub(super) groups: Vec<(Name, Arc<SharedLimit>)>,
    pub(super) any_group: Option<Arc<SharedLimit>>,
}

impl QueueLimits {
    /// The limits that these settings make, `max` being their resources as vectors. Of two for
    /// one name the later counts.
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

    /// Everybody whom a limit names, `*` being the common group of all others.
    pub(super) fn names(&self) -> impl Iterator<Item = (TrackerKind, Name)> {
        let users = self.users.iter().map(|(name, _)| (TrackerKind::User, name.clone()));
        let groups = self.groups.iter().map(|(name, _)| (TrackerKind::Group, name.clone()));
        let others = self.any_group.iter().map(|_| (TrackerKind::Group, Name::new(WILDCARD)));
        users.chain(groups).chain(others)
    }

    /// Whether a limit names the user or group, and not only all others.
    pub(super) fn has_name(&self, kind: TrackerKind, name: &str) -> bool {
        matches!(self.find(kind, name), Some((_, false)))
    }

    /// The limit that counts for this user or group, and whether it is the one of all others.
    /// A named limit stands alone: what it leaves open stays open.
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
