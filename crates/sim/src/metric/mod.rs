//! Metrics of a run: an [`Outcome`](crate::outcome::Outcome) condensed to a [`Summary`].
//!
//! Sums are exact integers (amount × ms). Only the final results are floats, rounded to a fixed number of decimals. No
//! function depends on the machine, so the same outcome gives the same summary everywhere. The cost is O(n log n) in
//! jobs and allocations.
//!
//! Definitions for readers who want to recompute the metrics:
//!
//! - **Wait** of a started job: start of its last task − submission. For a gang, the start is the time at which the
//!   gang was complete. Jobs that still wait at the end are counted separately ([`OpenWaits`]). Impossible and rejected
//!   jobs are not counted.
//! - **Percentile** p of n sorted values: the value at rank ⌈p·n/100⌉ (nearest rank, always a value that occurred).
//! - **Bounded slowdown**: max(1, (wait + run) / max(run, 10 s)).
//! - **Dominant-share hours** of a user: the largest, over the resource types, of the user's resource-hours ÷ the
//!   cluster's resource-hours, times the length of the run.
//! - **Jain's index** over the n users with at least one job that could run, x = dominant-share hours: (Σx)² / (n·Σx²).
//!   1 means that all users are equal. 1/n means that one user has everything.
//! - **Unusable** amounts (fragmentation): free amounts on nodes where no waiting task fits. Sampled at the middle of
//!   each bin of the grid, if any task waits.
//! - **Makespan**: time from the first submission to the last end of an allocation, or to the end of the run if an
//!   allocation still runs.

mod blockers;
mod fragmentation;
mod grid;
mod queues;
mod recorded;
mod refusals;
mod series;
mod statistics;
mod summarise;
mod summary;
mod tally;
mod tasks;
mod types;

pub use grid::Grid;
pub use recorded::recorded;
pub use series::Series;
pub use statistics::percentile;
pub use summarise::summarise;
pub use summary::{
    BlockerSummary, GangSummary, Guarantee, JobCounts, OpenWaits, QueueSummary, RecordedWaits,
    Refusal, Scope, SeriesSet, Slowdowns, Summary, TypeSummary, WaitBucket, WaitedFor, Waits,
};
