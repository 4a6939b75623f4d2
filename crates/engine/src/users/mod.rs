//! Who submits, and in which groups: settled before a submission enters the core.
//!
//! A client sends a user name and perhaps groups ([`Submitted`]). [`UserCache::convert`] makes
//! a [`UserInfo`] of it, or says why not: groups that were sent are taken, others come from
//! the partition's [`Directory`] by way of its cache. [`Users`] holds one cache for each
//! partition, as the queue file's `usergroupresolver` says.
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
//! **Time** is an argument, as in the core: the wall clock's, counted here in whole seconds.
//! If it steps back, an entry made in its future counts as new until the clock has caught up.
//!
//! **Threads.** Any number may convert at once. No lock is held while a directory is asked;
//! threads that want the same user wait for one answer, and nobody else waits.

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

/// What a client says about who submits. All empty where it sent nothing at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submitted {
    /// User name; may be empty.
    pub user: Name,
    /// Groups in the client's order; empty leaves them to the directory.
    pub groups: Vec<Name>,
    /// Whether the application is already running and must not be lost (the application tag
    /// `application.create.force`).
    pub forced: bool,
}

/// Who is charged for an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserInfo {
    /// A legal user name.
    pub name: Name,
    /// The user's groups. Where they were sent, exactly as they were sent.
    pub groups: Vec<Name>,
}

impl UserInfo {
    /// The groups that no limit can name, since their names are not legal there; for a remark
    /// to curious readers. They stay, as in the reference: a user whose groups were
    /// dropped would escape the limit of `*`.
    pub fn groups_without_legal_name(&self) -> impl Iterator<Item = &Name> {
        self.groups.iter().filter(|group| !is_group_name(group))
    }
}
