//! Where classes wait, under what holds them back.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::Bound;

use slotmap::KeyData;

use crate::id::{Id, ShapeId, Slot};
use crate::wait::Blocker;

use super::class::ClassId;

/// Parked classes by blocker and shape.
#[derive(Debug, Default)]
pub(super) struct Parked(BTreeSet<(Blocker, ShapeId, ClassId)>);

impl Parked {
    pub(super) fn insert(&mut self, blocker: Blocker, shape: ShapeId, class: ClassId) {
        self.0.insert((blocker, shape, class));
    }

    pub(super) fn remove(&mut self, blocker: Blocker, shape: ShapeId, class: ClassId) {
        self.0.remove(&(blocker, shape, class));
    }

    /// Move to `woken` every class that `blocker` holds back and whose shape now fits.
    ///
    /// Costs a look-up per distinct shape, and the classes woken.
    #[inline]
    pub(super) fn wake(
        &mut self,
        blocker: Blocker,
        fits: impl Fn(ShapeId) -> bool,
        woken: &mut Vec<ClassId>,
    ) {
        if self.0.is_empty() {
            return;
        }
        let mut from = Bound::Included((blocker, FIRST, lowest()));
        loop {
            let Some(&(found, shape, class)) = self.0.range((from, Bound::Unbounded)).next() else {
                return;
            };
            if found != blocker {
                return;
            }
            if fits(shape) {
                self.0.remove(&(found, shape, class));
                woken.push(class);
            } else {
                from = Bound::Included((blocker, after(shape), lowest()));
            }
        }
    }

    /// Every class that waits, under whatever holds it back.
    pub(super) fn wake_all(&mut self, woken: &mut Vec<ClassId>) {
        woken.extend(core::mem::take(&mut self.0).into_iter().map(|(_, _, class)| class));
    }
}

/// A class id below all others. (The null id is above them.)
fn lowest() -> ClassId {
    KeyData::from_ffi(0).into()
}

/// The smallest shape id.
const FIRST: ShapeId = ShapeId::FIRST;

/// The shape id right after this one.
fn after(shape: ShapeId) -> ShapeId {
    let slot = shape.slot();
    ShapeId::from_slot(match slot.generation().checked_add(1) {
        Some(generation) => Slot::new(slot.number(), generation),
        None => Slot::new(slot.number() + 1, 0),
    })
}
