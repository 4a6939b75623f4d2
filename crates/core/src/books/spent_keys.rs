//! Idempotency keys that outlive the tasks that were submitted under them.
//!
//! A task that ended long ago is forgotten, but its key is known for as long as the queue file says, so that a repeat
//! is refused rather than submitted a second time. Each tenant has keys of its own, at most [`SpentKeys::MAX`], and no
//! other tenant can push them out. `Books` adds a key when it forgets the task and drops keys whose time is over when
//! a task is submitted. Costs logarithmic time per key.

use crate::name::Name;
use crate::ordered::OrderedMap;
use crate::time::{Millis, Timestamp};

/// The keys of tasks that are no longer remembered.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct SpentKeys {
    /// When the task was submitted, by tenant and key.
    keys: OrderedMap<(Name, Name), Timestamp>,
    /// The same in order of time; follows from `keys`.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    times: OrderedMap<(Timestamp, Name, Name), ()>,
    /// How many keys each tenant has that has any; follows from `keys`.
    #[cfg_attr(feature = "snapshot", serde(skip))]
    counts: OrderedMap<Name, u32>,
}

impl SpentKeys {
    /// The largest number of keys of one tenant. When it is reached, the tenant submits without keys, or waits.
    pub const MAX: u32 = 65_536;

    /// Returns when the forgotten task of this key was submitted.
    pub fn submitted(&self, tenant: &Name, key: &Name) -> Option<Timestamp> {
        self.keys.get(&(tenant.clone(), key.clone())).copied()
    }

    /// Returns how many keys a tenant has here.
    pub fn count(&self, tenant: &Name) -> u32 {
        self.counts.get(tenant).copied().unwrap_or_default()
    }

    /// Returns the same with its indexes made again.
    pub(super) fn indexed_again(&self) -> Self {
        let mut anew = Self::default();
        for ((tenant, key), submitted) in self.keys.iter() {
            anew.add(tenant, key, *submitted);
        }
        anew
    }

    /// Remembers the key of a task that is forgotten.
    pub(super) fn add(&mut self, tenant: &Name, key: &Name, submitted: Timestamp) {
        self.remove(tenant, key);
        self.keys.insert((tenant.clone(), key.clone()), submitted);
        self.times.insert((submitted, tenant.clone(), key.clone()), ());
        self.counts.insert(tenant.clone(), self.count(tenant) + 1);
    }

    /// Forgets a key that is used again.
    pub(super) fn remove(&mut self, tenant: &Name, key: &Name) {
        let Some(submitted) = self.submitted(tenant, key) else { return };
        self.keys.remove(&(tenant.clone(), key.clone()));
        self.times.remove(&(submitted, tenant.clone(), key.clone()));
        match self.count(tenant) {
            0 | 1 => drop(self.counts.remove(tenant)),
            count => drop(self.counts.insert(tenant.clone(), count - 1)),
        }
    }

    /// Forgets keys whose time is over.
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
