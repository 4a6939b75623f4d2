//! The real traces, where they are at hand: `HEADROOM_TRACES` names the folder that holds
//! `hpc2n/` and `openb/`. They may not be copied into the project.
//!
//! The numbers were counted by other programs, straight from the files.

#![allow(clippy::print_stdout)] // Whoever runs the tests should see what was skipped.

use std::path::PathBuf;

use headroom_core::Name;
use headroom_core::resource::{Amounts, Quantity};
use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::workload::{Job, ReadOptions, Workload, read};

/// Returns the file with this path below the folder. `None`, with a message, without a folder.
fn trace(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("HEADROOM_TRACES");
    if folder.is_none() {
        println!("skipped: HEADROOM_TRACES is not set");
    }
    Some(PathBuf::from(folder?).join(path))
}

fn distinct<K: Ord>(workload: &Workload, key: impl Fn(&Job) -> K) -> usize {
    let keys: std::collections::BTreeSet<K> = workload.jobs.iter().map(key).collect();
    keys.len()
}

fn count(workload: &Workload, which: impl Fn(&Job) -> bool) -> usize {
    workload.jobs.iter().filter(|job| which(job)).count()
}

/// Sum of this type over jobs (or nodes).
fn sum<'a>(amounts: impl Iterator<Item = &'a Amounts>, resource: &str) -> i64 {
    amounts.map(|amounts| amounts.get(resource).map_or(0, Quantity::get)).sum()
}

#[test]
fn hpc2n_is_read_whole() {
    let Some(path) = trace("hpc2n/hpc2n.swf") else {
        return;
    };
    let mut workload = read(&path, None, &ReadOptions::default()).unwrap();

    assert_eq!(workload.jobs.len() + 25, 3_170);
    assert_eq!(workload.skipped.get("run time unknown"), Some(&25));
    assert!(workload.remarks.is_empty(), "{:?}", workload.remarks);
    assert_eq!(distinct(&workload, |job| job.user.clone()), 17);
    assert_eq!(distinct(&workload, |job| job.groups.clone()), 1);
    assert_eq!(count(&workload, |job| job.user == *"u8"), 987);
    assert_eq!(count(&workload, |job| job.queue.is_some()), 0);
    assert_eq!(workload.jobs.iter().map(|job| job.processors).max(), Some(128));
    assert_eq!(workload.jobs[0].submit_ms, 0);
    assert_eq!(workload.jobs.last().map(|job| job.submit_ms), Some(4_950_011_000));
    let work: u64 = workload.jobs.iter().map(|job| job.processors * job.run_ms).sum();
    assert_eq!(work, 502_634_281_000);
    let dropped = workload.drop_missing_types(&["vcore".into()]);
    assert_eq!(dropped.into_iter().collect::<Vec<_>>(), [(Name::new("memory"), 3)]);
}

#[test]
fn openb_pods_are_read_whole() {
    let Some(path) = trace("openb/openb_pod_list_default.csv") else {
        return;
    };
    let workload = read(&path, None, &ReadOptions::default()).unwrap();

    assert_eq!(workload.jobs.len(), 8_152);
    assert!(workload.skipped.is_empty());
    let dealt = "the workload has no users, so its rows are distributed among u{row%40}";
    assert_eq!(workload.remarks, [dealt]);
    assert_eq!(distinct(&workload, |job| job.user.clone()), 40);
    for (priority, jobs) in [(100, 4_647 + 7), (50, 100), (0, 3_398)] {
        assert_eq!(count(&workload, |job| job.priority == priority), jobs);
    }
    let gpu = |job: &Job| job.per_processor.get("nvidia.com/gpu").is_some();
    assert_eq!(count(&workload, gpu), 6_989 + 44 + 16 + 15);
    let work: u64 = workload.jobs.iter().map(|job| job.run_ms).sum();
    assert_eq!(work, 210_197_755_000);

    let options = ReadOptions {
        gpu_milli: true,
        stretch: "arrivals=0.005".parse().unwrap(),
        queue_of: Some("root.team{row%10}.jobs".parse().unwrap()),
        ..ReadOptions::default()
    };
    let workload = read(&path, None, &options).unwrap();
    let last = workload.jobs.last().unwrap();
    assert_eq!(last.submit_ms, 64_508_805);
    assert_eq!(distinct(&workload, |job| job.queue.clone()), 10);
    let amounts = || workload.jobs.iter().map(|job| &job.per_processor);
    assert_eq!(sum(amounts(), "nvidia.com/gpu"), 0);
    assert_eq!(sum(amounts(), "gpu-milli"), GPU_MILLI);
}

/// Sum of `num_gpu` × `gpu_milli` over the list.
const GPU_MILLI: i64 = 6_086_800;

#[test]
fn openb_nodes_are_read_whole_and_thinned() {
    let Some(path) = trace("openb/openb_node_list_all_node.csv") else {
        return;
    };
    let path = path.to_str().unwrap();
    let whole = nodes::read(&[path.to_owned()], NodeOptions::default()).unwrap();

    assert_eq!(whole.len(), 1_523);
    let amounts = || whole.iter().map(|node| &node.resources);
    assert_eq!(sum(amounts(), "vcore"), 125_514_000);
    assert_eq!(sum(amounts(), "nvidia.com/gpu"), 6_212);
    let labelled = whole.iter().filter(|node| node.label.is_some()).count();
    assert_eq!(labelled, 1_523 - 310);

    let thin = nodes::read(&[format!("{path}@1/60")], NodeOptions { gpu_milli: true }).unwrap();
    assert_eq!(thin.len(), 26);
    assert_eq!(thin[1].name, whole[60].name);
}
