//! Whether the server does its work: the conditions of every kind of health check, in addition to the checks of
//! the books.
//!
//! One list for `/readyz`, `/ws/v1/scheduler/healthcheck` and all others, so that they agree. It is made when it
//! is asked for, reads shared state only, and waits for nobody.

use headroom_api::headroomv1::ResourceManagerState;

use crate::native::time;
use crate::service::Service;

/// Something that keeps the server from its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    /// The name of the check.
    pub(crate) name: &'static str,
    /// What the check looks for.
    pub(crate) description: &'static str,
    /// What was found, in a sentence.
    pub(crate) detail: String,
    /// Whether requests are refused because of it.
    pub(crate) refuses: bool,
}

/// Returns what keeps the server from its work now; nothing if all is well.
pub(crate) fn conditions(service: &Service) -> Vec<Condition> {
    let mut found = Vec::new();
    let health = service.engine.health();
    if !health.is_serving() {
        found.push(Condition {
            name: "Journal",
            description: "The journal can be written, and the scheduler accepts commands",
            // Everybody may ask; the reason, which names files, is in the log and in `/headroom/v1/health`.
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
