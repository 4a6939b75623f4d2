//! Access lists: users and groups that can submit to a queue or administer it.

use alloc::collections::BTreeSet;

use crate::name::Name;

use super::legal::{is_group_name, is_user_name};

/// Entry for all users.
const EVERYBODY: &str = "*";

/// Allowed users and groups, or all users. There is no deny entry, and an empty list allows no user.
///
/// Source: queues and limits §5.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct AccessList {
    everybody: bool,
    users: BTreeSet<Name>,
    groups: BTreeSet<Name>,
}

/// Error for an access list of more than two words. Superfluous spaces count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the access list has {words} words, but it can have only a list of users and a list of groups: `ann,bob dev,ops`"
)]
pub struct AccessListError {
    /// Number of parts between single spaces, including empty ones.
    pub words: usize,
}

impl AccessList {
    /// Parses `*`, `users`, `users groups`, or ` groups`, where users and groups are names separated by commas. Invalid
    /// names are omitted, including `*` in a list with other names.
    ///
    /// # Errors
    ///
    /// Fails if single spaces separate more than two words.
    pub fn parse(text: &str) -> Result<Self, AccessListError> {
        let words = text.split(' ').count();
        if words > 2 {
            return Err(AccessListError { words });
        }
        let (users, groups) = text.split_once(' ').unwrap_or((text, ""));
        if [text.trim(), users, groups].contains(&EVERYBODY) {
            return Ok(Self { everybody: true, ..Self::default() });
        }
        let names = |list: &str, legal: fn(&str) -> bool| {
            list.split(',').filter(|name| legal(name)).map(Name::new).collect()
        };
        Ok(Self {
            everybody: false,
            users: names(users, is_user_name),
            groups: names(groups, is_group_name),
        })
    }

    /// Creates an access list from its parts.
    pub const fn from_parts(
        everybody: bool,
        users: BTreeSet<Name>,
        groups: BTreeSet<Name>,
    ) -> Self {
        Self { everybody, users, groups }
    }

    /// Returns whether this user, or a member of one of these groups, is allowed.
    pub fn allows(&self, user: &str, groups: &[Name]) -> bool {
        self.everybody
            || self.users.contains(user)
            || groups.iter().any(|group| self.groups.contains(&**group))
    }

    /// Returns whether all users are allowed.
    pub const fn is_everybody(&self) -> bool {
        self.everybody
    }

    /// Returns the named users.
    pub const fn users(&self) -> &BTreeSet<Name> {
        &self.users
    }

    /// Returns the named groups.
    pub const fn groups(&self) -> &BTreeSet<Name> {
        &self.groups
    }

    /// Returns whether no user is allowed.
    pub fn is_nobody(&self) -> bool {
        !self.everybody && self.users.is_empty() && self.groups.is_empty()
    }
}
