//! Directories with fixed data, for tests.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use headroom_core::Name;

use super::directory::{Answer, Database, Directory, GroupId};
use super::error::LookupFailure;

/// A few users, each with one special case. `dev` is group 1000, `ops` 1001, and `test` 1002. The other groups have
/// no name.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedDatabase;

impl Database for FixedDatabase {
    fn primary_group(&self, user: &str) -> Result<Option<GroupId>, Name> {
        match user {
            "no-primary-name" => Ok(Some(GroupId(4000))),
            "ann" | "no-other-name" | "primary-repeated" | "primary-only" | "no-list"
            | "in-65536-groups" => Ok(Some(GroupId(1000))),
            "down" => Err("database down".into()),
            _ => Ok(None),
        }
    }

    fn group_ids(&self, user: &str, _: GroupId) -> Result<Vec<GroupId>, Name> {
        let ids = match user {
            "ann" => vec![1001, 1002],
            "no-primary-name" => vec![4000, 1000],
            "no-other-name" => vec![1000, 4001, 1001],
            "primary-repeated" => vec![1001, 1000, 1002, 1000],
            "primary-only" => Vec::new(),
            "in-65536-groups" => (5000..5000 + 65_535).collect(),
            _ => return Err("list failed".into()),
        };
        Ok(ids.into_iter().map(GroupId).collect())
    }

    fn group_name(&self, group: GroupId) -> Option<Name> {
        match group.0 {
            1000 => Some("dev".into()),
            1001 => Some("ops".into()),
            1002 => Some("test".into()),
            _ => None,
        }
    }
}

/// A directory whose data a test can change, and which counts its queries.
#[derive(Debug, Default)]
pub struct Scripted {
    state: Mutex<Script>,
}

#[derive(Debug, Default)]
struct Script {
    answers: BTreeMap<String, Answer>,
    asked: BTreeMap<String, usize>,
}

impl Scripted {
    /// Sets the groups of `user`.
    pub fn set(&self, user: &str, groups: &[&str]) {
        let groups = groups.iter().map(Name::new).collect();
        self.script().answers.insert(user.to_owned(), Answer::complete(groups));
    }

    /// Lets lookups of `user` fail. `groups` are still known.
    pub fn fail(&self, user: &str, groups: &[&str], failure: LookupFailure) {
        let groups = groups.iter().map(Name::new).collect();
        let answer = Answer { groups, failure: Some(failure) };
        self.script().answers.insert(user.to_owned(), answer);
    }

    /// Returns the number of queries for `user`.
    pub fn asked(&self, user: &str) -> usize {
        self.script().asked.get(user).copied().unwrap_or_default()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Directory for Scripted {
    fn look_up(&self, user: &str) -> Answer {
        let mut script = self.script();
        *script.asked.entry(user.to_owned()).or_default() += 1;
        let known = script.answers.get(user).cloned();
        known.unwrap_or_else(|| Answer::failed(LookupFailure::NoSuchUser))
    }
}
