//! Distinct resource vectors: equal asks share one.

use crate::id::ShapeId;
use crate::ordered::OrderedMap;
use crate::resource::Resources;
use crate::table::Table;

/// One distinct resource vector, and how many asks and allocations have it.
#[derive(Clone, Debug, PartialEq)]
struct Shape {
    resources: Resources,
    uses: u64,
}

/// The distinct resource vectors in use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shapes {
    rows: Table<ShapeId, Shape>,
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
