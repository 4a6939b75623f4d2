//! Plays workloads and traces against the real core in virtual time, and reports.

pub mod nodes;
pub mod outcome;
pub mod workload;
