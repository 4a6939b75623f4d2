//! Determines the submitting user and the groups before a submission reaches the core.
//!
//! A client sends a user name, and optionally groups ([`Submitted`]). [`UserCache::convert`] returns a [`UserInfo`]
//! or an error. Groups in the submission are used as they are; otherwise they are read from the partition's
//! [`Directory`] through its cache. [`Users`] has one cache for each partition, according to `usergroupresolver` in
//! the queue file.
//!
//! ```
//! use headroom_core::Timestamp;
//! use headroom_engine::users::{CacheSettings, Echo, Submitted, UserCache};
//!
//! let now = Timestamp::from_millis(1_000);
//! let cache = UserCache::new(Echo, CacheSettings::default(), now);
//! let submitted = Submitted { user: "ann".into(), ..Submitted::default() };
//! assert_eq!(cache.convert(&submitted, now)?.groups, ["ann"]);
//! # Ok::<(), headroom_engine::users::UserError>(())
//! ```
//!
//! **Time** is an argument, as in the core: the system time, in whole seconds. If it is set back, an entry from the
//! future counts as new until the clock reaches its time.
//!
//! **Threads.** Any number of threads can convert concurrently. No lock is held while a directory is queried. Threads
//! that need the same user wait for one answer, and all others do not wait.

mod cache;
mod convert;
mod directory;
mod entry;
mod error;
mod os;
mod partitions;
mod question;
mod resolver;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;

use headroom_core::Name;
use headroom_core::config::legal::is_group_name;

pub use cache::{CacheSettings, UserCache};
pub use directory::{Answer, ByNumber, Database, Directory, Echo, GroupId};
pub use entry::{Entry, FAILED_TTL, POSITIVE_TTL};
pub use error::{LookupFailure, ResolverError, ResolverWarning, UserError};
pub use os::OsDatabase;
pub use partitions::Users;
pub use resolver::{Resolver, Resolvers};

/// User and groups that a client sent. All fields are empty if the client sent none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submitted {
    /// User name. Can be empty.
    pub user: Name,
    /// Groups in the order of the client. If empty, the directory provides them.
    pub groups: Vec<Name>,
    /// Whether the application already runs and must not be lost (the application tag `application.create.force`).
    pub forced: bool,
}

/// The user who is charged for an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserInfo {
    /// A valid user name.
    pub name: Name,
    /// Groups of the user. If the client sent them, they are unchanged.
    pub groups: Vec<Name>,
}

impl UserInfo {
    /// Returns the groups whose names are invalid in limits, so that no limit can name these groups. The groups are
    /// retained, as in the reference: without groups, a user would not be subject to the limit of `*`.
    pub fn groups_without_legal_name(&self) -> impl Iterator<Item = &Name> {
        self.groups.iter().filter(|group| !is_group_name(group))
    }
}
