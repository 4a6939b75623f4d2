//! Queue properties: text in the file, typed values at run time.

use alloc::collections::BTreeMap;

use crate::name::Name;

/// Properties by key, as text; unknown keys are kept.
pub type Properties = BTreeMap<Name, Name>;

/// In which order a leaf offers room to its applications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ApplicationOrder {
    /// The oldest submission first; one that cannot run does not hold up the next.
    #[default]
    Fifo,
    /// The smallest share first.
    Fair,
}
