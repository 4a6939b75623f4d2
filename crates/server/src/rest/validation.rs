//! Validates a queue file without applying it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use headroom_config::verdict;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::convert::validation::validation;

use super::refusal::{Answer, Refusal};
use super::request::RestRequest;
use super::respond::{blocking, json};

/// Size up to which a file counts as small, in bytes.
const SMALL_BYTES: usize = 256 << 10;
/// Longest wait of a file for other files.
const WAIT_FOR_OTHERS: Duration = Duration::from_secs(5);

/// Limits concurrent validations. A large file takes seconds and about a hundred megabytes, so small files have their
/// own limit and do not wait for large files.
#[derive(Debug)]
pub(crate) struct Reviews {
    small: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

impl Default for Reviews {
    fn default() -> Self {
        Self { small: Arc::new(Semaphore::new(4)), large: Arc::new(Semaphore::new(1)) }
    }
}

impl Reviews {
    /// Waits until a file of this size can be validated.
    ///
    /// # Errors
    /// If too many other files wait.
    async fn enter(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        let kind = if bytes > SMALL_BYTES { &self.large } else { &self.small };
        let permit = timeout(WAIT_FOR_OTHERS, Arc::clone(kind).acquire_owned()).await;
        let crowded = || Refusal::crowded(5, "the limit of concurrent validations is reached");
        permit.ok().and_then(Result::ok).ok_or_else(crowded)
    }
}

pub(crate) async fn validate_config(
    asked: RestRequest,
    body: Result<Bytes, BytesRejection>,
) -> Answer {
    let bytes = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the body exceeds the size limit")
        }
        _ => Refusal::bad(error.body_text()),
    })?;
    let entered = asked.rest.reviews.enter(bytes.len()).await?;
    blocking(move || {
        // The permit is held until the validation ends, even if the client disconnects.
        let _entered = entered;
        let (diagnostics, checksum) = verdict(&bytes);
        json(&validation(&diagnostics, checksum))
    })
    .await
}
