//! Limits as they are compared with, shared by all whom they concern.

use alloc::sync::Arc;

use crate::ordered::OrderedMap;
use crate::resource::Ceiling;

use super::Limit;

/// A limit, shared by all whom it concerns.
#[derive(Debug, PartialEq)]
pub(super) struct Bound {
    pub(super) limit: Limit,
    pub(super) ceiling: Ceiling,
}

impl Bound {
    pub(super) fn new(limit: Limit) -> Arc<Self> {
        let ceiling = Ceiling::of(limit.max.as_ref());
        Arc::new(Self { limit, ceiling })
    }
}

/// What the limits of a stretch of levels allow together: each ceiling that is in use, once.
///
/// Equal ones are one, so that what a check compares with stays close at hand. How many use
/// one is counted here: what `Arc` counts depends on clones of the books.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ceilings(OrderedMap<Ceiling, Kept>);

#[derive(Clone, Debug, PartialEq)]
struct Kept {
    ceiling: Arc<Ceiling>,
    uses: u64,
}

impl Ceilings {
    /// One more use of this ceiling.
    pub(super) fn take(&mut self, ceiling: Ceiling) -> Arc<Ceiling> {
        let kept = match self.0.get(&ceiling) {
            Some(kept) => Kept { ceiling: kept.ceiling.clone(), uses: kept.uses + 1 },
            None => Kept { ceiling: Arc::new(ceiling), uses: 1 },
        };
        let shared = kept.ceiling.clone();
        self.0.insert(ceiling, kept);
        shared
    }

    /// One use less; what nobody uses goes.
    pub(super) fn give_back(&mut self, ceiling: &Ceiling) {
        let Some(kept) = self.0.get(ceiling).cloned() else { return };
        if kept.uses == 1 {
            self.0.remove(ceiling);
        } else {
            self.0.insert(*ceiling, Kept { uses: kept.uses - 1, ..kept });
        }
    }

    /// All of them, and how many use each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Ceiling, u64)> {
        self.0.iter().map(|(ceiling, kept)| (ceiling, kept.uses))
    }
}
