//! One cache for each partition.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use headroom_core::{Name, Timestamp};

use super::{Resolver, Resolvers, Submitted, UserCache, UserError, UserInfo};

/// The users of all partitions. What one partition knows of a user, the others do not.
#[derive(Debug, Default)]
pub struct Users {
    partitions: RwLock<BTreeMap<Name, Partition>>,
}

#[derive(Clone, Debug)]
struct Partition {
    resolver: Resolver,
    cache: Arc<UserCache>,
}

impl Users {
    /// Put the resolvers of a queue file in force: partitions come and go with it, one whose
    /// resolver is another gets a new and empty cache, the others keep theirs. A lookup that
    /// is under way ends in the cache where it began.
    pub fn configure(&self, resolvers: &Resolvers, now: Timestamp) {
        let mut partitions = self.partitions.write().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *partitions);
        for (name, resolver) in &resolvers.by_partition {
            let unchanged = before.remove(name).filter(|partition| partition.resolver == *resolver);
            let partition = unchanged.unwrap_or_else(|| {
                let cache = Arc::new(resolver.cache(now));
                Partition { resolver: *resolver, cache }
            });
            partitions.insert(name.clone(), partition);
        }
        // Caches that are no longer needed go after the lock, since that may take a while.
        drop(partitions);
        drop(before);
    }

    /// Find out who submits to `partition`; see [`UserCache::convert`].
    ///
    /// # Errors
    /// As there, and when there is no such partition.
    pub fn convert(
        &self,
        partition: &str,
        submitted: &Submitted,
        now: Timestamp,
    ) -> Result<UserInfo, UserError> {
        let cache = self.cache(partition);
        let unknown = || UserError::UnknownPartition { partition: partition.into() };
        cache.ok_or_else(unknown)?.convert(submitted, now)
    }

    /// The cache of a partition.
    pub fn cache(&self, partition: &str) -> Option<Arc<UserCache>> {
        let partitions = self.partitions.read().unwrap_or_else(PoisonError::into_inner);
        partitions.get(partition).map(|partition| Arc::clone(&partition.cache))
    }

    /// Clean the caches whose time has come.
    ///
    /// Returns when the next one's will have; none without partitions.
    pub fn tick(&self, now: Timestamp) -> Option<Timestamp> {
        let partitions = self.partitions.read().unwrap_or_else(PoisonError::into_inner);
        partitions.values().map(|partition| partition.cache.tick(now)).min()
    }
}
