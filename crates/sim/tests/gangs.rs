//! Jobs whose tasks start together.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

mod world;

use headroom_sim::metric::summarise;
use headroom_sim::outcome::{JobState, Outcome};
use headroom_sim::world::Shape;
use world::{count, job, jobs, play, setup};

#[test]
fn all_tasks_of_a_job_start_together_once_there_is_room_for_all() {
    let mut setup = setup(Shape::Gang, jobs(150, 30, 3));
    // So that every task runs its whole time.
    setup.configuration.partitions[0].preemption.enabled = false;
    let outcome = play(&setup);
    assert_eq!(count(&outcome, JobState::Finished), 150);
    let gangs = outcome.counts.gangs;
    let tasks: u64 = outcome.jobs.iter().map(|job| job.asks).sum();
    assert_eq!((gangs.complete, gangs.swaps), (150, tasks));
    let mut waited = 0;
    for (position, job) in outcome.jobs.iter().enumerate() {
        let start_ms = job.start_ms.unwrap();
        let rows = || outcome.allocations.iter().filter(|one| one.job == position);
        let places = rows().filter(|one| one.placeholder && one.ended_by == "replaced");
        assert_eq!(places.count() as u64, job.asks, "{}", job.name);
        for task in rows().filter(|one| !one.placeholder) {
            // The RM takes a second to stop a placeholder.
            assert_eq!(task.start_ms, start_ms + 1_000, "{}", task.key);
            assert_eq!(task.end_ms, Some(task.start_ms + job.run_ms), "{}", task.key);
        }
        let blamed: u64 = job.waits.iter().map(|(_, ms)| ms).sum();
        assert_eq!(blamed, start_ms - job.submit_ms, "{}", job.name);
        waited += u64::from(blamed > 0);
    }
    assert!(waited > 30, "only {waited} gangs waited");
    let told = summarise(&outcome).gangs.unwrap();
    assert_eq!((told.counts, told.until_complete.jobs), (gangs, 150));
    assert!(told.until_complete.max_ms > 0);
}

#[test]
fn a_job_of_one_task_is_a_gang_too() {
    let outcome = play(&setup(Shape::Gang, vec![job("j", "root.a", 5, 60_000, 1)]));
    let shown: Vec<String> = outcome
        .allocations
        .iter()
        .map(|one| format!("{} {}..{:?} {}", one.key, one.start_ms, one.end_ms, one.ended_by))
        .collect();
    assert_eq!(shown, ["j.place 5..Some(1005) replaced", "j 1005..Some(61005) finished"]);
    assert_eq!(outcome.jobs[0].start_ms, Some(5));
}

/// Two gangs that cannot both have their room, in queues that take turns.
fn rivals() -> Outcome {
    play(&setup(
        Shape::Gang,
        vec![job("x", "root.a", 0, 60_000, 60), job("y", "root.b", 0, 60_000, 60)],
    ))
}

#[test]
fn gangs_that_hold_half_of_their_room_each_are_given_up_in_time_and_come_again() {
    let outcome = rivals();
    assert_eq!(count(&outcome, JobState::Finished), 2);
    let gangs = outcome.counts.gangs;
    assert!(gangs.expired >= 1, "{gangs:?}");
    assert_eq!(gangs.submitted_again, gangs.expired);
    assert_eq!(gangs.submitted, 2 + gangs.expired);
    assert_eq!(gangs.complete, 2);
    assert!(outcome.allocations.iter().any(|one| one.ended_by == "released"));
    for job in &outcome.jobs {
        let blamed: u64 = job.waits.iter().map(|(_, ms)| ms).sum();
        assert_eq!(blamed, job.start_ms.unwrap() - job.submit_ms, "{job:?}");
    }
    let again = outcome.blockers.iter().any(|one| one.code == "GANG_AGAIN");
    assert!(again, "{:?}", outcome.blockers);
}

/// It places nothing, so the gang behind it starts as early as without it.
#[test]
#[doc(alias = "NS-53")]
fn a_gang_larger_than_the_cluster_delays_nobody() {
    let huge = job("huge", "root.a", 0, 60_000, 81);
    let fits = || job("fits", "root.a", 1_000, 60_000, 80);
    let alone = play(&setup(Shape::Gang, vec![fits()]));
    let behind = play(&setup(Shape::Gang, vec![huge, fits()]));
    assert_eq!(behind.jobs[0].state, JobState::Impossible);
    assert_eq!(behind.jobs[1].start_ms, alone.jobs[0].start_ms);
    assert_eq!(behind.allocations.len(), alone.allocations.len(), "nothing of it was placed");
}

#[test]
fn a_gang_larger_than_the_cluster_is_impossible_and_keeps_nobody_waiting_for_ever() {
    let jobs = vec![
        job("huge", "root.a", 0, 60_000, 81),
        job("fits", "root.a", 1_000, 60_000, 80),
        job("small", "root.b", 2_000, 60_000, 1),
    ];
    let outcome = play(&setup(Shape::Gang, jobs));
    let states: Vec<JobState> = outcome.jobs.iter().map(|job| job.state).collect();
    assert_eq!(states, [JobState::Impossible, JobState::Finished, JobState::Finished]);
    let reason = "the 81 tasks of the job start together, but the whole cluster has capacity for \
                  only 80 of {vcore: 1000 m}";
    assert_eq!(outcome.jobs[0].reason, reason);
}
