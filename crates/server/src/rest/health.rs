//! Health checks: made at intervals, answered with the last result.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use headroom_api::wsv1::message;
use headroom_core::view::{Check, health};
use headroom_core::{Millis, Timestamp};

use crate::conditions::conditions;
use crate::convert;
use crate::service::Service;

use super::Rest;
use super::refusal::{Answer, Refusal};
use super::respond::json;
use super::settings::health_interval;

/// Result of the last health check.
#[derive(Debug, Default)]
pub struct Checks(Mutex<Option<Last>>);

#[derive(Clone, Debug)]
struct Last {
    at: Timestamp,
    found: Arc<[Check]>,
}

/// Interval at which the settings are read, because they can change at any time.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl Checks {
    /// Returns the result of the last check. `None` before the first check.
    pub fn last(&self) -> Option<Arc<[Check]>> {
        self.get().map(|last| last.found)
    }

    /// Makes a check now. The check reads every node, application, and allocation of a copy of the books.
    pub async fn run(&self, service: &Service) {
        let view = service.engine.views().at_least(0).await;
        let found = tokio::task::spawn_blocking(move || health(&view.books, view.counters)).await;
        if let Ok(found) = found {
            let last = Last { at: service.clock.now(), found: found.into() };
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
        }
    }

    /// Makes a check now, and then at the interval in the settings next to the queue file. Never returns.
    pub async fn keep(&self, service: &Service) {
        self.run(service).await;
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let interval = health_interval(&service.queue_file.in_force().extra);
            if self.is_due(service.clock.now(), interval) {
                self.run(service).await;
            }
        }
    }

    fn is_due(&self, now: Timestamp, interval: Option<Millis>) -> bool {
        let last = self.get().map(|last| last.at);
        let since = |last| interval.is_some_and(|interval| now.since(last) >= interval);
        last.is_none_or(since)
    }

    fn get(&self) -> Option<Last> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns the last result. Callers need no authentication.
pub(crate) async fn get_health_check(
    State(service): State<Service>,
    Extension(rest): Extension<Arc<Rest>>,
) -> Answer {
    let last = rest.checks.last();
    let last = last.ok_or_else(|| Refusal::missing(message::NO_HEALTH_CHECK))?;
    Ok(json(&convert::health::health(&last, &conditions(&service))))
}
