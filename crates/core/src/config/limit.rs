//! A `limits` entry of a queue.

use alloc::string::String;
use alloc::vec::Vec;

use crate::name::Name;
use crate::resource::Amounts;

/// What each named user, and each named group, may use in one queue and below.
///
/// Users and groups are not added up: `users: [a, b]` gives each of them the whole limit.
/// The name `*` stands for every other user, or for one common group of all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitConfig {
    /// Free text.
    pub description: String,
    /// User names in file order, `*` included.
    pub users: Vec<Name>,
    /// Group names in file order, `*` included.
    pub groups: Vec<Name>,
    /// Types named are limited to the amount (0 forbids); others are unlimited.
    pub max_resources: Amounts,
    /// Applications that may run at once; 0 = unlimited.
    pub max_applications: u64,
}
