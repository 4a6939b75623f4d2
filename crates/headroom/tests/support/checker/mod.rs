//! An independent check of the CSV files of a run: at no time is a node, a maximum or a limit
//! exceeded, and allocations and jobs tell the same story.
//!
//! Nothing here is part of our own crates: the files and the queue file are read independently, so that a bug of the
//! product is not repeated by its check.
//!
//! An allocation holds its room from its start until just before its end; one that ends when it
//! starts holds nothing, and is judged by itself.

mod bounds;
mod queues;
mod tables;

use std::collections::{BTreeMap, BTreeSet};

use bounds::Bounds;
use tables::{Allocation, Job, Node};

/// Amounts by type, in core units.
type Amounts = BTreeMap<String, i128>;

/// The texts to check.
#[derive(Clone)]
pub(crate) struct Files {
    pub(crate) queues: String,
    pub(crate) jobs: String,
    pub(crate) allocations: String,
    pub(crate) nodes: String,
}

/// Most findings that are printed.
const FINDINGS_MAX: usize = 20;

/// Everything that is wrong, the first few; empty if nothing is.
pub(crate) fn check(files: &Files) -> Vec<String> {
    let jobs = tables::jobs(&files.jobs);
    let nodes = tables::nodes(&files.nodes);
    let allocations = tables::allocations(&files.allocations);
    let mut findings = Vec::new();
    stories(&jobs, &nodes, &allocations, &mut findings);
    if findings.is_empty() {
        sweep(files, &nodes, &allocations, &mut findings);
    }
    findings.truncate(FINDINGS_MAX);
    findings
}

/// What holds for each allocation and each job by itself.
fn stories(
    jobs: &BTreeMap<String, Job>,
    nodes: &BTreeMap<String, Vec<Node>>,
    allocations: &[Allocation],
    findings: &mut Vec<String>,
) {
    let mut names = BTreeSet::new();
    let mut of_job: BTreeMap<&str, Vec<&Allocation>> = BTreeMap::new();
    for one in allocations {
        let name = &one.name;
        if !names.insert(name) {
            findings.push(format!("allocation {name} stands twice"));
        }
        let Some(job) = jobs.get(&one.job) else {
            findings.push(format!("allocation {name} is of job {}, which is unknown", one.job));
            continue;
        };
        let Some(node) = nodes.get(&one.node) else {
            findings.push(format!("allocation {name} is on node {}, which is unknown", one.node));
            continue;
        };
        of_job.entry(&one.job).or_default().push(one);
        if (&one.user, &one.group, &one.queue) != (&job.user, &job.group, &job.queue) {
            findings.push(format!("allocation {name} belongs to others than its job"));
        }
        if one.end.is_some_and(|end| end < one.start) {
            findings.push(format!("allocation {name} ends before it starts"));
        }
        let ends_late = match (one.end, job.end) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(end), Some(last)) => end > last,
        };
        if one.start < job.submit || (ends_late && !one.placeholder) {
            findings.push(format!("allocation {name} is outside the life of job {}", one.job));
        }
        let covers = |span: &Node| {
            let leaves = span.to.unwrap_or(u64::MAX);
            span.from <= one.start && one.end.map_or(span.to.is_none(), |end| end <= leaves)
        };
        if !node.iter().any(covers) {
            findings.push(format!("allocation {name} is on {} while it is away", one.node));
        }
        if one.end.is_some() == one.ended_by.is_empty() {
            findings.push(format!("allocation {name} ends without reason, or has one too early"));
        }
    }
    for (name, job) in jobs {
        let held = of_job.remove(name.as_str()).unwrap_or_default();
        findings.extend(story(job, &held).map(|what| format!("job {name}: {what}")));
    }
}

/// What its allocations say that a job does not, if anything.
fn story(job: &Job, held: &[&Allocation]) -> Option<String> {
    let lost = |one: &&&Allocation| matches!(one.ended_by.as_str(), "node-lost" | "preempted");
    let (places, held): (Vec<&Allocation>, Vec<&Allocation>) =
        held.iter().partition(|one| one.placeholder);
    let runs: Vec<&&Allocation> = held.iter().filter(|one| !lost(one)).collect();
    let tasks = runs.len() as u64;
    let expected = match job.state.as_str() {
        "finished" => tasks == job.asks && runs.iter().all(|one| one.end.is_some()),
        "running" => job.start.is_some() && job.end.is_none(),
        "waiting" | "impossible" => {
            job.end.is_none() && tasks < job.asks && (places.is_empty() || held.is_empty())
        }
        "rejected" => held.is_empty() && places.is_empty() && job.start.is_none(),
        _ => false,
    };
    if !expected {
        return Some(format!("is {} with {tasks} of {} tasks", job.state, job.asks));
    }
    if job.wait != job.start.map(|start| start - job.submit) {
        return Some("its wait is not from submission to start".to_owned());
    }
    if let Some(what) = gang(job, &places, &held) {
        return Some(what);
    }
    if job.state != "finished" {
        return None;
    }
    if job.end != held.iter().filter_map(|one| one.end).max() {
        return Some("does not end with its last task".to_owned());
    }
    // The first start of each task; those that a lost node sent back start once more.
    let mut starts: Vec<u64> = held.iter().map(|one| one.start).collect();
    starts.sort_unstable();
    if places.is_empty()
        && job.start != starts.get(starts.len().min(tasks_of(job)).wrapping_sub(1)).copied()
        && !held.iter().any(|one| lost(&one))
    {
        return Some("does not start with its last task".to_owned());
    }
    let mut lengths = runs.iter().map(|one| one.end.map(|end| end.abs_diff(one.start)));
    let length = lengths.next();
    if !lengths.all(|other| Some(other) == length) {
        return Some("its tasks run for different times".to_owned());
    }
    let mut sum = Amounts::new();
    for (resource, amount) in runs.iter().flat_map(|one| &one.resources) {
        *sum.entry(resource.clone()).or_default() += amount;
    }
    // A job may ask for nothing of a type.
    sum.retain(|_, amount| *amount != 0);
    let mut asked = job.resources.clone();
    asked.retain(|_, amount| *amount != 0);
    (sum != asked).then(|| "its tasks are not what it asked for".to_owned())
}

/// What is wrong with a gang: at its start there is room for all, and no task starts before.
fn gang(job: &Job, places: &[&Allocation], tasks: &[&Allocation]) -> Option<String> {
    let start = job.start.filter(|_| !places.is_empty())?;
    let holds = |one: &&&Allocation| one.start <= start && one.end.is_none_or(|end| end > start);
    let room = places.iter().filter(holds).count() as u64;
    if room != job.asks {
        return Some(format!("starts with room for {room} of {} tasks", job.asks));
    }
    let early = tasks.iter().any(|one| one.start < start);
    early.then(|| "has a task that starts before its gang is complete".to_owned())
}

fn tasks_of(job: &Job) -> usize {
    usize::try_from(job.asks).unwrap_or(usize::MAX)
}

/// Follow time, and look at every bound that an allocation touches when it starts.
fn sweep(
    files: &Files,
    nodes: &BTreeMap<String, Vec<Node>>,
    allocations: &[Allocation],
    findings: &mut Vec<String>,
) {
    let mut bounds = Bounds::new(&queues::read(&files.queues), nodes, allocations);
    // Ends before starts: what ends at a time holds nothing any more.
    let mut steps: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * allocations.len());
    for (position, one) in allocations.iter().enumerate() {
        if one.end == Some(one.start) {
            findings.extend(bounds.alone(one, position));
            continue;
        }
        steps.push((one.start, true, position));
        steps.extend(one.end.map(|end| (end, false, position)));
    }
    steps.sort_unstable();
    for (at, starts, position) in steps {
        let one = &allocations[position];
        if starts {
            findings.extend(
                bounds
                    .start(one, position)
                    .map(|found| format!("at {at} ms, {}: {found}", one.name)),
            );
        } else {
            bounds.end(one, position);
        }
        if findings.len() >= FINDINGS_MAX {
            return;
        }
    }
}
