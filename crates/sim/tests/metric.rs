//! Metrics of runs that are small enough to compute by hand. The arithmetic is next to each.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod support;

use headroom_core::resource::Amounts;
use headroom_sim::metric::{Series, Summary, WaitedFor, summarise};
use headroom_sim::outcome::{
    AllocationRecord, BlockerRecord, Counts, JobRecord, JobState, Outcome,
};
use support::{job, node, queue};

const HOUR: u64 = 3_600_000;

fn vcore(cores: i64) -> Amounts {
    Amounts::from([("vcore", cores * 1_000)])
}

fn allocation(job: usize, start_ms: u64, end_ms: Option<u64>, size: Amounts) -> AllocationRecord {
    AllocationRecord {
        key: format!("{job}@{start_ms}").into(),
        job,
        node: 0,
        start_ms,
        end_ms,
        resources: size,
        placeholder: false,
        ended_by: if end_ms.is_some() { "finished" } else { "" },
        preempted_for: None,
    }
}

fn started(mut job: JobRecord, start_ms: u64, end_ms: Option<u64>) -> JobRecord {
    job.start_ms = Some(start_ms);
    job.end_ms = end_ms;
    job.state = if end_ms.is_some() { JobState::Finished } else { JobState::Running };
    job
}

/// One node of 4 cores for 10 h; queues root > a, b; a is guaranteed 2 cores.
///
/// - j0 of ann in a: 2 cores, submitted at 0, runs 0–4 h.
/// - j1 of bob in b: 4 cores, submitted at 1 h, waits 3 h for a node and 1 h for the
///   maximum of b, runs 5–9 h.
/// - j2 of bob in b: 2 cores, submitted at 8 h, waits 1 h for a node, runs from 9 h on.
/// - j3 of ann in a: 4 cores, submitted at 9 h, waits 1 h for a node, still waiting.
/// - j4 of cid: impossible; j5 of cid: rejected.
fn four_cores() -> Outcome {
    let mut queues = vec![
        queue("root", None, false),
        queue("root.a", Some(0), true),
        queue("root.b", Some(0), true),
    ];
    queues[1].guaranteed = vcore(2);
    let mut jobs = vec![
        started(job("j0", "ann", 1, 0, 4 * HOUR), 0, Some(4 * HOUR)),
        started(job("j1", "bob", 2, HOUR, 4 * HOUR), 5 * HOUR, Some(9 * HOUR)),
        started(job("j2", "bob", 2, 8 * HOUR, 4 * HOUR), 9 * HOUR, None),
        job("j3", "ann", 1, 9 * HOUR, HOUR),
        job("j4", "cid", 1, 0, HOUR),
        job("j5", "cid", 1, 0, HOUR),
    ];
    for (job, cores) in jobs.iter_mut().zip([2, 4, 2, 4, 8, 1]) {
        job.resources = vcore(cores);
    }
    jobs[1].waits = vec![(0, HOUR), (1, 3 * HOUR)];
    jobs[2].waits = vec![(1, HOUR)];
    jobs[3].waits = vec![(1, HOUR)];
    jobs[4].state = JobState::Impossible;
    jobs[4].waits = vec![(1, 10 * HOUR)];
    jobs[5].state = JobState::Rejected;
    jobs[5].queue = None;
    let blocker = |code, subject: &str| BlockerRecord { code, subject: subject.to_owned() };
    Outcome {
        jobs,
        allocations: vec![
            allocation(0, 0, Some(4 * HOUR), vcore(2)),
            allocation(1, 5 * HOUR, Some(9 * HOUR), vcore(4)),
            allocation(2, 9 * HOUR, None, vcore(2)),
        ],
        nodes: vec![node("n0", vcore(4))],
        queues,
        blockers: vec![blocker("QUEUE_MAX", "root.b"), blocker("NO_NODE_FITS", "every node")],
        counts: Counts::default(),
        end_ms: 10 * HOUR,
        decisions: 9,
        digest: "d".to_owned(),
    }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 2e-6, "found {found}, expected {expected}");
}

fn named<'a>(series: &'a [Series], name: &str) -> &'a Series {
    series.iter().find(|one| one.name == name).unwrap()
}

#[test]
fn jobs_and_waits_are_counted_by_hand() {
    let summary = summarise(&four_cores());
    let (run, jobs) = (&summary.run, summary.run.jobs);
    assert_eq!(
        (jobs.total, jobs.finished, jobs.running, jobs.waiting, jobs.impossible, jobs.rejected),
        (6, 2, 1, 1, 1, 1),
    );
    // Waits of j0, j1, j2: 0, 4, 1 h. Mean 5/3 h = 6,000,000 ms. Rank ⌈0.5·3⌉ = 2 of 0, 1, 4.
    let waits = &run.waits;
    assert_eq!((waits.jobs, waits.total_ms, waits.mean_ms), (3, 5 * HOUR, 6_000_000));
    assert_eq!((waits.p50_ms, waits.p95_ms, waits.max_ms), (HOUR, 4 * HOUR, 4 * HOUR));
    // j3, from 9 h to the end at 10 h.
    assert_eq!((run.still_waiting.jobs, run.still_waiting.max_ms), (1, HOUR));
    // Slowdowns: 4/4 = 1, (4 + 4)/4 = 2, (1 + 4)/4 = 1.25. Mean 4.25/3.
    near(run.slowdowns.mean, 4.25 / 3.0);
    near(run.slowdowns.p95, 2.0);
    // First submission at 0; j2 still runs at 10 h.
    assert_eq!(summary.makespan_ms, 10 * HOUR);
}

#[test]
fn resource_hours_shares_and_fairness_by_hand() {
    let summary = summarise(&four_cores());
    // 2 × 4 h + 4 × 4 h + 2 × 1 h = 26 core-hours of 4 × 10 h = 40: 65 %.
    near(summary.run.resource_hours["vcore"], 26.0);
    near(summary.types[0].capacity_hours, 40.0);
    near(summary.types[0].used_percent, 65.0);
    // ann 8/40 × 10 h = 2 h, bob 18/40 × 10 h = 4.5 h; cid never competes.
    // Jain: 6.5² / (2 · (4 + 20.25)) = 42.25 / 48.5.
    near(summary.users[0].dominant_share_hours, 2.0);
    near(summary.users[1].dominant_share_hours, 4.5);
    near(summary.jain.unwrap(), 42.25 / 48.5);
    // Queue a: guaranteed 2 of 4 cores = 50 %, used 8/40 = 20 %. Root holds everything.
    let guarantee = summary.queues[1].guarantee.as_ref().unwrap();
    assert_eq!(guarantee.resource, "vcore");
    near(guarantee.percent, 50.0);
    near(guarantee.used_percent, 20.0);
    near(summary.queues[0].share_percent["vcore"], 65.0);
    assert_eq!(summary.queues[0].scope.jobs.total, 5, "all but the rejected one");
}

#[test]
fn waiting_hours_go_to_what_was_waited_for() {
    let summary = summarise(&four_cores());
    // A node: 3 h + 1 h + 1 h = 5 h of three jobs; the impossible job does not count.
    // The maximum of b: 1 h of one job. The longer comes first.
    let blockers = summary.blockers.iter();
    let found: Vec<(&str, u64, u64)> =
        blockers.map(|one| (one.code.as_str(), one.wait_ms, one.jobs)).collect();
    assert_eq!(found, [("NO_NODE_FITS", 5 * HOUR, 3), ("QUEUE_MAX", HOUR, 1)]);
    near(summary.waiting_hours, 6.0);
    let waited = |blocker, hours| WaitedFor { blocker, wait_ms: hours * HOUR };
    assert_eq!(summary.users[0].waited_for, [waited(0, 1)]);
    assert_eq!(summary.users[1].waited_for, [waited(0, 4), waited(1, 1)]);
    assert_eq!(summary.users[2].waited_for, []);
    assert_eq!(summary.queues[0].scope.waited_for, [waited(0, 5), waited(1, 1)]);
    assert_eq!(summary.queues[1].scope.waited_for, [waited(0, 1)]);
}

#[test]
fn curves_hold_the_mean_of_each_bin() {
    let summary = summarise(&four_cores());
    // 400 bins of 90 s: 40 per hour.
    assert_eq!((summary.grid.width_ms, summary.grid.bins), (90_000, 400));
    let used = &summary.series.utilisation[0];
    for (bin, percent) in
        [(0, 50.0), (159, 50.0), (160, 0.0), (199, 0.0), (200, 100.0), (399, 50.0)]
    {
        near(used.values[bin], percent);
    }
    // 65 % over 10 h.
    near(used.total, 650.0);
    // Pending tasks: j1 1–5 h, j2 8–9 h, j3 9–10 h = 6 task-hours; running 4 + 4 + 1 = 9.
    near(named(&summary.series.tasks, "pending").total, 6.0);
    near(named(&summary.series.tasks, "running").total, 9.0);
    near(named(&summary.series.jobs, "pending").total, 6.0);
    // Shares stack to the utilisation: a 20 % and b 45 %; b has more and comes first.
    let stack = &summary.series.queue_share["vcore"];
    let names: Vec<&str> = stack.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["root.b", "root.a"]);
    near(stack[0].average, 45.0);
    near(stack[1].average, 20.0);
    near(named(&summary.series.guaranteed_share, "root.a").average, 20.0);
}

#[test]
fn free_room_is_unusable_where_the_smallest_waiting_task_does_not_fit() {
    let summary = summarise(&four_cores());
    let unusable = &summary.series.unusable[0].values;
    // 1–4 h: j1 wants 4, 2 are free: 50 %. 4–5 h: 4 are free and fit. 5–9 h: nothing is free.
    // 9–10 h: j3 wants 4, 2 are free. Before 1 h nothing waits.
    for (hour, percent) in [(0, 0.0), (1, 50.0), (3, 50.0), (4, 0.0), (6, 0.0), (8, 0.0), (9, 50.0)]
    {
        near(unusable[hour * 40 + 20], percent);
    }
    // 3 h + 1 h at 50 % of 10 h.
    near(summary.types[0].unusable_percent, 20.0);
}

#[test]
fn free_room_is_usable_if_any_waiting_task_fits() {
    let mut outcome = four_cores();
    // Next to j3 with 4 cores, one of 2 cores waits 9–10 h while 2 are free.
    let mut small = job("small", "ann", 1, 9 * HOUR, HOUR);
    small.resources = vcore(2);
    outcome.jobs.push(small);
    let summary = summarise(&outcome);
    near(summary.series.unusable[0].values[9 * 40 + 20], 0.0);
    // 3 h at 50 % of 10 h are left.
    near(summary.types[0].unusable_percent, 15.0);
}

/// Each type of what waits is free somewhere, and all that one task needs is free nowhere.
#[test]
fn free_room_is_compared_with_each_waiting_task_and_all_that_it_needs() {
    let size =
        |cores: i64, gpus: i64| Amounts::from([("nvidia.com/gpu", gpus), ("vcore", cores * 1_000)]);
    let unusable = |needs: &[Amounts]| {
        let mut outcome = Outcome {
            nodes: vec![node("n", size(4, 1))],
            queues: vec![queue("root", None, true)],
            end_ms: 10 * HOUR,
            ..Outcome::default()
        };
        outcome.jobs = needs
            .iter()
            .map(|one| {
                let mut job = job("waits", "ann", 0, 0, HOUR);
                job.resources = one.clone();
                job
            })
            .collect();
        let types = summarise(&outcome).types;
        types.iter().map(|one| one.unusable_percent).collect::<Vec<f64>>()
    };
    // One needs more cores than there are, the other more cards: the least of each type would fit.
    assert_eq!(unusable(&[size(8, 1), size(2, 2)]), [100.0, 100.0]);
    assert_eq!(unusable(&[size(8, 1), size(2, 2), size(4, 1)]), [0.0, 0.0]);
}

#[test]
fn a_job_of_two_sizes_waits_with_those_that_have_not_started() {
    let mut outcome = four_cores();
    outcome.allocations.clear();
    let mut both = job("both", "ann", 1, 0, HOUR);
    both.asks = 2;
    both.resources = vcore(7);
    both.sizes = vec![(1, vcore(1)), (1, vcore(6))];
    outcome.jobs = vec![both];
    outcome.allocations.push(allocation(0, 5 * HOUR, None, vcore(1)));
    let summary = summarise(&outcome);
    let unusable = &summary.series.unusable[0].values;
    // Until 5 h the small one waits and would fit; then only the large one does, which fits nowhere.
    near(unusable[2 * 40 + 20], 0.0);
    near(unusable[7 * 40 + 20], 75.0);
}

#[test]
fn why_jobs_were_refused_is_in_the_summary_the_most_frequent_first() {
    let mut outcome = four_cores();
    outcome.jobs.truncate(4);
    for (number, reason) in ["no queue", "too large", "too large"].into_iter().enumerate() {
        let mut one = job(&format!("bad{number}"), "ann", 1, 0, HOUR);
        one.state = if reason == "no queue" { JobState::Rejected } else { JobState::Impossible };
        one.reason = reason.to_owned();
        outcome.jobs.push(one);
    }
    let found: Vec<_> = summarise(&outcome)
        .refusals
        .into_iter()
        .map(|one| (one.state, one.reason, one.jobs, one.first))
        .collect();
    let text = |one: &str| one.to_owned();
    let expected = [
        (text("impossible"), text("too large"), 2, text("bad1")),
        (text("rejected"), text("no queue"), 1, text("bad0")),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_preempted_task_waits_again_and_its_work_is_lost() {
    let mut outcome = four_cores();
    // j0 is preempted after 1 h and starts again at 4 h; a placeholder of bob is lost.
    outcome.allocations[0].end_ms = Some(HOUR);
    outcome.allocations[0].ended_by = "preempted";
    outcome.allocations.push(allocation(0, 4 * HOUR, Some(5 * HOUR), vcore(2)));
    let mut placeholder = allocation(1, 2 * HOUR, Some(3 * HOUR), vcore(1));
    placeholder.placeholder = true;
    placeholder.ended_by = "node-lost";
    outcome.allocations.push(placeholder);
    outcome.jobs[0].end_ms = Some(5 * HOUR);
    let summary = summarise(&outcome);
    assert_eq!((summary.run.preemptions, summary.run.node_losses), (1, 1));
    // 2 cores for 1 h; the placeholder did no work.
    near(summary.run.lost_hours["vcore"], 2.0);
    // As before 6, and j0 again 1–4 h.
    near(named(&summary.series.tasks, "pending").total, 9.0);
    near(named(&summary.series.tasks, "placeholders").total, 1.0);
}

#[test]
#[doc(alias = "NS-34")]
fn placeholders_reserve_and_do_not_use() {
    let mut outcome = four_cores();
    let before = summarise(&outcome).types.remove(0);
    near(before.reserved_hours, 0.0);
    let mut placeholder = allocation(1, 2 * HOUR, Some(3 * HOUR), vcore(1));
    placeholder.placeholder = true;
    outcome.allocations.push(placeholder);
    let after = summarise(&outcome).types.remove(0);
    near(after.used_hours, before.used_hours);
    near(after.used_percent, before.used_percent);
    near(after.reserved_hours, 1.0);
    near(after.reserved_percent, 100.0 / after.capacity_hours);
}

#[test]
fn an_empty_run_has_a_summary() {
    let summary = summarise(&Outcome::default());
    assert_eq!((summary.makespan_ms, summary.jain, summary.grid.bins), (0, None, 0));
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
}

#[test]
fn parts_of_a_realistic_run_add_up() {
    let outcome = support::synthetic();
    let summary = summarise(&outcome);
    let jobs: u64 = summary.users.iter().map(|user| user.jobs.total).sum();
    assert_eq!(jobs, outcome.jobs.len() as u64);
    let started: u64 = summary.wait_histogram.iter().map(|bucket| bucket.jobs).sum();
    assert_eq!(started, summary.run.waits.jobs);
    let children = summary.queues.iter().filter(|queue| queue.leaf);
    let waited: u64 = children.map(|queue| queue.scope.waits.total_ms).sum();
    assert_eq!(waited, summary.queues[0].scope.waits.total_ms);
    for (name, stack) in &summary.series.queue_share {
        let sum: f64 = stack.iter().map(|one| one.average).sum();
        let used = named(&summary.series.utilisation, name).average;
        assert!((sum - used).abs() < 1e-4, "{name}: queues have {sum} %, together {used} %");
        // Seven leaves by name, and the eighth as the others.
        assert_eq!(stack.len(), 8);
        for one in &stack[..7] {
            let mut queues = summary.queues.iter();
            let queue = queues.find(|queue| queue.scope.name == one.name).unwrap();
            near(one.average, queue.share_percent[name]);
        }
    }
    // Every wait has its reasons: their sum is the waits of those that started or still wait.
    let waits = summary.run.waits.total_ms + summary.run.still_waiting.total_ms;
    let reasons: u64 = summary.blockers.iter().map(|one| one.wait_ms).sum();
    assert_eq!(reasons, waits);
}
