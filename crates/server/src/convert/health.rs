//! Health checks.

use headroom_api::wsv1::{Health, HealthCheck};
use headroom_core::view::{Check, is_healthy};

/// What the checks found.
pub(crate) fn health(checks: &[Check]) -> Health {
    let check = |check: &Check| HealthCheck {
        name: check.name.to_owned(),
        succeeded: check.succeeded,
        description: check.description.to_owned(),
        diagnosis_message: check.detail.clone(),
    };
    Health { healthy: is_healthy(checks), health_checks: checks.iter().map(check).collect() }
}
