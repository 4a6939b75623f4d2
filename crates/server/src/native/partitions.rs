//! `GET /headroom/v1/partitions` and `…/partitions/{partition}/summary`.

use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use headroom_api::headroomv1::{Code, Page, StampedPartition};
use headroom_core::books::Books;
use headroom_core::id::PartitionId;

use super::answer::{Refused, json};
use super::request::NativeRequest;
use super::summary::{Ages, summary};
use super::visible;
use super::words::stamp;
use crate::service::Service;

/// Returns the partitions that the caller can see: `default` first, then sorted by name.
fn seen(books: &Books, asked: &NativeRequest) -> Vec<PartitionId> {
    let root_or_below = |partition: PartitionId| {
        let mut queues = books.partition(partition).queues.iter();
        visible::everything(&asked.caller)
            || queues.any(|(_, queue)| visible::queue(books, &asked.caller, *queue))
    };
    let mut seen: Vec<PartitionId> =
        books.partitions().keys().copied().filter(|one| root_or_below(*one)).collect();
    seen.sort_by_key(|one| {
        let name = &books.partition(*one).name;
        (name.as_str() != "default", name.clone())
    });
    seen
}

/// Returns the partition of the path.
///
/// # Errors
/// If the partition does not exist, or the caller cannot see it.
pub(super) fn of_path(books: &Books, asked: &NativeRequest) -> Result<PartitionId, Refused> {
    let name = asked.named("partition").unwrap_or_default();
    let found = books.partition_named(name).filter(|one| seen(books, asked).contains(one));
    found.ok_or_else(|| {
        let detail = format!("partition {name:?} does not exist, or you cannot see it");
        Refused::new(asked, Code::NotFound, detail)
    })
}

pub(super) async fn list(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let parameters = asked.parameters(&["limit", "cursor"])?;
    let limit = parameters.limit()?;
    let ages = Ages::of(&service).await;
    let view = service.engine.views().at_least(0).await;
    let (books, seen) = (&view.books, seen(&view.books, &asked));
    let name = |id: &PartitionId| books.partition(*id).name.as_str();
    let from = match parameters.get("cursor") {
        None => 0,
        Some(cursor) => {
            let last = cursor
                .strip_prefix("p-")
                .and_then(|last| seen.iter().position(|one| name(one) == last));
            let malformed = "the cursor belongs to another list, or its partition was removed. Start again without a cursor.";
            last.ok_or_else(|| Refused::new(&asked, Code::Malformed, malformed))? + 1
        }
    };
    let part: Vec<PartitionId> = seen[from..].iter().copied().take(limit).collect();
    let more = from + part.len() < seen.len();
    let page = Page {
        stamp: stamp(&service, &view),
        items: part.iter().map(|one| summary(&service, &view, &ages, &asked, *one)).collect(),
        total: Some(seen.len() as u64),
        total_at_least: None,
        cursor: part.last().filter(|_| more).map(|last| format!("p-{}", name(last))),
        hidden: (books.partitions().len() - seen.len()) as u64,
    };
    Ok(json(&asked, &page))
}

pub(super) async fn one(
    State(service): State<Service>,
    asked: NativeRequest,
) -> Result<Response<Body>, Refused> {
    let ages = Ages::of(&service).await;
    let view = service.engine.views().at_least(0).await;
    let partition = of_path(&view.books, &asked)?;
    let body = StampedPartition {
        stamp: stamp(&service, &view),
        partition: summary(&service, &view, &ages, &asked, partition),
    };
    Ok(json(&asked, &body))
}
