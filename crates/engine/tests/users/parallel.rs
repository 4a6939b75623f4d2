//! Many threads at once: one question for one user, and nobody waits for another's.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use headroom_engine::users::{
    Answer, CacheSettings, Directory, LookupFailure, Submitted, UserCache,
};

use super::{at, info, name, unresolved};

/// Longer than any machine is busy: code that is wrong fails here instead of hanging.
const WATCHDOG: Duration = Duration::from_mins(1);

/// A directory that says when it is asked and answers when the test says so. No answer means
/// a panic.
struct Slow {
    asked: Sender<String>,
    answers: Mutex<Receiver<Option<Answer>>>,
}

/// The test's end of a slow directory.
struct Control {
    asked: Receiver<String>,
    answer: Sender<Option<Answer>>,
}

impl Directory for Slow {
    /// Only users called `slow…` are; everybody else has a group of the same name.
    fn look_up(&self, user: &str) -> Answer {
        let group = Answer::complete(vec![name(user)]);
        if !user.starts_with("slow") {
            return group;
        }
        self.asked.send(user.to_owned()).unwrap();
        let answer = self.answers.lock().unwrap().recv_timeout(WATCHDOG).unwrap();
        answer.expect("the test wants the directory to panic")
    }
}

fn slow_cache() -> (Control, UserCache) {
    let (asked, seen) = channel();
    let (answer, answers) = channel();
    let directory = Slow { asked, answers: Mutex::new(answers) };
    let cache = UserCache::new(directory, CacheSettings::default(), at(0));
    (Control { asked: seen, answer }, cache)
}

impl Control {
    /// Wait until the directory is asked.
    fn asked(&self) -> String {
        self.asked.recv_timeout(WATCHDOG).unwrap()
    }

    /// Wait until so many threads wait for another one to look `user` up.
    fn await_waiting(&self, cache: &UserCache, user: &str, count: usize) {
        while cache.waiting(user) < count {
            assert!(self.asked.try_recv().is_err(), "one of them asked instead of waiting");
            thread::yield_now();
        }
    }

    fn answer(&self, groups: &[&str]) {
        let groups = groups.iter().map(|group| name(group)).collect();
        self.answer.send(Some(Answer::complete(groups))).unwrap();
    }
}

#[test]
fn threads_that_want_the_same_user_share_one_question() {
    let (control, cache) = slow_cache();
    thread::scope(|scope| {
        let look_up = || cache.look_up(&name("slow"), at(0));
        let mut threads = vec![scope.spawn(look_up)];
        assert_eq!(control.asked(), "slow");
        threads.extend((0..7).map(|_| scope.spawn(look_up)));
        control.await_waiting(&cache, "slow", 7);
        control.answer(&["dev"]);
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Ok(info("slow", &["dev"])));
        }
    });
    assert!(control.asked.try_recv().is_err(), "asked a second time");
    assert_eq!(cache.waiting("slow"), 0);
}

#[test]
fn threads_that_wait_are_told_of_a_failure_too() {
    let (control, cache) = slow_cache();
    thread::scope(|scope| {
        let look_up = || cache.look_up(&name("slow"), at(0));
        let first = scope.spawn(look_up);
        control.asked();
        let second = scope.spawn(look_up);
        control.await_waiting(&cache, "slow", 1);
        control.answer.send(Some(Answer::failed(LookupFailure::NoSuchUser))).unwrap();
        for thread in [first, second] {
            let failed = Err(unresolved("slow", LookupFailure::NoSuchUser));
            assert_eq!(thread.join().unwrap(), failed);
        }
    });
}

#[test]
fn a_slow_lookup_holds_up_neither_hits_nor_other_lookups_nor_the_cleaner() {
    let (control, cache) = slow_cache();
    assert!(cache.look_up(&name("hit"), at(0)).is_ok());
    thread::scope(|scope| {
        let slow = scope.spawn(|| cache.look_up(&name("slow"), at(0)));
        control.asked();
        let (done, finished) = channel();
        scope.spawn({
            let cache = &cache;
            move || {
                let hit = cache.look_up(&name("hit"), at(1));
                let miss = cache.look_up(&name("miss"), at(1));
                let sent =
                    Submitted { user: name("sent"), groups: vec![name("dev")], forced: false };
                let sent = cache.convert(&sent, at(1));
                cache.tick(at(60));
                done.send((hit, miss, sent)).unwrap();
            }
        });
        let found = finished.recv_timeout(WATCHDOG);
        // Before the assertion, so that the slow thread ends in any case.
        control.answer(&["dev"]);
        let expected =
            (Ok(info("hit", &["hit"])), Ok(info("miss", &["miss"])), Ok(info("sent", &["dev"])));
        assert_eq!(found.unwrap(), expected);
        assert!(slow.join().unwrap().is_ok());
    });
}

/// Every lookup waits inside the directory until all of them are there.
struct AllTogether(Barrier);

impl Directory for AllTogether {
    fn look_up(&self, user: &str) -> Answer {
        self.0.wait();
        Answer::complete(vec![name(user)])
    }
}

#[test]
fn lookups_of_different_users_run_at_the_same_time() {
    let users = ["a", "b", "c", "d"];
    let directory = AllTogether(Barrier::new(users.len()));
    let cache = Arc::new(UserCache::new(directory, CacheSettings::default(), at(0)));
    let (done, finished) = channel();
    for user in users {
        // Not scoped: if they cannot meet, the test fails and leaves them.
        let (cache, done) = (Arc::clone(&cache), done.clone());
        thread::spawn(move || done.send(cache.look_up(&name(user), at(0))));
    }
    for _ in users {
        assert!(finished.recv_timeout(WATCHDOG).unwrap().is_ok());
    }
}

#[test]
fn a_directory_that_panics_leaves_nobody_waiting() {
    let (control, cache) = slow_cache();
    let cache = Arc::new(cache);
    let (done, finished) = channel();
    let look_up = || {
        // Not scoped: if nobody wakes them, the test fails and leaves them.
        let (cache, done) = (Arc::clone(&cache), done.clone());
        let look_up = move || cache.look_up(&name("slow"), at(0));
        thread::spawn(move || done.send(catch_unwind(AssertUnwindSafe(look_up))))
    };
    look_up();
    control.asked();
    for _ in 0..3 {
        look_up();
    }
    control.await_waiting(&cache, "slow", 3);
    control.answer.send(None).unwrap();
    let found = [(); 4].map(|()| finished.recv_timeout(WATCHDOG).unwrap());
    let (told, panicked): (Vec<_>, Vec<_>) = found.into_iter().partition(Result::is_ok);
    assert_eq!(panicked.len(), 1, "who asked has the panic");
    for told in told {
        assert_eq!(told.unwrap(), Err(unresolved("slow", LookupFailure::BrokenOff)));
    }
    assert_eq!(cache.entry("slow"), None);
    assert!(cache.look_up(&name("other"), at(0)).is_ok(), "the cache goes on");
}

#[test]
fn after_a_panic_the_next_lookup_asks_again() {
    let (control, cache) = slow_cache();
    let (done, finished) = channel();
    control.answer.send(None).unwrap();
    control.answer(&["dev"]);
    // Not scoped: if the second lookup waits for the first, the test fails and leaves it.
    thread::spawn(move || {
        let look_up = || cache.look_up(&name("slow"), at(0));
        let first = catch_unwind(AssertUnwindSafe(look_up));
        done.send((first.is_err(), look_up()))
    });
    let found = finished.recv_timeout(WATCHDOG).unwrap();
    assert_eq!(found, (true, Ok(info("slow", &["dev"]))));
}

#[test]
fn groups_sent_while_the_directory_is_asked_are_newer_than_its_answer() {
    let (control, cache) = slow_cache();
    thread::scope(|scope| {
        let look_up = || cache.look_up(&name("slow"), at(0));
        let first = scope.spawn(look_up);
        control.asked();
        let sent = Submitted { user: name("slow"), groups: vec![name("sent")], forced: false };
        assert!(cache.convert(&sent, at(1)).is_ok());
        assert_eq!(look_up(), Ok(info("slow", &["sent"])), "without waiting");
        control.answer(&["dev"]);
        assert_eq!(first.join().unwrap(), Ok(info("slow", &["dev"])), "who asked has the answer");
    });
    assert_eq!(cache.entry("slow").unwrap().groups, ["sent"]);
}
