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

/// What a stretch of levels is held against.
#[derive(Debug)]
pub(super) struct Held {
    /// What all limits of the stretch allow together.
    pub(super) limits: Ceiling,
    /// Up to which use nobody else has to look at its user; see [`Held::calm`].
    calm: Option<Ceiling>,
}

/// Until when nobody has to look is worked out by others, who see to it that it holds: it is no part of
/// what limits are.
impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.limits == other.limits
    }
}

impl Held {
    /// A user of a leaf with user limits who is within it surely stays active, whatever is charged to him
    /// or given back; none where nothing is known, or he is not active.
    #[inline]
    pub(super) const fn calm(&self) -> Option<&Ceiling> {
        self.calm.as_ref()
    }
}

/// What the limits of a stretch of levels allow together: each ceiling that is in use, once.
///
/// Equal ones are one, so that what a check compares with stays close at hand. How many use
/// one is counted here: what `Arc` counts depends on clones of the books.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ceilings(OrderedMap<Ceiling, Kept>);

#[derive(Clone, Debug)]
struct Kept {
    held: Arc<Held>,
    uses: u64,
    /// The same with what was last said of who stays active: mostly it is the same for all.
    calm: Option<Arc<Held>>,
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        (&self.held, self.uses) == (&other.held, other.uses)
    }
}

impl Ceilings {
    /// One more use of this ceiling.
    pub(super) fn take(&mut self, limits: Ceiling) -> Arc<Held> {
        let kept = match self.0.get(&limits) {
            Some(kept) => Kept { uses: kept.uses + 1, ..kept.clone() },
            None => Kept { held: Arc::new(Held { limits, calm: None }), uses: 1, calm: None },
        };
        let shared = kept.held.clone();
        self.0.insert(limits, kept);
        shared
    }

    /// One use less; what nobody uses goes.
    pub(super) fn give_back(&mut self, limits: &Ceiling) {
        let Some(kept) = self.0.get(limits).cloned() else { return };
        if kept.uses == 1 {
            self.0.remove(limits);
        } else {
            self.0.insert(*limits, Kept { uses: kept.uses - 1, ..kept });
        }
    }

    /// A ceiling that is in use, for a user who stays active up to this use.
    pub(super) fn calmed(&mut self, limits: &Ceiling, calm: Option<Ceiling>) -> Arc<Held> {
        let kept = self.0.get(limits).expect("the ceiling is in use");
        let Some(calm) = calm else { return kept.held.clone() };
        if let Some(known) = kept.calm.as_ref().filter(|known| known.calm == Some(calm)) {
            return known.clone();
        }
        let made = Arc::new(Held { limits: *limits, calm: Some(calm) });
        let kept = Kept { calm: Some(made.clone()), ..kept.clone() };
        self.0.insert(*limits, kept);
        made
    }

    /// All of them, and how many use each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Ceiling, u64)> {
        self.0.iter().map(|(limits, kept)| (limits, kept.uses))
    }
}
