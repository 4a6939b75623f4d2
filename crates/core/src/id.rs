//! Ids of the rows of the books: small, dense, and never reused for another row.
//!
//! An id names a slot of a table and the generation of its tenant. So an id stored past the life of
//! its row finds nothing instead of another row.

use core::fmt;

/// What every id is made of: a slot and the generation of its tenant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    index: u32,
    generation: u32,
}

impl Slot {
    /// A slot by its position and the rows that lived in it before; for ids that were written
    /// down. One that no table ever gave finds nothing.
    pub const fn new(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }

    /// Position in the table; dense from 0.
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// The same as a number of its own width.
    pub const fn number(self) -> u32 {
        self.index
    }

    /// How many rows lived in this slot before.
    pub const fn generation(self) -> u32 {
        self.generation
    }
}

/// A typed id over a [`Slot`].
pub trait Id: Copy + Ord + fmt::Debug {
    /// Wrap a slot.
    fn from_slot(slot: Slot) -> Self;
    /// The slot wrapped.
    fn slot(self) -> Slot;
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(Slot);

        impl Id for $name {
            fn from_slot(slot: Slot) -> Self {
                Self(slot)
            }
            fn slot(self) -> Slot {
                self.0
            }
        }

        impl $name {
            /// The id of no row: every look-up of it finds nothing.
            #[allow(dead_code, reason = "made for every id, needed for some")]
            pub(crate) const NONE: Self = Self(Slot::new(u32::MAX, u32::MAX));

            /// The smallest id.
            #[allow(dead_code, reason = "made for every id, needed for some")]
            pub(crate) const FIRST: Self = Self(Slot::new(0, 0));

            /// Position in its table; dense from 0, reused after removal.
            pub const fn index(self) -> usize {
                self.0.index()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, concat!($letter, "{}"), self.0.index)?;
                match self.0.generation {
                    0 => Ok(()),
                    generation => write!(out, ".{generation}"),
                }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, out)
            }
        }
    };
}

id!(
    /// One partition: a cluster with its own queues, nodes and trackers.
    PartitionId, "p"
);
id!(
    /// One queue; survives a change of its settings, unlike its path.
    QueueId, "q"
);
id!(
    /// One node.
    NodeId, "n"
);
id!(
    /// One application.
    ApplicationId, "app"
);
id!(
    /// One ask, and the allocation that it becomes: the id stays.
    AllocationId, "a"
);
id!(
    /// One user or group tracker of one partition.
    TrackerId, "t"
);
id!(
    /// One level of a tracker: its usage and limit at one queue.
    LevelId, "l"
);
id!(
    /// One row of a user of a leaf queue.
    UserRowId, "u"
);
id!(
    /// One distinct resource vector that asks share.
    ShapeId, "s"
);
