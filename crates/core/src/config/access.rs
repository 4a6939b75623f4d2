//! Access lists: who may submit to a queue, and who may administer it.

use alloc::collections::BTreeSet;

use crate::name::Name;

use super::legal::{is_group_name, is_user_name};

/// Everybody.
const EVERYBODY: &str = "*";

/// Who is allowed: users, groups, or everybody. There is no deny entry; empty allows nobody.
///
/// Source: queues and limits §5.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct AccessList {
    everybody: bool,
    users: BTreeSet<Name>,
    groups: BTreeSet<Name>,
}

/// An access list of more than two words: superfluous blanks count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the access list has {words} words, but it can have only a list of users and a list of groups: `ann,bob dev,ops`"
)]
pub struct AccessListError {
    /// Parts between single blanks, empty ones included.
    pub words: usize,
}

impl AccessList {
    /// Read `*`, `users`, `users groups` or ` groups`, where users and groups are names separated
    /// by commas. What is no name is left out, including `*` in a list with other names.
    ///
    /// # Errors
    /// When single blanks separate more than two words.
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

    /// An access list by what it was read as.
    pub const fn from_parts(
        everybody: bool,
        users: BTreeSet<Name>,
        groups: BTreeSet<Name>,
    ) -> Self {
        Self { everybody, users, groups }
    }

    /// Whether this user, or a member of one of these groups, is allowed.
    pub fn allows(&self, user: &str, groups: &[Name]) -> bool {
        self.everybody
            || self.users.contains(user)
            || groups.iter().any(|group| self.groups.contains(&**group))
    }

    /// Whether everybody is allowed.
    pub const fn is_everybody(&self) -> bool {
        self.everybody
    }

    /// The users that are named.
    pub const fn users(&self) -> &BTreeSet<Name> {
        &self.users
    }

    /// The groups that are named.
    pub const fn groups(&self) -> &BTreeSet<Name> {
        &self.groups
    }

    /// Whether nobody is allowed.
    pub fn is_nobody(&self) -> bool {
        !self.everybody && self.users.is_empty() && self.groups.is_empty()
    }
}
