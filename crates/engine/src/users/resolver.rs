//! Directories by value of `usergroupresolver`.

use headroom_core::config::Configuration;
use headroom_core::{Name, Timestamp};

use super::{ByNumber, CacheSettings, Echo, OsDatabase, ResolverError, ResolverWarning, UserCache};

/// A kind of directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resolver {
    /// No directory: a user without groups gets one group with the name of the user.
    #[default]
    Echo,
    /// The database of the operating system.
    Os,
    /// Fixed data, cleaned every second. Only in tests.
    #[cfg(any(test, feature = "testkit"))]
    Test,
}

impl Resolver {
    /// Returns an empty cache for this directory.
    pub fn cache(self, now: Timestamp) -> UserCache {
        let settings = CacheSettings::default();
        match self {
            Self::Echo => UserCache::new(Echo, settings, now),
            Self::Os => UserCache::new(ByNumber(OsDatabase), settings, now),
            #[cfg(any(test, feature = "testkit"))]
            Self::Test => {
                let clean_every = headroom_core::Millis::from_secs(1);
                let settings = CacheSettings { clean_every, ..settings };
                UserCache::new(ByNumber(super::testkit::FixedDatabase), settings, now)
            }
        }
    }
}

/// Resolvers of all partitions of a queue file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolvers {
    /// Each partition once, in file order.
    pub(super) by_partition: Vec<(Name, Resolver)>,
    /// Warnings for the author of the file.
    pub warnings: Vec<ResolverWarning>,
}

impl Resolvers {
    /// Reads the setting of each partition. Types are case-sensitive: `OS` is unknown.
    ///
    /// # Errors
    /// If a partition sets `ldap`.
    pub fn of(configuration: &Configuration) -> Result<Self, ResolverError> {
        let mut resolvers = Self::default();
        for partition in &configuration.partitions {
            let name = partition.name.clone();
            let resolver = match &*partition.user_group_resolver {
                "" => Resolver::Echo,
                "os" => Resolver::Os,
                "ldap" => return Err(ResolverError::Ldap { partition: name }),
                #[cfg(any(test, feature = "testkit"))]
                "test" => Resolver::Test,
                other => {
                    let (partition, given) = (name.clone(), other.to_owned());
                    resolvers.warnings.push(ResolverWarning::UnknownType { partition, given });
                    Resolver::Echo
                }
            };
            resolvers.by_partition.push((name, resolver));
        }
        Ok(resolvers)
    }
}
