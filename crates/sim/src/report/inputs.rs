//! Fingerprints of the inputs of a run, by which two reports can be checked for comparability.

use xxhash_rust::xxh3::Xxh3;

use super::header::Input;
use super::pretty;
use crate::world::{Setup, Shape};

/// Returns the inputs of a run with this setup.
#[must_use]
pub fn inputs(setup: &Setup) -> Vec<Input> {
    let jobs = &setup.workload.jobs;
    let queues = setup.configuration.checksum.to_string();
    let shape = match setup.shape {
        Shape::Fitting => "jobs as one ask if they fit on a node",
        Shape::Single => "jobs as one ask",
        Shape::Tasks => "jobs as one ask per task",
        Shape::Gang => "jobs as gangs",
    };
    let until =
        setup.until_ms.map(|ms| format!(", until {}", pretty::plain(&pretty::duration(ms))));
    let faults = if setup.faults.is_some() { ", with faults" } else { "" };
    let options = format!("{shape}{}{faults}", until.unwrap_or_default());
    let all_options = format!("{:?} {:?} {:?}", setup.shape, setup.until_ms, setup.faults);
    vec![
        Input {
            name: "workload".to_owned(),
            what: pretty::plain(&pretty::counted(jobs.len() as u64, "job")),
            fingerprint: fingerprint(jobs.iter().map(|job| {
                // The line number does not affect the run.
                format!("{:?}", crate::workload::Job { line: 0, ..job.clone() })
            })),
        },
        Input {
            name: "nodes".to_owned(),
            what: pretty::plain(&pretty::counted(setup.nodes.len() as u64, "node")),
            fingerprint: fingerprint(setup.nodes.iter().map(|node| format!("{node:?}"))),
        },
        Input {
            name: "queue file".to_owned(),
            what: format!("checksum {}", queues.chars().take(8).collect::<String>()),
            fingerprint: fingerprint([format!("{:?}", setup.configuration)].into_iter()),
        },
        Input {
            name: "options".to_owned(),
            what: options,
            fingerprint: fingerprint([all_options].into_iter()),
        },
    ]
}

fn fingerprint(parts: impl Iterator<Item = String>) -> String {
    let mut hash = Xxh3::new();
    for part in parts {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    format!("{:016x}", hash.digest())
}
