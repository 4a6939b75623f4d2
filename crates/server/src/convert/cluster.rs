//! The scheduler, represented once for each partition.

use std::collections::BTreeMap;

use headroom_api::wsv1::Cluster;

use crate::about::About;
use crate::rest::Manager;

/// Returns the scheduler for one partition.
///
/// The stock web UI reads the first element of the build information without a check. Before an RM registers, that
/// element is about this server.
pub(crate) fn cluster(partition: &str, about: &About, manager: Option<&Manager>) -> Cluster {
    let build = manager.map_or_else(|| own_build(about), build_of);
    Cluster {
        start_time: i64::try_from(about.started_at.as_nanosecond()).unwrap_or(i64::MAX),
        rm_build_information: vec![build],
        partition: partition.to_owned(),
        cluster_name: Cluster::NAME.to_owned(),
    }
}

fn build_of(manager: &Manager) -> BTreeMap<String, String> {
    let mut build = manager.build.clone();
    build.insert("rmId".to_owned(), manager.id.clone());
    build
}

fn own_build(about: &About) -> BTreeMap<String, String> {
    let known = |key: &str| about.build.get(key).cloned();
    let entries = [
        ("arch", Some(std::env::consts::ARCH.to_owned())),
        ("buildDate", known("date")),
        ("buildVersion", Some(about.version.to_owned())),
        ("coreSHA", known("commit")),
        ("rmId", Some(String::new())),
    ];
    let present = |(key, value): (&str, Option<String>)| Some((key.to_owned(), value?));
    entries.into_iter().filter_map(present).collect()
}
