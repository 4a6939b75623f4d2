//! Tests of the simulated resource manager, with a scheduler that places every ask immediately.

use headroom_api::si::v1;

use super::play::{Play, Requests};

/// Places every ask, in task groups too, and confirms every release.
fn grant(play: &mut Play, now: u64, requests: &Requests) {
    let accepted = requests
        .applications
        .iter()
        .map(|one| v1::AcceptedApplication { application_id: one.application_id.clone() });
    let response = v1::ApplicationResponse { accepted: accepted.collect(), ..Default::default() };
    play.hear_applications(&response);
    let new = requests.allocations.clone();
    play.hear_allocations(now, &v1::AllocationResponse { new, ..Default::default() });
}

/// Returns all requests of the first minute.
fn minute(seed: u64) -> Vec<Requests> {
    let mut play = Play::new(seed);
    let mut sent = Vec::new();
    for now in (0..60_000).step_by(100) {
        let requests = play.until(now);
        grant(&mut play, now, &requests);
        sent.push(requests);
    }
    sent
}

#[test]
fn the_same_seed_plays_the_same() {
    assert_eq!(minute(7), minute(7));
    assert_ne!(minute(7), minute(8));
}

#[test]
fn within_a_minute_there_is_something_of_everything() {
    let sent = minute(1);
    let applications: Vec<_> = sent.iter().flat_map(|one| &one.applications).collect();
    for kind in super::scene::JOBS {
        let mine = |one: &&&v1::AddApplicationRequest| one.application_id.starts_with(kind.name);
        assert!(applications.iter().any(|one| mine(&one)), "no {}", kind.name);
    }
    let asks = || sent.iter().flat_map(|one| &one.allocations);
    assert!(asks().any(|ask| ask.placeholder));
    assert!(asks().any(|ask| !ask.placeholder && !ask.task_group_name.is_empty()));
    assert!(sent.iter().any(|one| !one.releases.is_empty()));
}

#[test]
fn whoever_is_stopped_for_others_asks_again() {
    let mut play = Play::new(1);
    let first = play.until(0);
    grant(&mut play, 0, &first);
    let asks = play.until(1);
    let victim = asks.allocations.first().expect("there are jobs at the start");
    let (job, key) = (victim.application_id.clone(), victim.allocation_key.clone());
    grant(&mut play, 1, &asks);
    let preempted = v1::TerminationType::PreemptedByScheduler;
    let released = vec![super::message::release(&job, &key, preempted.into())];
    play.hear_allocations(2, &v1::AllocationResponse { released, ..Default::default() });
    let later = play.until(2_000);
    let confirmed = later.releases.iter().find(|one| one.allocation_key == key);
    assert_eq!(confirmed.map(|one| one.termination_type), Some(preempted.into()));
    let again = |one: &&v1::Allocation| one.application_id == job && one.allocation_key != key;
    assert!(later.allocations.iter().any(|one| again(&one)));
}
