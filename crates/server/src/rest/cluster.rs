//! The scheduler, represented once for each partition.

use headroom_api::wsv1::Cluster;

use crate::convert::cluster::cluster;
use crate::service::Service;

use super::refusal::Answer;
use super::request::{RestRequest, Seen};

pub(crate) async fn get_clusters(asked: RestRequest) -> Answer {
    let service = asked.service.clone();
    asked.object(move |seen| Ok(clusters(seen, &service))).await
}

/// Returns one entry for each visible partition.
pub(crate) fn clusters(seen: &Seen, service: &Service) -> Vec<Cluster> {
    let manager = seen.rest.rm_metadata.manager();
    let ids = seen.partitions();
    let names = ids.iter().map(|id| &seen.books().partition(*id).name);
    names.map(|name| cluster(name, &service.about, manager.as_ref())).collect()
}
