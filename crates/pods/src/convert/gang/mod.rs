//! Gangs: task groups, their policy, and the placeholders that hold their resources.

mod fault;
mod group;
mod placeholder;
mod policy;

pub use fault::GroupFault;
pub use group::{GroupQuantity, TaskGroup, parse_groups, placeholder_ask};
pub use placeholder::{Placeholder, PlaceholderSettings, PlaceholderSource, SUFFIX_LENGTH};
pub use policy::{DEFAULT_TIMEOUT_SECONDS, GangPolicy, GangStyle, IgnoredParameter, parse_policy};
