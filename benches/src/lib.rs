//! What the benchmarks share: clusters to measure on, and a table of medians.

pub mod change;
pub mod charge;
pub mod cluster;
pub mod durable;
pub mod explained;
pub mod gangs;
pub mod queue_file;
pub mod runs;
pub mod shared_charge;
pub mod shares;
pub mod snapshot;
pub mod table;
pub mod tenants;
pub mod waiting;
pub mod weigh;
pub mod wide;
