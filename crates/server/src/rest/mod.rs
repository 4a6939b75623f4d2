//! REST.

pub mod log_level;
