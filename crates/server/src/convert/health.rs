//! Health checks.

use headroom_api::wsv1::{Health, HealthCheck};
use headroom_core::view::{Check, is_healthy};

use crate::conditions::Condition;

/// Returns the results of the checks of the books, and the conditions that prevent the server from working. The
/// reference has nine checks, so the conditions are listed only if they fail.
pub(crate) fn health(checks: &[Check], conditions: &[Condition]) -> Health {
    let check = |check: &Check| HealthCheck {
        name: check.name.to_owned(),
        succeeded: check.succeeded,
        description: check.description.to_owned(),
        diagnosis_message: check.detail.clone(),
    };
    let own = conditions.iter().map(|condition| HealthCheck {
        name: condition.name.to_owned(),
        succeeded: false,
        description: condition.description.to_owned(),
        diagnosis_message: condition.detail.clone(),
    });
    let healthy = is_healthy(checks) && conditions.is_empty();
    Health { healthy, health_checks: checks.iter().map(check).chain(own).collect() }
}
