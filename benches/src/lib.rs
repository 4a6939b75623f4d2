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

use headroom_core::Millis;
use headroom_core::config::{GangPlacement, PartitionConfig, QueueConfig};
use headroom_core::userlimit::Decimal;

/// The partition `default` with these queues. With `HEADROOM_BENCH_KEYS`, it has the keys that prevent starvation.
pub fn partition(root: QueueConfig) -> PartitionConfig {
    let partition = PartitionConfig::new("default", root);
    if std::env::var_os("HEADROOM_BENCH_KEYS").is_none() {
        return partition;
    }
    PartitionConfig {
        gang_placement: GangPlacement::Whole,
        starvation_after: Millis::from_secs(300),
        reservation_share: Decimal::parse("0.1"),
        ..partition
    }
}
