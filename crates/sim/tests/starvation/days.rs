//! A day on which queues take their guarantees back, with gangs, priorities, and lost nodes.

use std::fmt::Write;

use headroom_core::resource::Amounts;
use headroom_sim::fault::FaultSource;
use headroom_sim::nodes::{self, NodeOptions};
use headroom_sim::workload::{Job, Workload};
use headroom_sim::world::{Checks, Setup, Shape};

use crate::draw::Draw;

const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;
/// Time in which the jobs of a day come.
const OPEN_MS: u64 = 8 * HOUR_MS;

/// The set-up of one day.
pub(crate) fn draw(seed: u64) -> Setup {
    let draw = &mut Draw::new(seed);
    let (count, cores) = (draw.between(2, 6), draw.of(&[2, 4, 8]));
    let capacity = count * cores;
    let leaves = draw.between(2, 3);
    let shape = draw.of(&[Shape::Tasks, Shape::Gang]);
    let text = queue_file(draw, shape, leaves, capacity);
    let configuration =
        headroom_config::read(&text).unwrap_or_else(|why| panic!("{why}\n{text}")).configuration;
    let nodes = nodes::read(&[format!("{count}*{{vcore: {cores}}}")], NodeOptions::default());
    let mut jobs: Vec<Job> =
        (0..draw.between(15, 40)).map(|number| job(draw, number, leaves, capacity)).collect();
    jobs.sort_by_key(|job| job.submit_ms);
    Setup {
        configuration,
        nodes: nodes.expect("it is well formed"),
        workload: Workload { jobs, ..Workload::default() },
        source: "made".to_owned(),
        shape,
        until_ms: Some(24 * HOUR_MS),
        checks: Checks::NowAndThen,
        seed,
        faults: draw.happens(40).then_some(FaultSource::Random(seed)),
        reject_misfits: false,
    }
}

fn queue_file(draw: &mut Draw, shape: Shape, leaves: u64, capacity: u64) -> String {
    let mut text = String::from(
        "partitions:\n  - name: default\n    gangs: {placement: whole}\n    starvation: {after: 10m}\n    reservations: {share: 10%}\n    queues:\n      - name: root\n        submitacl: '*'\n        queues:\n",
    );
    for number in 0..leaves {
        let guaranteed = draw.between(0, capacity / leaves);
        let within = if draw.happens(50) { "priority" } else { "none" };
        let minimum = draw.of(&["0s", "2m"]);
        // As in YuniKorn, a leaf with `fair` takes no gangs.
        let other = if shape == Shape::Gang { "urgency" } else { "fair" };
        let policy = draw.of(&["fifo", other, "priority"]);
        writeln!(
            text,
            "          - name: q{number}\n            resources: {{guaranteed: {{vcore: {guaranteed}}}}}\n            preemption: {{withinqueue: {within}, minruntime: {minimum}}}\n            properties: {{application.sort.policy: {policy}}}"
        )
        .expect("text takes all");
    }
    text
}

fn job(draw: &mut Draw, number: u64, leaves: u64, capacity: u64) -> Job {
    Job {
        name: format!("j{number}").into(),
        submit_ms: draw.between(0, OPEN_MS),
        run_ms: draw.between(5 * MINUTE_MS, 2 * HOUR_MS),
        user: draw.of(&["ann", "bob", "cid"]).into(),
        queue: Some(format!("root.q{}", draw.between(0, leaves - 1)).into()),
        priority: i32::try_from(draw.between(0, 2)).expect("small"),
        may_preempt: draw.happens(70),
        preemptable: draw.happens(70),
        processors: draw.between(1, capacity.div_ceil(2)),
        per_processor: Amounts::from([("vcore", 1_000)]),
        ..Job::default()
    }
}
