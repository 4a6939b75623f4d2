//! Distinct resource vectors: equal asks share one.

use crate::id::ShapeId;
use crate::ordered::OrderedMap;
use crate::resource::Resources;
#[cfg(feature = "snapshot")]
use crate::stored::Unsound;
use crate::table::Table;

/// One distinct resource vector, and how many asks and allocations have it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
struct Shape {
    resources: Resources,
    uses: u64,
}

/// The distinct resource vectors in use.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Shapes {
    rows: Table<ShapeId, Shape>,
    #[cfg_attr(feature = "snapshot", serde(with = "crate::ordered::stored::index"))]
    by_value: OrderedMap<Resources, ShapeId>,
}

impl Shapes {
    /// The vector of a shape.
    #[inline]
    pub fn get(&self, shape: ShapeId) -> &Resources {
        &self.rows[shape].resources
    }

    /// The shape of a vector, if something has it.
    pub fn find(&self, resources: &Resources) -> Option<ShapeId> {
        self.by_value.get(resources).copied()
    }

    /// All shapes in use, with the number of their users.
    pub fn iter(&self) -> impl Iterator<Item = (ShapeId, &Resources, u64)> {
        self.rows.iter().map(|(id, shape)| (id, &shape.resources, shape.uses))
    }

    /// Use a vector once more.
    pub(super) fn acquire(&mut self, resources: Resources) -> ShapeId {
        if let Some(shape) = self.find(&resources) {
            self.rows[shape].uses += 1;
            return shape;
        }
        let shape = self.rows.insert(Shape { resources: resources.clone(), uses: 1 });
        self.by_value.insert(resources, shape);
        shape
    }

    /// Use a shape once less; it goes with its last user.
    pub(super) fn release(&mut self, shape: ShapeId) {
        let row = &mut self.rows[shape];
        row.uses -= 1;
        if row.uses == 0
            && let Some(gone) = self.rows.remove(shape)
        {
            self.by_value.remove(&gone.resources);
        }
    }
}

#[cfg(feature = "snapshot")]
impl Shapes {
    /// How many slots there are for shapes.
    pub(super) const fn slots(&self) -> usize {
        self.rows.slots()
    }

    /// Whether a shape is there.
    pub(super) fn has(&self, shape: ShapeId) -> bool {
        self.rows.get(shape).is_some()
    }

    /// After they were read: find them by their values again. `uses` says for each slot how often
    /// its shape is used.
    pub(super) fn settle(&mut self, uses: &[u64]) -> Result<(), Unsound> {
        for (id, shape) in self.rows.iter() {
            let counted = uses.get(id.index()).is_some_and(|uses| *uses == shape.uses);
            Unsound::unless(counted, id, "its uses")?;
        }
        let Self { rows, by_value } = self;
        Unsound::unless(by_value.len() == rows.len(), "all shapes", "those found by value")?;
        by_value.name(|id| {
            let shape = rows.get(*id).ok_or_else(|| Unsound::dangling("an index", "a shape"))?;
            Ok(shape.resources.clone())
        })
    }
}
