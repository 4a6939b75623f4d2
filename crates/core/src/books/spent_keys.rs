//! Idempotency keys that outlive their tasks.
//!
//! A task that ended long ago is dropped, but its key remains known for the time that the queue file sets. A repetition
//! is therefore refused instead of submitted again. Each tenant has separate keys, at most [`SpentKeys::MAX`], which
//! other tenants cannot push out. `Books` adds a key when it drops the task, and removes expired keys when a task is
//! submitted. Costs logarithmic time for each key.

use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::time::{Millis, Timestamp};

/// Keys of tasks that are no longer stored.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct SpentKeys {
    /// Submission time by tenant and key.
    keys: OrderedMap<(Name, Name), Timestamp>,
    /// Keys in order of time. Derived from `keys`.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    times: OrderedMap<(Timestamp, Name, Name), ()>,
    /// Keys by tenant, in order of time. Derived from `keys`.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    own_times: OrderedMap<(Name, Timestamp, Name), ()>,
    /// Number of keys by tenant. Derived from `keys`.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    counts: OrderedMap<Name, u32>,
}

impl SpentKeys {
    /// Largest number of keys of one tenant. A tenant that reaches it can submit only without keys until old keys
    /// expire.
    pub const MAX: u32 = 65_536;

    /// Returns the submission time of the dropped task with this key.
    pub fn submitted(&self, tenant: &Name, key: &Name) -> Option<Timestamp> {
        self.keys.get(&(tenant.clone(), key.clone())).copied()
    }

    /// Returns whether a tenant has the largest number of keys and all of them are still valid.
    pub fn is_full(&self, tenant: &Name, now: Timestamp, ttl: Millis) -> bool {
        let from = (tenant.clone(), Timestamp::ZERO, Name::default());
        let oldest = self.own_times.iter_from(&from).map(|(key, ())| key).next();
        let oldest = oldest.filter(|(of, ..)| of == tenant);
        self.count(tenant) >= Self::MAX && oldest.is_some_and(|(_, at, _)| now < *at + ttl)
    }

    /// Returns the number of keys of a tenant.
    pub fn count(&self, tenant: &Name) -> u32 {
        self.counts.get(tenant).copied().unwrap_or_default()
    }

    /// Returns a copy with rebuilt indexes.
    #[cfg(any(test, feature = "snapshot"))]
    pub(super) fn indexed_again(&self) -> Self {
        let mut rebuilt = Self::default();
        for ((tenant, key), submitted) in self.keys.iter() {
            rebuilt.add(tenant, key, *submitted);
        }
        rebuilt
    }

    /// Adds the key of a task that is dropped.
    pub(super) fn add(&mut self, tenant: &Name, key: &Name, submitted: Timestamp) {
        self.remove(tenant, key);
        self.keys.insert((tenant.clone(), key.clone()), submitted);
        self.times.insert((submitted, tenant.clone(), key.clone()), ());
        self.own_times.insert((tenant.clone(), submitted, key.clone()), ());
        self.counts.insert(tenant.clone(), self.count(tenant) + 1);
    }

    /// Removes a key that is used again.
    pub(super) fn remove(&mut self, tenant: &Name, key: &Name) {
        let Some(submitted) = self.submitted(tenant, key) else { return };
        self.keys.remove(&(tenant.clone(), key.clone()));
        self.times.remove(&(submitted, tenant.clone(), key.clone()));
        self.own_times.remove(&(tenant.clone(), submitted, key.clone()));
        match self.count(tenant) {
            0 | 1 => drop(self.counts.remove(tenant)),
            count => drop(self.counts.insert(tenant.clone(), count - 1)),
        }
    }

    /// Removes expired keys.
    pub(super) fn expire(&mut self, now: Timestamp, ttl: Millis) {
        while let Some(((submitted, tenant, key), ())) = self.times.first() {
            if now < *submitted + ttl {
                return;
            }
            let (tenant, key) = (tenant.clone(), key.clone());
            self.remove(&tenant, &key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_bounded_for_each_tenant_and_their_time_makes_place_for_others() {
        let (mut spent, ttl) = (SpentKeys::default(), Millis::new(10));
        let (a, b) = (Name::new("a"), Name::new("b"));
        for number in 0..SpentKeys::MAX {
            spent.add(&a, &Name::from(alloc::format!("{number}")), Timestamp::from_millis(1));
        }
        spent.add(&b, &Name::new("7"), Timestamp::from_millis(5));
        let at = Timestamp::from_millis;
        assert!(spent.is_full(&a, at(10), ttl) && !spent.is_full(&b, at(10), ttl));
        assert_eq!(spent.indexed_again(), spent);
        // The next submission is accepted without any other event.
        assert!(!spent.is_full(&a, at(11), ttl));
        spent.expire(at(11), ttl);
        assert_eq!((spent.count(&a), spent.count(&b)), (0, 1));
        assert_eq!(spent.submitted(&b, &Name::new("7")), Some(at(5)));
    }
}
