//! Lines about tasks.

use alloc::boxed::Box;

use crate::books::{TaskRequest, TaskSettings};
use crate::command::{Ask, Command, Submit, SubmitTask, TaskChange};
use crate::name::Name;
use crate::time::{Millis, Timestamp};

use super::Words;

/// Reads `task t1 a ann vcore=10 priority 3 deadline 600 estimate 120 requeue restarts 2 wait 5s key k same fixed x3`:
/// a task of tenant a and of the user. `x3` sets three members. The word after the key is the digest of the body.
pub(super) fn submit(partition: Name, words: &mut Words<'_>) -> Command {
    let task = words.name("a task id");
    let submit = Submit {
        partition: partition.clone(),
        application: task.clone(),
        tenant: words.name("a tenant"),
        user: words.name("a user"),
        ..Submit::default()
    };
    let ask = Ask {
        partition,
        application: task.clone(),
        key: task.clone(),
        resources: words.amounts(),
        preemptable: true,
        ..Ask::default()
    };
    let settings = TaskSettings::default();
    let mut all = SubmitTask { submit, ask, settings };
    while let Some(word) = words.optional() {
        let settings = &mut all.settings;
        let tag = |key: &str, words: &mut Words<'_>| (Name::new(key), words.name("seconds"));
        match word {
            "priority" => {
                all.ask.priority = words.next("a number").parse().expect("a whole number");
            }
            "deadline" => all.submit.tags.push(tag("headroom/deadline", words)),
            "estimate" => all.submit.tags.push(tag("headroom/estimate", words)),
            "requeue" => settings.requeue = true,
            "fixed" => all.ask.preemptable = false,
            "restarts" => settings.restarts = words.next("a number").parse().expect("a number"),
            "wait" => settings.max_wait = Some(words.seconds()),
            "key" => settings.request = request(words),
            members if members.starts_with('x') => {
                settings.members = members[1..].parse().expect("a number behind x");
            }
            _ => panic!("nobody understands `{word}` of a task"),
        }
    }
    Command::SubmitTask(Box::new(all))
}

fn request(words: &mut Words<'_>) -> TaskRequest {
    TaskRequest { key: words.name("a key"), digest: words.name("what the body comes to") }
}

/// Reads `task-runs t`, `task-done t`, `task-failed t`, `task-cancel t`, `task-resize t vcore=4`, `task-uses t
/// vcore=1`, or `task-rank t 5`. The last can have `at 600` for a deadline in seconds.
pub(super) fn change(partition: Name, verb: &str, words: &mut Words<'_>) -> Option<Command> {
    let task = |words: &mut Words<'_>| words.name("a task id");
    let (task, change) = match verb {
        "task-runs" => (task(words), TaskChange::Confirm),
        "task-done" | "task-failed" => {
            let task = task(words);
            let request = if words.take("key") { request(words) } else { TaskRequest::default() };
            (task, TaskChange::End { succeeded: verb == "task-done", request })
        }
        "task-cancel" => (task(words), TaskChange::Cancel),
        "task-resize" => (task(words), TaskChange::Resize { resources: words.amounts() }),
        "task-uses" => (task(words), TaskChange::Measure { resources: words.amounts() }),
        "task-rank" => {
            let task = task(words);
            let priority = words.rest.next_if(|word| word.parse::<i32>().is_ok());
            let priority = priority.and_then(|word| word.parse().ok());
            let at = words.take("at").then(|| words.next("seconds"));
            let deadline = at.and_then(|word| word.parse().ok());
            let deadline = deadline.map(|seconds| Timestamp::ZERO + Millis::from_secs(seconds));
            (task, TaskChange::Rank { priority, deadline })
        }
        _ => return None,
    };
    Some(Command::ChangeTask { partition, task, change })
}
