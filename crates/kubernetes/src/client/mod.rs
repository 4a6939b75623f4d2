//! Requests to the API server.
//!
//! TLS and credentials are those of the `kube` crate. Objects are decoded here, as the lean types of
//! [`headroom_pods::object`], so `managedFields` and other unread fields are never stored. Each answer has a limit of
//! bytes and of time.

mod body;
mod connect;
mod fault;
mod lines;
mod pace;
pub mod path;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use headroom_server::{ClusterCounters, ClusterRequest};
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{Method, Request, Response};
use kube::client::Body;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tower::ServiceExt as _;

pub use body::Content;
pub use fault::{ConnectFault, Fault, Refusal};
pub use lines::Lines;

use body::Readable;
use connect::Requests;
use pace::Pace;

/// Time within which a single answer must be complete.
const ANSWER_TIME: Duration = Duration::from_secs(30);
/// Time within which a stream must begin.
const STREAM_TIME: Duration = Duration::from_mins(1);
/// Most times that a request is sent again at once, because the API server did not process it.
const UNPROCESSED_MAX: u32 = 3;
/// Most bytes of an answer with one object. The API server stores at most a few megabytes.
const OBJECT_BYTES: usize = 16 * 1024 * 1024;
/// Most bytes of an answer with a page of objects.
const PAGE_BYTES: usize = 256 * 1024 * 1024;
/// Most bytes of a refusal that are read.
const REFUSAL_BYTES: usize = 64 * 1024;
/// Longest pause that the API server can request by `Retry-After`.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// A client of one API server. Clones share their connections and their pace.
#[derive(Clone)]
pub struct Api {
    requests: Requests,
    streams: kube::Client,
    pace: Arc<Pace>,
    counters: Arc<ClusterCounters>,
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Api")
    }
}

impl From<kube::Client> for Api {
    fn from(client: kube::Client) -> Self {
        Self::new(connect::through(&client), client)
    }
}

impl Api {
    fn new(requests: Requests, streams: kube::Client) -> Self {
        let (pace, counters) = (Arc::new(Pace::default()), Arc::default());
        Self { requests, streams, pace, counters }
    }

    /// Returns the counters of all clones.
    pub fn counters(&self) -> &Arc<ClusterCounters> {
        &self.counters
    }

    /// Connects as `KUBECONFIG` specifies, or `~/.kube/config`, or else with the account of the pod that this process
    /// runs in.
    ///
    /// # Errors
    ///
    /// Returns why there is no usable configuration. An API server that does not answer is no error yet.
    pub async fn from_environment() -> Result<Self, ConnectFault> {
        let config = Config::infer().await.map_err(|error| ConnectFault(error.to_string()))?;
        Self::with_config(config)
    }

    /// Connects as a file specifies.
    ///
    /// # Errors
    ///
    /// Returns why the file is not usable.
    pub async fn from_file(file: &Path) -> Result<Self, ConnectFault> {
        let fault = |error: kube::config::KubeconfigError| ConnectFault(error.to_string());
        let kubeconfig = Kubeconfig::read_from(file).map_err(fault)?;
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(fault)?;
        Self::with_config(config)
    }

    fn with_config(mut config: Config) -> Result<Self, ConnectFault> {
        // Each caller decides itself what is repeated, and when.
        config.default_retry = false;
        let (requests, streams) = connect::clients(config)?;
        Ok(Self::new(requests, streams))
    }

    /// Limits the writes per second. `burst` writes can be sent at once.
    #[must_use]
    pub fn limited(self, per_second: u32, burst: u32) -> Self {
        Self { pace: Arc::new(Pace::limited(per_second, burst)), ..self }
    }

    /// Reads an object.
    ///
    /// # Errors
    ///
    /// Returns why there is no object.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        self.pace.resumed().await;
        decode(&self.answer(Method::GET, path, Content::None, OBJECT_BYTES).await?)
    }

    /// Reads a page of objects.
    ///
    /// # Errors
    ///
    /// Returns why there is no page.
    pub async fn page(&self, path: &str) -> Result<Bytes, Fault> {
        self.answer(Method::GET, path, Content::None, PAGE_BYTES).await
    }

    /// Writes, and returns the answer.
    ///
    /// # Errors
    ///
    /// Returns why the write has no answer. Unless the fault is a refusal, the write can have happened.
    pub async fn write(
        &self,
        method: Method,
        path: &str,
        content: Content<'_>,
    ) -> Result<Bytes, Fault> {
        self.pace.turn().await;
        let answer = self.answer(method, path, content, OBJECT_BYTES).await;
        if let Err(Fault::Refused(refusal)) = &answer
            && refusal.code == 429
        {
            // All writes pause, because each of them would be refused too.
            self.pace.pause(refusal.retry_after.unwrap_or(Duration::from_secs(1)).min(PAUSE_MAX));
        }
        answer
    }

    /// Opens a stream of lines.
    ///
    /// # Errors
    ///
    /// Returns why there is no stream.
    pub async fn stream(&self, path: &str) -> Result<Lines, Fault> {
        let request = request(Method::GET, path, Content::None)?;
        let mut code = None;
        let sent = async {
            let response = self.streams.send(request).await;
            let response = response.map_err(|error| Fault::Unreachable(chain(&error)))?;
            code = Some(response.status().as_u16());
            accepted(response).await
        };
        let answer = tokio::time::timeout(STREAM_TIME, sent).await;
        self.count(&Method::GET, code);
        Ok(Lines::new(answer.unwrap_or(Err(Fault::Late(STREAM_TIME)))?.into_body()))
    }

    async fn answer(
        &self,
        method: Method,
        path: &str,
        content: Content<'_>,
        limit: usize,
    ) -> Result<Bytes, Fault> {
        let mut code = None;
        let answer = async {
            let mut tries = 0;
            let response = loop {
                let request = request(method.clone(), path, content)?;
                match self.requests.clone().oneshot(request).await {
                    Ok(response) => break response,
                    Err(error) if tries < UNPROCESSED_MAX && was_unprocessed(&*error) => tries += 1,
                    Err(error) => return Err(Fault::Unreachable(chain(&*error))),
                }
            };
            code = Some(response.status().as_u16());
            body::read(accepted(response).await?.into_body(), limit).await
        };
        let answer = tokio::time::timeout(ANSWER_TIME, answer).await;
        self.count(&method, code);
        answer.unwrap_or(Err(Fault::Late(ANSWER_TIME)))
    }

    fn count(&self, method: &Method, code: Option<u16>) {
        self.counters.requested(ClusterRequest { method: name_of(method), code });
    }
}

/// Returns an answer unless it is a refusal.
async fn accepted<B: Readable>(response: Response<B>) -> Result<Response<B>, Fault> {
    if response.status().is_success() {
        return Ok(response);
    }
    Err(Fault::Refused(refusal(response).await))
}

/// Returns whether the API server has certainly not processed a request: it closed the connection, or refused the stream,
/// before it looked at the request.
fn was_unprocessed(error: &(dyn std::error::Error + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.filter_map(|error| error.downcast_ref::<h2::Error>()).any(|error| {
        error.is_remote()
            && match error.reason() {
                Some(h2::Reason::NO_ERROR) => error.is_go_away(),
                Some(h2::Reason::REFUSED_STREAM) => error.is_reset(),
                _ => false,
            }
    })
}

/// Returns the name of a method that is sent here.
fn name_of(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

/// Decodes an object.
///
/// # Errors
///
/// Returns what is unreadable.
pub fn decode<T: DeserializeOwned>(text: &[u8]) -> Result<T, Fault> {
    serde_json::from_slice(text).map_err(|error| Fault::Unreadable(error.to_string()))
}

fn request(method: Method, path: &str, content: Content<'_>) -> Result<Request<Body>, Fault> {
    let mut request =
        Request::builder().method(method).uri(path).header(ACCEPT, "application/json");
    if let Some(kind) = content.kind() {
        request = request.header(CONTENT_TYPE, kind);
    }
    request.body(Body::from(content.bytes())).map_err(|error| Fault::Unsendable(error.to_string()))
}

/// The `Status` object that explains a refusal.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Status {
    pub(crate) code: u16,
    pub(crate) reason: String,
    pub(crate) message: String,
    details: Option<StatusDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct StatusDetails {
    retry_after_seconds: u64,
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        let seconds = status.details.map_or(0, |details| details.retry_after_seconds);
        Self {
            code: status.code,
            reason: status.reason,
            message: status.message,
            retry_after: (seconds > 0).then(|| Duration::from_secs(seconds)),
        }
    }
}

async fn refusal(response: Response<impl Readable>) -> Refusal {
    let code = response.status().as_u16();
    let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = header.and_then(|value| value.parse().ok()).map(Duration::from_secs);
    let text = body::read(response.into_body(), REFUSAL_BYTES).await.unwrap_or_default();
    // A proxy can refuse with any text.
    let status = serde_json::from_slice::<Status>(&text).unwrap_or_else(|_| Status {
        message: String::from_utf8_lossy(&text).chars().take(200).collect(),
        ..Status::default()
    });
    let refusal = Refusal::from(status);
    Refusal { code, retry_after: retry_after.or(refusal.retry_after), ..refusal }
}

/// Returns the message of an error with the messages of its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}
