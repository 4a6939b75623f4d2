//! The queue file in force.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, header};
use headroom_api::wsv1::{Config, ConfigPartition, to_json};
use headroom_config::outline;
use headroom_engine::View;

use crate::convert::{config, yaml};
use crate::queue_file::InForce;

use super::refusal::Answer;
use super::request::Asked;
use super::respond::{JSON, YAML, blocking, body};

/// The only `Accept` that is answered with JSON.
const JSON_ALONE: &[u8] = b"application/json";

pub(crate) async fn get_config(asked: Asked, headers: HeaderMap) -> Answer {
    let accepts = headers.get(header::ACCEPT).map(|accept| accept.as_bytes() == JSON_ALONE);
    let view = asked.view().await;
    let in_force = asked.service.queue_file.in_force();
    blocking(move || {
        let (config, is_told) = in_force_as_config(&view, &in_force);
        if accepts == Some(true) {
            let mut bytes = to_json(&config).expect("bodies have texts for keys");
            bytes.pop(); // The reference ends this body, and no other, without a newline.
            return body(JSON, bytes);
        }
        let note = if is_told { "" } else { FROM_BOOKS };
        body(YAML, format!("{note}{}", yaml::config(&config)))
    })
    .await
}

/// Said where the text of the file is not known any more.
const FROM_BOOKS: &str = "\
# The text of the queue file is not known: it was not kept beside the journal. This is what is in
# force of it; limits of users and groups are in force, too, and are not shown here.
";

/// The file in force, and whether it is in its own words.
pub(crate) fn in_force_as_config(view: &View, in_force: &InForce) -> (Config, bool) {
    let books = &view.books;
    let checksum = books.checksum().to_string();
    // Between a new file and this view another may have come into force.
    let is_same = checksum == in_force.checksum;
    let text = Some(in_force.text.as_str()).filter(|text| is_same && !text.is_empty());
    let told: Option<Vec<ConfigPartition>> =
        text.and_then(outline).map(|all| all.iter().map(config::partition).collect());
    let is_told = told.is_some();
    let partitions = told.unwrap_or_else(|| {
        let sorted: BTreeMap<_, _> =
            books.partitions().values().map(|one| (one.name.clone(), one)).collect();
        sorted.values().map(|one| config::partition_in_books(books, one)).collect()
    });
    let config =
        Config { partitions, checksum, extra: in_force.extra.clone(), ..Config::default() };
    (config, is_told)
}
