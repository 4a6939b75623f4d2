//! Who is in which groups: what a directory answers, and how one with numbers is read.

use std::fmt;

use headroom_core::Name;

use super::LookupFailure;

/// Knows which groups a user is in. It remembers nothing: that is the cache's part.
///
/// It may be slow. It is asked by many threads at once, as a rule by one for the same user, and
/// nobody holds a lock meanwhile.
pub trait Directory: Send + Sync {
    /// Look `user` up, who is not empty.
    fn look_up(&self, user: &str) -> Answer;
}

/// What a directory has on a user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The user's groups, the primary one first. Not empty after some failures: what is
    /// known stays.
    pub groups: Vec<Name>,
    /// Why the groups are not all of them; none means they are.
    pub failure: Option<LookupFailure>,
}

impl Answer {
    /// These groups are all of them.
    pub fn complete(groups: Vec<Name>) -> Self {
        Self { groups, failure: None }
    }

    /// Nothing is known.
    pub fn failed(failure: LookupFailure) -> Self {
        Self { groups: Vec::new(), failure: Some(failure) }
    }
}

/// No directory at all: everybody is known, and in one group of the same name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo;

impl Directory for Echo {
    fn look_up(&self, user: &str) -> Answer {
        Answer::complete(vec![Name::new(user)])
    }
}

/// The number of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u32);

impl fmt::Display for GroupId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// A database that knows groups by number, as those of operating systems do.
pub trait Database: Send + Sync {
    /// The user's primary group; none if there is no such user.
    ///
    /// # Errors
    /// The error of the database, if it could not be asked.
    fn primary_group(&self, user: &str) -> Result<Option<GroupId>, Name>;

    /// All groups of a user whose primary group is this one, in the database's order. The
    /// primary group may be among them.
    ///
    /// # Errors
    /// The error of the database, if it could not be asked.
    fn group_ids(&self, user: &str, primary: GroupId) -> Result<Vec<GroupId>, Name>;

    /// The name of a group; none if it has none, or cannot be asked for it.
    fn group_name(&self, group: GroupId) -> Option<Name>;
}

/// A directory made of a database with numbers.
///
/// The primary group comes first, then the others in the database's order. A group without
/// a name goes by its number, so that a limit can still name it.
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
