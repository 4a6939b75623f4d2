//! Plays workloads and traces against the real core in virtual time, and reports.

pub mod fault;
pub mod metric;
pub mod nodes;
pub mod outcome;
pub mod report;
pub mod study;
pub mod workload;
pub mod world;
