//! A request from the view of a handler: the caller, the parameters, and access to the books.

use std::sync::Arc;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, Query, RawPathParams};
use axum::http::StatusCode;
use axum::http::request::Parts;
use headroom_core::books::Books;
use headroom_core::config::legal::is_queue_name;
use headroom_core::id::{PartitionId, QueueId};
use headroom_engine::View;

use crate::caller::Caller;
use crate::service::Service;

use super::Rest;
use super::decode;
use super::refusal::{Answer, Refusal};
use super::respond::{blocking, json};
use super::visible::Visibility;

/// A request from the view of a handler.
#[derive(Debug)]
pub(crate) struct RestRequest {
    pub(crate) service: Service,
    pub(crate) rest: Arc<Rest>,
    pub(crate) caller: Caller,
    path: Vec<(String, String)>,
    query: Vec<(String, String)>,
}

impl FromRequestParts<Service> for RestRequest {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Refusal> {
        let path = match RawPathParams::from_request_parts(parts, service).await {
            Ok(path) => {
                path.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
            }
            Err(RawPathParamsRejection::InvalidUtf8InPathParam(error)) => {
                return Err(Refusal::bad(error.body_text()));
            }
            Err(_) => Vec::new(), // The path has none.
        };
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri)
            .map_err(|error| Refusal::bad(error.body_text()))?;
        let rest = parts.extensions.get::<Arc<Rest>>().cloned();
        let rest = rest.ok_or_else(|| Refusal::failed("the route is not mounted"))?;
        // The module that mounts the routes sets the caller. Without one, the request is refused.
        let nobody = || Refusal::new(StatusCode::UNAUTHORIZED, "the caller is not known");
        let caller = parts.extensions.get::<Caller>().cloned().ok_or_else(nobody)?;
        Ok(Self { service: service.clone(), rest, caller, path, query: query.0 })
    }
}

impl RestRequest {
    /// Returns a parameter of the path, decoded once. Empty if the path has no such parameter.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.path.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// Returns a parameter of the path, decoded a second time.
    ///
    /// # Errors
    /// If the parameter has an invalid escape.
    pub(crate) fn decoded(&self, name: &str) -> Result<String, Refusal> {
        decode::form(self.parameter(name)).map_err(|error| Refusal::bad(error.to_string()))
    }

    /// Returns the first value of a query parameter. Empty if the parameter has no value.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the number in a query parameter. `None` if the parameter is absent or empty.
    ///
    /// # Errors
    /// If the value is not a non-negative integer.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Refusal> {
        let Some(text) = self.query(name).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let number = text.parse().ok().filter(|_| !text.starts_with('+'));
        let number = number.ok_or_else(|| {
            Refusal::bad(format!(
                "{name} is {text:?}, but it must be a whole number from 0 to {}",
                u64::MAX
            ))
        });
        number.map(Some)
    }

    /// Returns the books with everything that was answered before this request.
    pub(crate) async fn view(&self) -> Arc<View> {
        self.service.engine.views().at_least(0).await
    }

    /// Returns what the caller sees.
    pub(crate) fn sight(&self) -> Visibility {
        Visibility::of(&self.caller)
    }

    /// Runs `look` on a thread for blocking work, and returns its result as JSON.
    pub(crate) async fn object<T: serde::Serialize + Send + 'static>(
        &self,
        look: impl FnOnce(&Seen) -> Result<T, Refusal> + Send + 'static,
    ) -> Answer {
        let seen = self.seen().await;
        blocking(move || look(&seen).map(|found| json(&found))).await?
    }

    /// Runs `look` on a thread for blocking work, and returns its list piece by piece.
    pub(crate) async fn list<T, I>(
        &self,
        look: impl FnOnce(Seen) -> Result<I, Refusal> + Send + 'static,
    ) -> Answer
    where
        T: serde::Serialize,
        I: Iterator<Item = T> + Send + 'static,
    {
        let seen = self.seen().await;
        self.rest.large.list(move || look(seen)).await
    }

    pub(crate) async fn seen(&self) -> Seen {
        let view = self.view().await;
        Seen { view, sight: self.sight(), rest: Arc::clone(&self.rest) }
    }
}

/// The books from the view of a caller.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) view: Arc<View>,
    pub(crate) sight: Visibility,
    pub(crate) rest: Arc<Rest>,
}

impl Seen {
    pub(crate) fn books(&self) -> &Books {
        &self.view.books
    }

    /// Returns the partition with this name.
    ///
    /// # Errors
    /// If the partition does not exist, or the caller sees nothing of it.
    pub(crate) fn partition(&self, name: &str) -> Result<PartitionId, Refusal> {
        let found = self.books().partition_named(name);
        let found = found.filter(|found| self.sight.sees_partition(self.books(), *found));
        found.ok_or_else(Refusal::no_partition)
    }

    /// Returns the partitions of which the caller sees a part: `default` first, then sorted by name.
    pub(crate) fn partitions(&self) -> Vec<PartitionId> {
        let books = self.books();
        let mut ids: Vec<PartitionId> = books.partitions().keys().copied().collect();
        ids.retain(|id| self.sight.sees_partition(books, *id));
        ids.sort_by_key(|id| {
            let name = &books.partition(*id).name;
            (*name != "default", name.clone())
        });
        ids
    }

    /// Returns the queue with this path, which must be valid.
    ///
    /// # Errors
    /// If the queue does not exist, or the caller sees nothing of it.
    pub(crate) fn queue(&self, partition: PartitionId, path: &str) -> Result<QueueId, Refusal> {
        let found = self.books().queue_at(partition, &path.to_lowercase());
        let found = found.filter(|queue| self.sight.sees_queue(self.books(), *queue));
        found.ok_or_else(Refusal::no_queue)
    }
}

/// Checks the parts of a queue path. An empty path is accepted here, and matches no queue.
pub(crate) fn check_queue_path(path: &str) -> Result<(), Refusal> {
    match path.split('.').find(|part| !is_queue_name(part)) {
        Some(part) if !path.is_empty() => Err(Refusal::bad(format!(
            "the queue path has the part {part:?}, but a queue name must have 1 to 64 characters, each \
             a letter, a digit, or one of - _ : # / @"
        ))),
        _ => Ok(()),
    }
}
