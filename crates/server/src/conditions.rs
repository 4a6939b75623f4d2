//! Conditions that prevent the server from working, for every kind of health check, in addition to the checks of the
//! books.
//!
//! `/readyz`, `/ws/v1/scheduler/healthcheck`, and all other health checks use the same list, so that they agree. The
//! list is computed for each request from shared state, without blocking.

use headroom_api::headroomv1::ResourceManagerState;

use crate::native::time;
use crate::service::Service;

/// A condition that prevents the server from working.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    /// Name of the check.
    pub(crate) name: &'static str,
    /// Property that the check verifies.
    pub(crate) description: &'static str,
    /// Result of the check, as a sentence.
    pub(crate) detail: String,
    /// Whether the server rejects requests because of the condition.
    pub(crate) refuses: bool,
}

/// Returns the conditions that currently prevent the server from working. Empty without such conditions.
pub(crate) fn conditions(service: &Service) -> Vec<Condition> {
    let mut found = Vec::new();
    let health = service.engine.health();
    if !health.is_serving() {
        found.push(Condition {
            name: "Journal",
            description: "The journal can be written, and the scheduler accepts commands",
            // Every caller can read this. The reason, which has names of files, is in the log and in
            // `/headroom/v1/health`.
            detail: "the scheduler accepts no commands. See the log of the server.".to_owned(),
            refuses: true,
        });
    }
    found.extend(service.live().rms().iter().filter_map(|manager| {
        let is_away = match manager.state {
            ResourceManagerState::Paused | ResourceManagerState::Stopped => true,
            ResourceManagerState::Init | ResourceManagerState::Running => false,
        };
        is_away.then(|| Condition {
            name: "Resource managers",
            description: "Every registered resource manager is connected",
            detail: format!(
                "resource manager {} has been disconnected since {}",
                manager.id, manager.last_seen
            ),
            refuses: false,
        })
    }));
    found.extend(service.engine.clock_offset().map(|both| Condition {
        name: "System clock",
        description: "The system clock agrees with the scheduler",
        detail: format!(
            "the system clock shows {}, but the scheduler uses {}",
            time(both.system),
            time(both.engine)
        ),
        refuses: false,
    }));
    found
}
