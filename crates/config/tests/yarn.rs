//! Files of `CapacityScheduler` as queue files: a cluster with every property that there is, single
//! properties, and files that nobody would write.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails like a test")]

#[path = "yarn/bounds.rs"]
mod bounds;
#[path = "yarn/cluster.rs"]
mod cluster;
#[path = "yarn/guide.rs"]
mod guide;
#[path = "yarn/parts.rs"]
mod parts;
#[path = "yarn/placed.rs"]
mod placed;
#[path = "yarn/recorded.rs"]
mod recorded;
#[path = "yarn/told.rs"]
mod told;

use headroom_config::yarn::{ConvertError, Converted, Source, convert};
use headroom_config::{Severity, review};
use headroom_core::userlimit::Formula;

/// What breaks rules in a queue file.
fn faults(text: &str) -> Vec<String> {
    let found = review(text);
    let wrong = found.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    wrong.map(|one| format!("{}: {}", one.line, one.message)).collect()
}

/// A file of Hadoop with these properties; names without a dot at their front are below
/// `yarn.scheduler.capacity.`.
fn xml(properties: &[(&str, &str)]) -> String {
    let property = |(name, value): &(&str, &str)| {
        let name = match name.strip_prefix('.') {
            Some(full) => full.to_owned(),
            None => format!("yarn.scheduler.capacity.{name}"),
        };
        let value = value.replace('&', "&amp;").replace('<', "&lt;");
        format!("<property><name>{name}</name><value>{value}</value></property>\n")
    };
    let properties: Vec<String> = properties.iter().map(property).collect();
    format!("<configuration>\n{}</configuration>\n", properties.concat())
}

fn read(text: &str) -> Result<Converted, ConvertError> {
    convert(&[Source { name: "x.xml", text }], Formula::Yarn3)
}

/// Properties converted, without faults in the result.
fn converted(properties: &[(&str, &str)]) -> Converted {
    let converted = read(&xml(properties)).expect("the file is a configuration");
    assert_eq!(faults(&converted.text), Vec::<String>::new(), "{}", converted.text);
    converted
}
