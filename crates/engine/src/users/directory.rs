//! Directories of groups of users, and an adapter for databases with numeric groups.

use std::fmt;

use headroom_core::Name;

use super::LookupFailure;

/// A directory of groups of users. [`super::UserCache`] caches its answers.
///
/// A directory can be slow. Many threads call it concurrently, usually one for each user, and without holding a lock.
pub trait Directory: Send + Sync {
    /// Looks up `user`, which is not empty.
    fn look_up(&self, user: &str) -> Answer;
}

/// Answer of a directory about a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Groups of the user, the primary group first. After some failures, only the known groups.
    pub groups: Vec<Name>,
    /// Reason why the groups are incomplete. `None` if all groups are known.
    pub failure: Option<LookupFailure>,
}

impl Answer {
    /// Returns an answer with all groups.
    pub fn complete(groups: Vec<Name>) -> Self {
        Self { groups, failure: None }
    }

    /// Returns a failure without groups.
    pub fn failed(failure: LookupFailure) -> Self {
        Self { groups: Vec::new(), failure: Some(failure) }
    }
}

/// A directory without data: every user exists, in one group with the name of the user.
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo;

impl Directory for Echo {
    fn look_up(&self, user: &str) -> Answer {
        Answer::complete(vec![Name::new(user)])
    }
}

/// Number of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

impl fmt::Display for GroupId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// A database with numeric groups, like those of operating systems.
pub trait Database: Send + Sync {
    /// Returns the primary group of a user. `None` if the user does not exist.
    ///
    /// # Errors
    /// The error of the database, if the query failed.
    fn primary_group(&self, user: &str) -> Result<Option<GroupId>, Name>;

    /// Returns all groups of a user with this primary group, in the order of the database. The result can include the
    /// primary group.
    ///
    /// # Errors
    /// The error of the database, if the query failed.
    fn group_ids(&self, user: &str, primary: GroupId) -> Result<Vec<GroupId>, Name>;

    /// Returns the name of a group. `None` if the group has no name, or the query failed.
    fn group_name(&self, group: GroupId) -> Option<Name>;
}

/// A directory based on a database with numeric groups.
///
/// The primary group is first. The other groups follow in the order of the database. A group without a name is
/// represented by its number, so that a limit can still name this group.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByNumber<D>(pub D);

impl<D: Database> Directory for ByNumber<D> {
    fn look_up(&self, user: &str) -> Answer {
        let primary = match self.0.primary_group(user) {
            Ok(Some(primary)) => primary,
            Ok(None) => return Answer::failed(LookupFailure::NoSuchUser),
            Err(reason) => return Answer::failed(LookupFailure::User { reason }),
        };
        let mut groups = vec![self.name_of(primary)];
        let failure = match self.0.group_ids(user, primary) {
            Ok(ids) => {
                let others = ids.into_iter().filter(|id| *id != primary);
                groups.extend(others.map(|id| self.name_of(id)));
                None
            }
            Err(reason) => Some(LookupFailure::Groups { reason }),
        };
        Answer { groups, failure }
    }
}

impl<D: Database> ByNumber<D> {
    fn name_of(&self, group: GroupId) -> Name {
        self.0.group_name(group).unwrap_or_else(|| Name::from(group.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testkit::FixedDatabase;
    use super::*;

    fn look_up(user: &str) -> (Vec<String>, Option<LookupFailure>) {
        let answer = ByNumber(FixedDatabase).look_up(user);
        (answer.groups.iter().map(ToString::to_string).collect(), answer.failure)
    }

    fn groups(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_primary_group_comes_first_and_the_others_in_order() {
        assert_eq!(look_up("ann"), (groups(&["dev", "ops", "test"]), None));
    }

    #[test]
    fn a_primary_group_that_does_not_resolve_shows_as_its_number() {
        assert_eq!(look_up("no-primary-name"), (groups(&["4000", "dev"]), None));
    }

    #[test]
    fn another_group_that_does_not_resolve_shows_as_its_number() {
        assert_eq!(look_up("no-other-name"), (groups(&["dev", "4001", "ops"]), None));
    }

    #[test]
    fn a_primary_group_repeated_in_the_list_is_skipped() {
        assert_eq!(look_up("primary-repeated"), (groups(&["dev", "ops", "test"]), None));
    }

    #[test]
    fn a_user_in_no_list_has_the_primary_group() {
        assert_eq!(look_up("primary-only"), (groups(&["dev"]), None));
    }

    #[test]
    fn a_list_that_fails_leaves_the_primary_group() {
        let failure = LookupFailure::Groups { reason: "list failed".into() };
        assert_eq!(look_up("no-list"), (groups(&["dev"]), Some(failure)));
    }

    #[test]
    fn a_database_that_fails_is_told_from_a_user_who_does_not_exist() {
        let failure = LookupFailure::User { reason: "database down".into() };
        assert_eq!(look_up("down"), (groups(&[]), Some(failure)));
        assert_eq!(look_up("nobody-knows"), (groups(&[]), Some(LookupFailure::NoSuchUser)));
    }

    #[test]
    fn all_groups_of_a_long_list_are_there() {
        let (found, failure) = look_up("in-65536-groups");
        assert_eq!((found.len(), failure), (65_536, None));
        assert_eq!((&*found[0], &*found[1], &*found[65_535]), ("dev", "5000", "70534"));
    }

    #[test]
    fn without_a_directory_everybody_has_a_group_of_the_same_name() {
        assert_eq!(Echo.look_up("ann"), Answer::complete(vec!["ann".into()]));
    }
}
