//! `POST …/tenants/{tenant}/quota/check`: predicts whether a task would start, wait, or be rejected.
//!
//! The core evaluates the task like submissions and waiting tasks, on a copy of the books that is then dropped.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::Response;
use headroom_api::headroomv1::{self as api, QuotaCheck, TaskReason};
use headroom_core::books::TaskRequest;
use headroom_core::view::{PredictedTask, predict_task};
use headroom_core::{Rejection, Timestamp, view};

use super::super::answer::{Refused, json};
use super::super::request::NativeRequest;
use super::super::words::time;
use super::change::{read, refused};
use super::scope::TenantScope;
use super::waiting::Reason;
use crate::service::Service;

/// Result before the rights of the caller are applied.
enum Found {
    Starts,
    Waits { reason: Reason, position: u64, of: u64 },
    Declined { code: String, sentence: String },
}

impl Found {
    fn of(foreseen: PredictedTask, now: Timestamp) -> Self {
        match foreseen {
            PredictedTask::Starts => Self::Starts,
            PredictedTask::Waits { wait, ask, books } => {
                let place = view::place(&books, now, books.allocation(ask).application);
                let (position, of) = place.unwrap_or_default();
                let (position, of) = (position as u64, of as u64);
                Self::Waits { reason: Reason::of(&books, ask, wait), position, of }
            }
            PredictedTask::Declined { code, message } => {
                Self::Declined { code: code.to_string(), sentence: message.to_string() }
            }
        }
    }
}

pub(super) async fn check(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Bytes,
) -> Result<Response<Body>, Refused> {
    let submission: api::TaskSubmission = read(&asked, &body)?;
    let now = service.clock.now();
    let view = service.engine.views().at_least(0).await;
    let here = TenantScope::of(&view, &asked)?;
    let (tenant, _) = here.tenant()?;
    let task = here.submission(&tenant, &submission, TaskRequest::default())?;
    let foreseen = service.engine.inspect_at(move |moment| {
        let foreseen = predict_task(moment.books, moment.scheduler, now, &task);
        (moment.sequence, moment.time, foreseen)
    });
    let foreseen = foreseen.await.map_err(|why| Refused::unavailable(&asked, &why))?;
    let (sequence, at, foreseen): (u64, Timestamp, Result<PredictedTask, Rejection>) = foreseen;
    // Not on the writer's thread, because the cost of the position depends on the number of waiting tasks.
    let found = foreseen.map(|foreseen| Found::of(foreseen, now));
    // The result is sent only when the books that it is based on are durable.
    let view = service.engine.views().at_least(sequence).await;
    let here = TenantScope::of(&view, &asked)?;
    here.tenant()?;
    let mut check = QuotaCheck {
        tenant: tenant.to_string(),
        ledger_version: sequence,
        as_of: time(at),
        ..QuotaCheck::default()
    };
    match found.map_err(|rejection| refused(&asked, &rejection))? {
        Found::Starts => check.fits = true,
        Found::Waits { reason, position, of } => {
            check.position = Some(position);
            check.of = Some(of);
            check.reasons.push(here.shown(reason));
        }
        Found::Declined { code, sentence } => {
            let sentence = Some(sentence);
            check.reasons.push(TaskReason { code, sentence, ..TaskReason::default() });
        }
    }
    Ok(json(&asked, &check))
}
