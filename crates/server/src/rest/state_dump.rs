//! The complete visible state at one moment, as indented JSON.

use std::sync::Arc;

use headroom_api::wsv1::{PartitionRules, to_json_indented};
use headroom_core::Timestamp;
use headroom_core::id::PartitionId;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::OwnedMutexGuard;

use crate::convert::history::{applications, containers};
use crate::convert::value::nanos;
use crate::queue_file::InForce;
use crate::service::Service;

use super::application::{active, ended, refused};
use super::cluster::clusters;
use super::config::in_force_as_config;
use super::node::nodes;
use super::partition::partitions;
use super::placement::placement_rules;
use super::queue::tree;
use super::refusal::{Answer, Refusal};
use super::request::{RestRequest, Seen};
use super::respond::{JSON, Pieces};

pub(crate) async fn get_state_dump(asked: RestRequest) -> Answer {
    let alone = Arc::clone(&asked.rest.dump).lock_owned().await;
    let diagnostics = match asked.rest.rm_metadata.diagnostics().await {
        Ok(Some(dump)) => dump,
        Ok(None) => entry("empty", "the resource manager has no state dump"),
        Err(error) => entry("Error", &error),
    };
    let seen = asked.seen().await;
    let most = asked.rest.settings.dump_objects_max;
    let source = Source {
        now: asked.service.clock.now(),
        in_force: asked.service.queue_file.in_force(),
        service: asked.service.clone(),
        diagnostics,
        seen,
    };
    asked.rest.large.answer(JSON, move || Dump::new(source, alone, most)).await
}

fn entry(key: &str, text: &str) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), Value::from(text))])
}

/// Sources of a dump.
struct Source {
    now: Timestamp,
    in_force: Arc<InForce>,
    service: Service,
    diagnostics: Map<String, Value>,
    seen: Seen,
}

/// The unsent rest of a dump.
struct Dump {
    parts: Parts,
    _alone: OwnedMutexGuard<()>,
}

/// Parts of the text in order. Each part is created when it is sent.
type Parts = Box<dyn Iterator<Item = Vec<u8>> + Send>;

impl Dump {
    fn new(source: Source, alone: OwnedMutexGuard<()>, most: usize) -> Result<Self, Refusal> {
        let books = source.seen.books();
        let objects = books.applications().len()
            + books.allocations().len()
            + books.nodes().len()
            + books.queues().len();
        if objects > most {
            return Err(Refusal::failed(format!(
                "there are {objects} applications, asks, allocations, nodes, and queues, but a state \
                 dump can have at most {most}. Request the parts one by one."
            )));
        }
        Ok(Self { parts: parts(source), _alone: alone })
    }
}

impl Pieces for Dump {
    fn add_to(&mut self, bytes: &mut Vec<u8>) -> bool {
        let next = self.parts.next();
        next.map(|part| bytes.extend_from_slice(&part)).is_some()
    }
}

/// Returns the fields in output order.
fn parts(source: Source) -> Parts {
    let Source { now, in_force, service, diagnostics, seen } = source;
    let history = &seen.view.history;
    let containers: Vec<_> = history.iter().map(containers).collect();
    let samples: Vec<_> = history.iter().map(applications).collect();
    let config = in_force_as_config(&seen.view, &in_force);
    let ids = seen.partitions();
    let rules: Vec<PartitionRules> = ids
        .iter()
        .map(|id| PartitionRules {
            partition: seen.books().partition(*id).name.to_string(),
            rules: placement_rules(&seen, *id),
        })
        .collect();
    let roots = ids.iter().map(|id| tree(&seen, *id, seen.books().partition(*id).root));
    let roots: Vec<_> = roots.filter_map(Result::ok).collect();
    let start = format!("{{\n  \"timestamp\": {}", nanos(now)).into_bytes();
    let ends = [
        one("clusterInfo", &clusters(&seen, &service)),
        one("containerHistory", &containers),
        one("queues", &roots),
        one("rmDiagnostics", &diagnostics),
        one("logLevel", &seen.rest.rm_metadata.log_level()),
        one("config", &config),
        one("placementRules", &rules),
        one("eventStreams", &seen.rest.streams.all()),
        b"\n}\n".to_vec(),
    ];
    let parts = [start, one("partitions", &partitions(&seen))].into_iter();
    let parts = parts.chain(many("applications", 1, all_applications(seen.clone(), ids.clone())));
    let parts = parts.chain([one("appHistory", &samples)]);
    Box::new(parts.chain(all_nodes(&seen, ids)).chain(ends))
}

/// Returns active, completed, and rejected applications of all partitions.
fn all_applications(
    seen: Seen,
    ids: Vec<PartitionId>,
) -> impl Iterator<Item = Vec<u8>> + Send + 'static {
    let of = move |id| {
        let active = active(seen.clone(), id, None);
        active.chain(ended(seen.clone(), id)).chain(refused(&seen, id))
    };
    ids.into_iter().flat_map(of).map(|one| text(&one))
}

/// Returns a list of partitions, each with a list of its nodes.
fn all_nodes(seen: &Seen, ids: Vec<PartitionId>) -> Parts {
    if ids.is_empty() {
        return Box::new(std::iter::empty());
    }
    let seen = seen.clone();
    let of = move |(place, id): (usize, PartitionId)| {
        let name = text(&*seen.books().partition(id).name.to_string());
        let start = if place == 0 { "" } else { "," };
        let mut start = format!("{start}\n    {{\n      \"partitionName\": ").into_bytes();
        start.extend_from_slice(&name);
        let nodes = nodes(seen.clone(), id).map(|one| text(&one));
        let nodes = many("nodesInfo", 3, nodes);
        [start].into_iter().chain(nodes).chain([b"\n    }".to_vec()])
    };
    let partitions = ids.into_iter().enumerate().flat_map(of);
    let start = b",\n  \"nodes\": [".to_vec();
    Box::new([start].into_iter().chain(partitions).chain([b"\n  ]".to_vec()]))
}

/// Returns a field at the first level. Empty if the value is empty.
fn one<T: Serialize + ?Sized>(key: &str, value: &T) -> Vec<u8> {
    let text = text(value);
    if matches!(text.as_slice(), b"[]" | b"{}" | b"\"\"" | b"null") {
        return Vec::new();
    }
    let mut field = format!(",\n  \"{key}\": ").into_bytes();
    indent(&mut field, &text, 1);
    field
}

/// Returns a field at this level with a list. Each item is created when it is sent. Empty if the list is empty.
fn many(
    key: &'static str,
    depth: usize,
    items: impl Iterator<Item = Vec<u8>> + Send + 'static,
) -> Parts {
    let mut items = items.peekable();
    if items.peek().is_none() {
        return Box::new(std::iter::empty());
    }
    let margin = "  ".repeat(depth);
    let start = format!(",\n{margin}\"{key}\": [").into_bytes();
    let end = format!("\n{margin}]").into_bytes();
    let item = move |(place, text): (usize, Vec<u8>)| {
        let start = if place == 0 { "" } else { "," };
        let mut item = format!("{start}\n{margin}  ").into_bytes();
        indent(&mut item, &text, depth + 1);
        item
    };
    Box::new([start].into_iter().chain(items.enumerate().map(item)).chain([end]))
}

/// Returns a value as separate JSON, in the format of the reference.
fn text<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut text = to_json_indented(value).expect("bodies have texts for keys");
    text.truncate(text.trim_ascii_end().len());
    text
}

/// Appends a text, and indents all its lines except the first. JSON strings have no line breaks.
fn indent(out: &mut Vec<u8>, text: &[u8], depth: usize) {
    for (place, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if place > 0 {
            out.push(b'\n');
            out.extend(std::iter::repeat_n(b' ', 2 * depth));
        }
        out.extend_from_slice(line);
    }
}
