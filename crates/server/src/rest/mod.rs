//! REST.

pub mod log_level;
pub mod probe;
