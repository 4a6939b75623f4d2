//! IDs of rows of the books. IDs are small and dense, and never refer to a different row.
//!
//! An ID is a slot of a table and the generation of the row in this slot. After its row is removed, an ID finds
//! nothing.

use core::fmt;

/// Slot of a table and the generation of its row. The content of every ID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    index: u32,
    generation: u32,
}

impl Slot {
    /// Creates a slot from a stored index and generation. A slot that no table issued finds nothing.
    pub const fn new(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }

    /// Returns the index in the table, dense from 0.
    pub const fn index(self) -> usize {
        self.index as usize
    }

    /// Returns the index as a `u32`.
    pub const fn number(self) -> u32 {
        self.index
    }

    /// Returns the number of earlier rows in this slot.
    pub const fn generation(self) -> u32 {
        self.generation
    }
}

/// Typed ID that wraps a [`Slot`].
pub trait Id: Copy + Ord + fmt::Debug {
    /// Wraps a slot.
    fn from_slot(slot: Slot) -> Self;
    /// Returns the wrapped slot.
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
            /// ID of no row. Every lookup finds nothing.
            #[allow(dead_code, reason = "made for every id, needed for some")]
            pub(crate) const NONE: Self = Self(Slot::new(u32::MAX, u32::MAX));

            /// Smallest ID.
            #[allow(dead_code, reason = "made for every id, needed for some")]
            pub(crate) const FIRST: Self = Self(Slot::new(0, 0));

            /// Returns the index in its table. Dense from 0, and reused after a removal.
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
    /// A partition: a cluster with its own queues, nodes, and trackers.
    PartitionId, "p"
);
id!(
    /// A queue. The ID survives a change of the settings.
    QueueId, "q"
);
id!(
    /// A node.
    NodeId, "n"
);
id!(
    /// An application.
    ApplicationId, "app"
);
id!(
    /// An ask, and the allocation that it becomes. The ID stays the same.
    AllocationId, "a"
);
id!(
    /// A tracker of a user or group in a partition.
    TrackerId, "t"
);
id!(
    /// A level of a tracker: usage and limit at one queue.
    LevelId, "l"
);
id!(
    /// A row of a user in a leaf.
    UserRowId, "u"
);
id!(
    /// A distinct combination of amounts and node selector that asks share.
    ShapeId, "s"
);
