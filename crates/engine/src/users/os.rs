//! The user and group database of the operating system.

use std::ffi::CString;

use headroom_core::Name;
use nix::errno::Errno;
use nix::unistd::{Gid, Group, User, getgrouplist};

use super::directory::{Database, GroupId};

/// The database of the operating system, through the C library. The library uses all configured sources: files, SSSD,
/// LDAP, NIS.
///
/// A lookup blocks until the system answers. To return the name of a group, the library reads all its members; a group
/// with more than 1 MiB of members is represented by its number.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsDatabase;

impl Database for OsDatabase {
    fn primary_group(&self, user: &str) -> Result<Option<GroupId>, Name> {
        match User::from_name(user) {
            Ok(found) => Ok(found.map(|user| GroupId(user.gid.as_raw()))),
            // Some sources report a missing user as an error, as getpwnam(3) lists.
            Err(Errno::ENOENT | Errno::ESRCH) => Ok(None),
            Err(error) => Err(reason(error)),
        }
    }

    fn group_ids(&self, user: &str, primary: GroupId) -> Result<Vec<GroupId>, Name> {
        let user = CString::new(user).map_err(|_| reason(Errno::EINVAL))?;
        let found = getgrouplist(&user, Gid::from_raw(primary.0)).map_err(reason)?;
        Ok(found.into_iter().map(|group| GroupId(group.as_raw())).collect())
    }

    fn group_name(&self, group: GroupId) -> Option<Name> {
        let found = Group::from_gid(Gid::from_raw(group.0)).ok().flatten()?;
        Some(Name::from(found.name))
    }
}

fn reason(error: Errno) -> Name {
    Name::from(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::super::directory::{Answer, ByNumber, Directory as _};
    use super::super::error::LookupFailure;
    use super::*;

    #[test]
    fn the_administrator_is_found_with_the_primary_group_first() {
        let answer = ByNumber(OsDatabase).look_up("root");
        assert_eq!(answer.failure, None);
        assert_eq!(answer.groups.first().map(Name::as_str), Some("root"));
    }

    #[test]
    fn a_user_who_does_not_exist_is_not_found() {
        for user in ["no-such-user-anywhere", "a\0b", "root\0", "../root"] {
            let answer = ByNumber(OsDatabase).look_up(user);
            assert_eq!(answer, Answer::failed(LookupFailure::NoSuchUser), "looking for {user:?}");
        }
    }

    #[test]
    fn a_name_with_a_zero_byte_has_no_groups() {
        let refused = OsDatabase.group_ids("a\0b", GroupId(0));
        assert_eq!(refused, Err(reason(Errno::EINVAL)));
    }

    /// Reads the files directly, so that the C library is not compared with itself. The machine can also have users
    /// and groups from other sources.
    #[test]
    fn every_user_of_the_files_has_the_groups_of_the_files() {
        let groups = rows("/etc/group");
        for user in rows("/etc/passwd") {
            let (name, primary) = (&user[0], &user[3]);
            let answer = ByNumber(OsDatabase).look_up(name);
            let named = groups.iter().find(|group| group[2] == *primary).map(|group| &group[0]);
            let found = answer.groups.first().map(ToString::to_string);
            assert_eq!(found.as_ref(), Some(named.unwrap_or(primary)), "primary group of {name}");

            let listed = groups.iter().filter(|group| group[3].split(',').any(|one| one == name));
            let found: BTreeSet<&str> = answer.groups.iter().map(Name::as_str).collect();
            let listed: BTreeSet<&str> = listed.map(|group| &*group[0]).collect();
            assert!(listed.is_subset(&found), "{name} is in {listed:?}, found in {found:?}");
        }
    }

    fn rows(path: &str) -> Vec<Vec<String>> {
        let text = fs::read_to_string(path).unwrap();
        let rows = text.lines().map(|line| line.split(':').map(str::to_owned).collect());
        rows.filter(|row: &Vec<String>| row.len() >= 4).collect()
    }
}
