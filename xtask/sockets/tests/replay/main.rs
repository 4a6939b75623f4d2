//! Every recorded history, played through the server: requests go in over gRPC, what the resource
//! manager is told comes back the same way, and the state is read over REST. It is compared with
//! the same list of deviations as the core alone.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod recorded;
mod server;

use std::path::Path;

use xtask::conformance;
use xtask::conformance::scenario::Home;

#[test]
fn every_history_is_the_recorded_one_over_sockets() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let begin = |config: &str| -> Box<dyn Home> { Box::new(server::Server::start(config)) };
    let reports = conformance::replay(&recorded, &begin).unwrap();
    conformance::print(&reports, true);
    assert!(!reports.is_empty(), "there are recorded histories");
    assert!(reports.iter().all(conformance::Report::is_complete), "see the list above");
}
