//! One cache for each partition.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use headroom_core::{Name, Timestamp};

use super::{Resolver, Resolvers, Submitted, UserCache, UserError, UserInfo};

/// The users of all partitions. The caches of partitions are independent.
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
    /// Applies the resolvers of a queue file. Adds and removes partitions. A partition whose resolver changed gets a
    /// new cache, and all others retain their caches. A running lookup ends in the cache in which it began.
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
        // Unused caches are dropped after the lock is released, because that can take a while.
        drop(partitions);
        drop(before);
    }

    /// Determines the user who submits to `partition`. See [`UserCache::convert`].
    ///
    /// # Errors
    /// The same as [`UserCache::convert`]. Also if the partition does not exist.
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

    /// Returns the cache of a partition.
    pub fn cache(&self, partition: &str) -> Option<Arc<UserCache>> {
        let partitions = self.partitions.read().unwrap_or_else(PoisonError::into_inner);
        partitions.get(partition).map(|partition| Arc::clone(&partition.cache))
    }

    /// Cleans the caches that are due.
    ///
    /// Returns the time of the next cleaning. `None` without partitions.
    pub fn tick(&self, now: Timestamp) -> Option<Timestamp> {
        let partitions = self.partitions.read().unwrap_or_else(PoisonError::into_inner);
        partitions.values().map(|partition| partition.cache.tick(now)).min()
    }
}
