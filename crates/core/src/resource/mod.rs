//! Amounts of resources: parsing, sparse vectors, arithmetic, checks, and shares.
//!
//! A resource vector is a sparse map from resource types to signed 64-bit amounts. *Absent* and *zero* differ: in a
//! maximum, an absent type is unlimited, and a zero forbids the type. [`Amounts`] is the form with names for external
//! interfaces. [`Resources`] is the form with interned types for everything internal.

mod amounts;
mod arithmetic;
mod fit;
mod labelled;
mod lanes;
mod quantity;
mod section;
mod share;
#[cfg(feature = "snapshot")]
mod stored;
mod text;
mod types;
mod vector;
mod wide;

pub use amounts::Amounts;
pub use fit::Shortfall;
pub use labelled::{base_of, type_and_label};
pub(crate) use lanes::{PackedDelta, PackedExcess, PackedLimit, PackedUsage};
pub use quantity::{Quantity, QuantityError};
pub use section::Sections;
pub use share::{Share, Shares};
pub(crate) use text::format_amounts;
pub use text::{Unit, exact, format_quantities};
pub use types::{ResourceType, ResourceTypes};
pub use vector::Resources;
pub(crate) use wide::Beyond;
