//! The active queue file.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, header};
use headroom_api::wsv1::{Config, ConfigPartition, to_json};
use headroom_config::outline;
use headroom_config::schema::{Content, partition as partition_block};
use headroom_engine::View;

use crate::convert::{config, yaml};
use crate::queue_file::InForce;

use super::refusal::Answer;
use super::request::RestRequest;
use super::respond::{JSON, YAML, blocking, body};

/// The only value of `Accept` for which the response is JSON.
const JSON_ALONE: &[u8] = b"application/json";

pub(crate) async fn get_config(asked: RestRequest, headers: HeaderMap) -> Answer {
    let accepts = headers.get(header::ACCEPT).map(|accept| accept.as_bytes() == JSON_ALONE);
    let view = asked.view().await;
    let in_force = asked.service.queue_file.in_force();
    blocking(move || {
        if accepts == Some(true) {
            let config = in_force_as_config(&view, &in_force);
            let mut bytes = to_json(&config).expect("bodies have texts for keys");
            bytes.pop(); // The reference ends this body, and no other, without a newline.
            return body(JSON, bytes);
        }
        let (note, partitions) = match in_own_words(&view, &in_force) {
            Some(partitions) => ("", partitions),
            None => (FROM_BOOKS, from_books(&view).iter().map(as_content).collect()),
        };
        body(YAML, format!("{note}{}", yaml::config(&partitions, &around(&view, &in_force))))
    })
    .await
}

/// Comment in the response if the text of the file is not available.
const FROM_BOOKS: &str = "\
# The text of the queue file is not known, because it was not stored with the journal. These are the
# active settings. Limits of users and groups are also active, but are not shown here.
";

/// Returns the active file as JSON, from its own text if that is available.
pub(crate) fn in_force_as_config(view: &View, in_force: &InForce) -> Config {
    let stated = in_own_words(view, in_force);
    let partitions = stated.and_then(|all| {
        let typed: Option<Vec<_>> = all.into_iter().map(config::partition).collect();
        debug_assert!(typed.is_some(), "the table and the interface have the same settings");
        typed
    });
    let partitions = partitions.unwrap_or_else(|| from_books(view));
    Config { partitions, ..around(view, in_force) }
}

/// Returns the partitions in the words of the file, if its text is available.
fn in_own_words(view: &View, in_force: &InForce) -> Option<Vec<Content>> {
    // Another file might have come into force between the text and this view.
    let is_same = *view.books.checksum() == *in_force.checksum;
    Some(in_force.text.as_str()).filter(|text| is_same && !text.is_empty()).and_then(outline)
}

/// Returns the partitions as far as the books have the content of the file, by name.
fn from_books(view: &View) -> Vec<ConfigPartition> {
    let partitions = view.books.partitions().values();
    let sorted: BTreeMap<_, _> = partitions.map(|one| (one.name.clone(), one)).collect();
    sorted.values().map(|one| config::partition_in_books(&view.books, one)).collect()
}

/// Returns the fields in addition to the partitions.
fn around(view: &View, in_force: &InForce) -> Config {
    let checksum = view.books.checksum().to_string();
    Config { checksum, extra: in_force.extra.clone(), ..Config::default() }
}

/// Returns a partition in the format of a queue file.
fn as_content(partition: &ConfigPartition) -> Content {
    let json = serde_json::to_value(partition).unwrap_or_default();
    Content::from_json(partition_block(), &json)
}
