//! The trackers without books around them: what they refuse, and ids that outlive their level.

use headroom_core::books::TrackerError;
use headroom_core::books::tracker::Trackers;
use headroom_core::id::{LevelId, QueueId};
use headroom_core::resource::Resources;
use headroom_core::testkit::vector;
use headroom_core::{Name, Submit};

use super::{Command, GROUP, Scene, USER, amounts};

/// Trackers without anybody, and the paths of two queues of one tree.
fn fresh() -> (Trackers, Vec<QueueId>, Vec<QueueId>) {
    let scene = Scene::new("root.p.q root.p.r", "");
    let path = |queue| scene.books().path_of(scene.queue(queue));
    (scene.here().trackers.clone(), path("root.p.q"), path("root.p.r"))
}

fn memory(amount: i64) -> Resources {
    vector([(0, amount)])
}

fn used(trackers: &Trackers, level: LevelId) -> Vec<Resources> {
    trackers.up(level).map(|(_, level)| level.used()).collect()
}

#[test]
fn missing_arguments_change_nothing() {
    let (mut trackers, path, other) = fresh();
    let bob = Name::new("bob");
    let level = trackers.link(USER, &bob, &path).unwrap();
    trackers.increase(level, &memory(3)).unwrap();
    let before = trackers.clone();
    let turned: Vec<QueueId> = path.iter().rev().copied().collect();
    let short = [path[0], path[2]];
    let detour = [path[0], path[1], path[2], other[2]];
    for (name, path, expected) in [
        ("bob", &[][..], TrackerError::EmptyPath),
        ("", &path, TrackerError::EmptyName),
        ("bob", &turned, TrackerError::OtherPath { queue: path[2] }),
        ("bob", &short, TrackerError::OtherPath { queue: path[2] }),
        ("sue", &path[1..], TrackerError::OtherPath { queue: path[1] }),
    ] {
        let refused = trackers.link(USER, &Name::new(name), path);
        assert_eq!(refused, Err(expected), "{name:?} at {path:?}");
        let limited = trackers.set_limits(path, &[], Vec::new());
        assert!(name.is_empty() || limited == Err(expected), "limits at {path:?}");
    }
    assert_eq!(trackers, before);
    let below = trackers.link(USER, &bob, &detour);
    assert!(below.is_ok(), "what nobody has been at is taken as the path has it");
}

#[test]
fn empty_names_and_amounts_are_refused_before_they_get_here() {
    let mut scene = Scene::new("root.q", "");
    scene.app("1", "root.q", "bob", &[]);
    let (user, queue, application) = (Name::new("bob"), Name::new("root.q"), Name::new("2"));
    let submit = Submit {
        partition: scene.partition.clone(),
        application,
        queue,
        user,
        ..Submit::default()
    };
    let ask = headroom_core::Ask {
        partition: scene.partition.clone(),
        application: Name::new("1"),
        key: Name::new("k1"),
        resources: amounts("memory=1"),
        ..headroom_core::Ask::default()
    };
    let before = scene.books().clone();
    let none = Name::default;
    for (command, code) in [
        (Command::Submit(Submit { application: none(), ..submit.clone() }), "EMPTY_NAME"),
        (Command::Submit(Submit { user: none(), ..submit }), "EMPTY_NAME"),
        (Command::Ask(headroom_core::Ask { resources: amounts(""), ..ask.clone() }), "ASK_SIZE"),
        (Command::Ask(headroom_core::Ask { application: none(), ..ask }), "UNKNOWN_APPLICATION"),
    ] {
        let refused = scene.world.command(&command);
        assert_eq!(refused.as_ref().map_err(|why| why.code().as_str()), Err(code), "{command:?}");
    }
    assert_eq!(*scene.books(), before);
}

#[test]
#[doc(alias = "SD-10")]
fn an_id_kept_past_the_last_decrease_is_refused() {
    let (mut trackers, path, _) = fresh();
    let bob = Name::new("bob");
    let stale = trackers.link(USER, &bob, &path).unwrap();
    let (old_tracker, parent) = {
        let level = trackers.level(stale);
        (level.tracker, level.parent.unwrap())
    };
    trackers.increase(stale, &memory(3)).unwrap();
    trackers.decrease(stale, &memory(3)).unwrap();
    trackers.unlink(stale).unwrap();
    assert_eq!(trackers.find(USER, "bob"), None);
    // The slots are used again, by another user and by himself.
    for name in ["sue", "bob"] {
        let fresh = trackers.link(USER, &Name::new(name), &path).unwrap();
        trackers.increase(fresh, &memory(7)).unwrap();
        assert_ne!((fresh, trackers.level(fresh).tracker), (stale, old_tracker));
    }
    let before = trackers.clone();
    for level in [stale, parent] {
        let gone = Err(TrackerError::LevelGone { level });
        assert_eq!(trackers.increase(level, &memory(1)), gone);
        assert_eq!(trackers.decrease(level, &memory(1)), gone);
        assert_eq!(trackers.start_application(level), gone);
        assert_eq!(trackers.stop_application(level), gone);
        assert_eq!(trackers.unlink(level), gone);
        assert_eq!(trackers.find_level(level), None);
    }
    assert_eq!(trackers, before, "nothing was lost, nothing landed on somebody else");
}

#[test]
#[doc(alias = "SD-10")]
fn an_increase_before_the_last_decrease_keeps_the_tracker() {
    let (mut trackers, path, _) = fresh();
    let bob = Name::new("bob");
    let first = trackers.link(USER, &bob, &path).unwrap();
    trackers.increase(first, &memory(3)).unwrap();
    // Another application of the user starts before the first one ends: the existing tracker is used.
    let second = trackers.link(USER, &bob, &path).unwrap();
    trackers.increase(second, &memory(5)).unwrap();
    trackers.decrease(first, &memory(3)).unwrap();
    trackers.unlink(first).unwrap();
    assert_eq!(used(&trackers, second), vec![memory(5); 3]);
    // Use alone keeps it too, should a link be let go too early.
    trackers.unlink(second).unwrap();
    assert_eq!(used(&trackers, second), vec![memory(5); 3]);
    assert_eq!(trackers.unlink(second), Err(TrackerError::NotLinked { level: second }));
    let stopped = trackers.stop_application(second);
    assert_eq!(stopped, Err(TrackerError::NotRunning { level: second }));
}

#[test]
#[doc(alias = "SD-10")]
fn the_last_release_and_a_new_ask_in_both_orders() {
    for release_first in [true, false] {
        let mut scene = Scene::new("root.q", "root.q group dev memory=90");
        scene.app("old", "root.q", "bob", &["dev"]);
        scene.app("new", "root.q", "bob", &["dev"]);
        assert!(scene.ask("k1", "old", "memory=3"));
        if release_first {
            scene.release("old", "k1");
            assert_eq!(scene.tracked(USER).len(), 0);
        }
        assert!(scene.ask("k2", "new", "memory=5"));
        if !release_first {
            scene.release("old", "k1");
        }
        for (kind, name) in [(USER, "bob"), (GROUP, "dev")] {
            assert_eq!(scene.used(kind, name, "root"), "memory=5", "{release_first}");
        }
        scene.release("new", "k2");
        assert_eq!(scene.used(GROUP, "dev", "root.q"), "");
        assert_eq!(scene.tracked(USER).len(), 0);
    }
}

#[test]
fn a_level_goes_with_its_last_child_link_use_and_limit() {
    let (mut trackers, path, other) = fresh();
    let bob = Name::new("bob");
    let q = trackers.link(USER, &bob, &path).unwrap();
    let r = trackers.link(USER, &bob, &other).unwrap();
    let p = trackers.level(q).parent.unwrap();
    let children: Vec<LevelId> = trackers.children(p).map(|(id, _)| id).collect();
    assert_eq!(children, [r, q], "the newest first");
    trackers.unlink(q).unwrap();
    assert_eq!((trackers.find_level(q), trackers.find_level(p).is_some()), (None, true));
    trackers.increase(r, &memory(1)).unwrap();
    trackers.unlink(r).unwrap();
    assert!(trackers.find_level(r).is_some_and(|level| level.links() == 0), "used");
    assert_eq!(trackers.names(USER).len(), 1);
}

#[test]
fn no_use_goes_below_zero_and_what_is_left_follows() {
    let scene = Scene::new("root.p.q", "root user bob memory=10");
    let (mut trackers, path) =
        (scene.here().trackers.clone(), scene.books().path_of(scene.queue("root.p.q")));
    let level = trackers.link(USER, &Name::new("bob"), &path).unwrap();
    trackers.increase(level, &vector([(0, 4), (1, 7)])).unwrap();
    trackers.decrease(level, &vector([(0, 6), (1, 2)])).unwrap();
    assert_eq!(used(&trackers, level), vec![vector([(1, 5)]); 3]);
    assert_eq!(trackers.up(level).find_map(|(_, level)| level.left()), Some(memory(10)));
}

#[test]
fn a_group_is_given_back_to_after_its_user_is_gone() {
    let (mut trackers, path, _) = fresh();
    let user = trackers.link(USER, &Name::new("bob"), &path).unwrap();
    let group = trackers.link(GROUP, &Name::new("dev"), &path).unwrap();
    for level in [user, group] {
        trackers.increase(level, &memory(4)).unwrap();
    }
    trackers.decrease(user, &memory(4)).unwrap();
    trackers.unlink(user).unwrap();
    assert_eq!(trackers.find(USER, "bob"), None);
    trackers.decrease(group, &memory(3)).unwrap();
    assert_eq!(used(&trackers, group), vec![memory(1); 3]);
}

/// How many levels differ between two states of the trackers, made and removed ones included.
fn touched(before: &Trackers, after: &Trackers) -> usize {
    let gone = before.levels().filter(|(id, _)| after.find_level(*id).is_none()).count();
    let changed = after.levels().filter(|(id, level)| before.find_level(*id) != Some(*level));
    gone + changed.count()
}

#[test]
#[doc(alias = "SD-12")]
fn the_cost_is_the_depth_whatever_the_number_of_queues() {
    for queues in [1, 10, 1_000] {
        for depth in [1, 4, 16, 64] {
            let below = |number: usize| format!("root.c{number}{}", ".c".repeat(depth - 1));
            // Long paths are dear to make, so where there are many queues most are shallow.
            let paths: Vec<String> = (0..queues)
                .map(|number| if number < 3 { below(number) } else { format!("root.c{number}") })
                .collect();
            let scene = Scene::new(paths.join(" ").leak(), "");
            let path = |path: &str| scene.books().path_of(scene.queue(path));
            let (mut trackers, bob) = (scene.here().trackers.clone(), Name::new("bob"));
            for other in &paths[1..] {
                trackers.link(USER, &bob, &path(other)).unwrap();
            }
            let deep = path(&paths[0]);
            let before = trackers.clone();
            let level = trackers.link(USER, &bob, &deep).unwrap();
            // The levels of the path, and the neighbor of the new branch.
            assert!(touched(&before, &trackers) <= depth + 2, "linking, {queues} queues");
            let before = trackers.clone();
            trackers.increase(level, &memory(1)).unwrap();
            assert_eq!(touched(&before, &trackers), depth + 1, "charging, {queues} queues");
            let charged = trackers.clone();
            trackers.decrease(level, &memory(1)).unwrap();
            assert_eq!(touched(&charged, &trackers), depth + 1, "giving back, {queues} queues");
            assert_eq!(touched(&before, &trackers), 0);
            trackers.unlink(level).unwrap();
            assert!(touched(&before, &trackers) <= depth + 2, "unlinking, {queues} queues");
        }
    }
    let guide = include_str!("../../../../docs/limits.md");
    for depth in ["| 1 |", "| 4 |", "| 16 |", "| 64 |"] {
        assert!(guide.contains(depth), "the guide has the figures of depth {depth}");
    }
}
