//! The verdict on a queue file, which is not applied.

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

/// How large a file is that is judged with all others of its kind, in bytes.
const SMALL_BYTES: usize = 256 << 10;
/// How long a file waits for others.
const WAIT_FOR_OTHERS: Duration = Duration::from_secs(5);

/// Files that are judged at once: a large one takes seconds and a hundred megabytes, so small ones do not
/// wait for them.
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
    /// When a file of so many bytes may be judged.
    ///
    /// # Errors
    /// When too many others are before it.
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
        // Until it is done, even if nobody waits for it any more.
        let _entered = entered;
        let (diagnostics, checksum) = verdict(&bytes);
        json(&validation(&diagnostics, checksum))
    })
    .await
}
