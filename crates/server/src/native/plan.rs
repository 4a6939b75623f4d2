//! `POST /headroom/v1/plan` and `…/apply`: previews a queue file, and applies a previewed file. Decision page
//! 34.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{Response, StatusCode};
use headroom_api::headroomv1::{Code, Plan, PlanEffects, QueueFileApplied};
use headroom_core::RefusalCode;
use tokio::sync::OwnedSemaphorePermit;

use super::answer::{Refused, json};
use super::request::NativeRequest;
use super::words::{epoch, time};
use crate::audit::origin;
use crate::planning::{PLAN_QUEUES_MAX, node_totals, plan_asked_for};
use crate::queue_file::{Condition, QueueFileError};
use crate::service::Service;

/// Name of a queue file that is part of a request.
const SENT: &str = "queues.yaml";
/// Accepted media types of a queue file. The empty media type is for a missing header.
const YAML: [&str; 5] = ["", "application/x-yaml", "application/yaml", "text/yaml", "text/plain"];

pub(super) async fn plan(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response<Body>, Refused> {
    asked.parameters(&[])?;
    let bytes = sent(&asked, body)?;
    let entered = enter(&service, &asked).await?;
    let view = service.engine.views().at_least(0).await;
    let now = service.clock.now().max(view.time);
    let (sequence, as_of) = (view.sequence, view.time);
    let made = tokio::task::spawn_blocking(move || {
        // The permit is held until the plan is computed, even if the client disconnects.
        let _entered = entered;
        plan_asked_for(&view.books, now, &node_totals(&view.books), (SENT, &bytes))
    });
    let Some(mut plan) = made.await.map_err(|_| failed(&asked))? else {
        let detail = format!(
            "the file has more than {PLAN_QUEUES_MAX} queues, which is too many for a plan on the server. \
             Run `headroom plan --journal` on the command line."
        );
        return Err(Refused::new(&asked, Code::TooLarge, detail));
    };
    // The digest does not depend on these names.
    for ask in plan.effects.iter_mut().flat_map(PlanEffects::asks_mut) {
        ask.pod = asked.pods.of(&ask.partition, &ask.key);
    }
    let (epoch, as_of) = (Some(epoch(&service)), Some(time(as_of)));
    Ok(json(&asked, &Plan { sequence, epoch, as_of, ..plan }))
}

pub(super) async fn apply(
    State(service): State<Service>,
    asked: NativeRequest,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response<Body>, Refused> {
    let condition = condition(&asked)?;
    let bytes = sent(&asked, body)?;
    let text = String::from_utf8(bytes.to_vec()).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Refused::new(&asked, Code::Malformed, format!("the body is not UTF-8 at byte {at}"))
    })?;
    let (entered, to_apply) = (enter(&service, &asked).await?, service.clone());
    let origin = origin(&asked.caller, &asked.request_id);
    // This runs to its end even if the client disconnects, because books, text, and users must change together.
    let applied = tokio::spawn(async move {
        let _entered = entered;
        to_apply.queue_file.apply_if(origin, &text, condition).await
    });
    let applied = applied.await.map_err(|_| failed(&asked))?;
    let applied = applied.map_err(|why| refused(&asked, &why))?;
    let body = QueueFileApplied {
        sequence: applied.sequence,
        checksum: applied.checksum,
        warnings: u64::try_from(applied.warnings.counts().warnings).unwrap_or(u64::MAX),
        watched: service.queue_file.watched().map(|path| path.display().to_string()),
    };
    Ok(json(&asked, &body))
}

/// Returns the condition for applying a file.
fn condition(asked: &NativeRequest) -> Result<Condition, Refused> {
    let parameters = asked.parameters(&["plan", "force"])?;
    let force = parameters.flag("force")?.unwrap_or(false);
    match parameters.get("plan") {
        _ if force => Ok(Condition::Always),
        Some(digest) if is_digest(digest) => Ok(Condition::Says(digest.to_owned())),
        Some(other) => {
            let detail = format!(
                "plan is {other:?}, but it must be the `digest` of a plan, with 64 digits and letters A to F"
            );
            Err(Refused::new(asked, Code::Malformed, detail))
        }
        None => {
            let detail = "the request has no plan. Send `plan` with the `digest` that \
                          `/headroom/v1/plan` returns for this file, or `force=true` to apply the \
                          file without a plan.";
            Err(Refused::new(asked, Code::PreconditionRequired, detail))
        }
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
}

fn sent(asked: &NativeRequest, body: Result<Bytes, BytesRejection>) -> Result<Bytes, Refused> {
    asked.sends(&YAML)?;
    body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            Refused::new(asked, Code::TooLarge, "the body exceeds the size limit")
        }
        _ => Refused::new(asked, Code::Malformed, error.body_text()),
    })
}

async fn enter(service: &Service, asked: &NativeRequest) -> Result<OwnedSemaphorePermit, Refused> {
    let detail =
        "the server is making another plan, and makes only one at a time. Try again later.";
    let crowded = || Refused::new(asked, Code::TooManyRequests, detail);
    service.queue_file.plans().enter().await.ok_or_else(crowded)
}

fn failed(asked: &NativeRequest) -> Refused {
    Refused::new(
        asked,
        Code::Internal,
        "the server failed to make the plan. See the log of the server.",
    )
}

fn refused(asked: &NativeRequest, why: &QueueFileError) -> Refused {
    let refuse = |code, detail: String| Refused::new(asked, code, detail);
    match why {
        QueueFileError::Faulty(found) => {
            let first = found.iter().next();
            let first = first.map(|one| {
                format!("line {}, column {}: {}: {}", one.line, one.column, one.code, one.message)
            });
            let errors = found.counts().errors;
            let first = first.unwrap_or_default();
            let count = if errors == 1 { "1 error".into() } else { format!("{errors} errors") };
            refuse(Code::Invalid, format!("the queue file has {count}; {first}"))
        }
        QueueFileError::Resolver(error) => refuse(Code::Invalid, error.to_string()),
        QueueFileError::Rejected(rejection) => {
            refuse(Code::Conflict, rejection.to_string()).by_rule(rejection.code())
        }
        QueueFileError::Moved { .. } => {
            refuse(Code::Conflict, why.to_string()).by_rule(RefusalCode::PlanMoved)
        }
        QueueFileError::Failed => failed(asked),
        QueueFileError::Unavailable(why) => Refused::unavailable(asked, why),
        QueueFileError::Keep { .. } => refuse(Code::Internal, crate::chain(why)),
    }
}
