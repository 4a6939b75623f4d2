//! Simulates workloads and traces with the real core in virtual time, and writes reports.

pub mod fault;
pub mod metric;
pub mod nodes;
pub mod outcome;
pub mod report;
pub mod study;
pub mod workload;
pub mod world;
