//! Every recorded history, played through the server: requests go in over gRPC, what the resource
//! manager is told comes back the same way, and the state is read over REST. It is compared with
//! the same list of deviations as the core alone.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod messages;
mod queue_file;
mod recorded;
mod server;

use xtask::conformance;

#[test]
fn every_history_is_the_recorded_one_over_sockets() {
    let reports = conformance::replay(&|config| Box::new(server::Server::start(config))).unwrap();
    conformance::print(&reports, true);
    assert!(!reports.is_empty(), "there are recorded histories");
    assert!(reports.iter().all(conformance::Report::is_complete), "see the list above");
}
