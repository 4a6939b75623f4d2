//! An entry of `limits` of a queue.

use alloc::string::String;
use alloc::vec::Vec;

use crate::name::Name;
use crate::resource::Amounts;

/// Limit of each named user and of each named group in one queue and its descendants.
///
/// Users and groups are not summed up: `users: [a, b]` gives each of them the whole limit. The name `*` stands for
/// every other user, or for one common group of all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitConfig {
    /// Description as free text.
    pub description: String,
    /// User names in the order of the file, including `*`.
    pub users: Vec<Name>,
    /// Group names in the order of the file, including `*`.
    pub groups: Vec<Name>,
    /// Limit by type. 0 forbids a type, and types that are not named are unlimited.
    pub max_resources: Amounts,
    /// Limit on running applications. 0 is unlimited.
    pub max_applications: u64,
}
