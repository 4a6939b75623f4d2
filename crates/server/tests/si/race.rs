//! A user's last release and next allocation race, from many clients at once: scene SD-10.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use headroom_api::si::v1::TerminationType;
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::view::{groups, users};
use headroom_core::{Ask, Command, Name, Submit};
use headroom_engine::testkit::MemoryJournal;
use headroom_engine::{Follower, Handle, Pace, SystemClock, View};
use headroom_server::grpc::Settings;
use serde_json::Value;

use crate::scenes::of_user;
use crate::support::{Rm, Server, new, placed};

const QUEUES: &str = "
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        limits:
          - {limit: dev, groups: [dev], maxresources: {vcore: 1000}}
        queues: [{name: a}, {name: b}]
";

const USERS: [&str; 2] = ["ann", "bob"];
/// Number of clients of the engine for each user, in addition to the RM.
const CLIENTS: usize = 6;
/// How often each comes and goes.
const ROUNDS: usize = 60;

fn partition() -> Name {
    Name::new("default")
}

/// A client of the engine: an application with one allocation comes, and goes as a whole, again
/// and again.
async fn come_and_go(handle: Handle, user: &'static str, client: usize) {
    for round in 0..ROUNDS {
        let application = Name::from(format!("{user}-{client}-{round}"));
        let queue = if (client + round).is_multiple_of(2) { "root.a" } else { "root.b" };
        let submit = Submit {
            partition: partition(),
            application: application.clone(),
            queue: Name::new(queue),
            user: Name::new(user),
            groups: vec![Name::new("dev")],
            ..Submit::default()
        };
        let ask = Ask {
            partition: partition(),
            application: application.clone(),
            key: application.clone(),
            resources: [("vcore", 1_000)].into(),
            node: Some(Name::new("n1")),
            ..Ask::default()
        };
        let remove = Command::RemoveApplication { partition: partition(), application };
        for command in [Command::Submit(submit), Command::Ask(ask), remove] {
            handle.submit(command).await.unwrap().unwrap();
        }
    }
}

/// The same by the scheduler interface.
async fn come_and_go_as_rm(rm: &mut Rm) {
    for round in 0..ROUNDS {
        let (id, user) = (format!("rm-{round}"), USERS[round % 2]);
        rm.add(of_user(user, &["dev"], new(&id, "root.a")));
        // Events of all other applications are reported too.
        while !rm.applications.next().await.accepted.iter().any(|one| one.application_id == id) {}
        rm.ask(vec![placed(&id, &id, 1, "n1")]);
        while !rm.allocations.next().await.new.iter().any(|one| one.allocation_key == id) {}
        rm.remove(&id);
        loop {
            let told = rm.allocations.next().await;
            let mine = told.released.iter().find(|one| one.allocation_key == id);
            if let Some(one) = mine {
                assert_eq!(one.termination_type(), TerminationType::StoppedByRm);
                break;
            }
        }
    }
}

fn vcore(amounts: &Amounts) -> i64 {
    amounts.get("vcore").map_or(0, Quantity::get)
}

/// What users and groups use is what their allocations are, at the number of this view.
fn adds_up(view: &View) {
    let books = &view.books;
    let mut of_users: BTreeMap<Name, i64> = BTreeMap::new();
    for (_, row) in books.allocations().iter().filter(|(_, row)| row.node.is_some()) {
        *of_users.entry(books.application(row.application).user.clone()).or_default() += 1_000;
    }
    let amounts = |vcore: i64| -> Amounts {
        if vcore == 0 { Amounts::EMPTY } else { [("vcore", vcore)].into() }
    };
    let root = books.partition_named("default").unwrap();
    for user in users(books, root) {
        let expected = of_users.get(&user.user).copied().unwrap_or_default();
        assert_eq!(user.usage.used, amounts(expected), "{user:?} at {}", view.sequence);
        let apart: i64 = user.usage.children.iter().map(|one| vcore(&one.used)).sum();
        assert_eq!(apart, expected, "{user:?} at {}", view.sequence);
        of_users.remove(&user.user);
    }
    assert!(of_users.is_empty(), "{of_users:?} is not counted at {}", view.sequence);
    let dev = groups(books, root).into_iter().find(|one| &*one.group == "dev").unwrap();
    let all = books.allocations().iter().filter(|(_, row)| row.node.is_some()).count();
    let all = i64::try_from(all).unwrap() * 1_000;
    assert_eq!(dev.usage.used, amounts(all), "at {}", view.sequence);
    assert_eq!(books.check(), Ok(()), "at {}", view.sequence);
}

/// Look at every view that is published, until all is done; how many there were.
async fn look_at_views(handle: Handle, done: Arc<AtomicBool>) -> usize {
    let (mut looked, mut last) = (0, None);
    while !done.load(Ordering::Acquire) {
        let view = handle.views().at_least(0).await;
        if last.replace(view.sequence) != Some(view.sequence) {
            adds_up(&view);
            looked += 1;
        }
        tokio::task::yield_now().await;
    }
    looked
}

/// What REST says of users, each answer in itself: each application that runs has one core.
async fn look_at_rest(url: String, done: Arc<AtomicBool>) -> usize {
    let client = reqwest::Client::new();
    let mut looked = 0;
    while !done.load(Ordering::Acquire) {
        for (kind, name) in [("users", "userName"), ("groups", "groupName")] {
            let path = format!("{url}/ws/v1/partition/default/usage/{kind}");
            let shown: Value = client.get(path).send().await.unwrap().json().await.unwrap();
            for one in shown.as_array().unwrap() {
                assert!(one[name].is_string(), "{one}");
                each_has_one_core(&one["queues"]);
            }
        }
        looked += 1;
    }
    looked
}

fn each_has_one_core(level: &Value) {
    let used = level["resourceUsage"]["vcore"].as_u64().unwrap_or_default();
    let running = level["runningApplications"].as_array().map_or(0, Vec::len) as u64;
    assert_eq!(used, running * 1_000, "{level}");
    let children = level["children"].as_array().cloned().unwrap_or_default();
    let below = children.iter().map(|one| one["resourceUsage"]["vcore"].as_u64().unwrap_or(0));
    assert!(children.is_empty() || below.sum::<u64>() == used, "{level}");
    children.iter().for_each(each_has_one_core);
}

/// Returns how often the two events occurred in each order: how often a user returned after the last release, and how
/// often the user's next allocation was before that.
async fn orders(mut follower: Follower, last: u64) -> (usize, usize) {
    let mut held: BTreeMap<Name, (u32, Name)> = BTreeMap::new();
    let mut users: BTreeMap<Name, Name> = BTreeMap::new();
    let (mut release_first, mut allocation_first) = (0, 0);
    while follower.position() <= last {
        for entry in follower.next().await.unwrap().unwrap() {
            match &entry.record.command {
                Some(Command::Submit(one)) => {
                    users.insert(one.application.clone(), one.user.clone());
                }
                Some(Command::Ask(one)) => {
                    let user = users[&one.application].clone();
                    let (count, newest) = held.entry(user).or_insert((0, one.key.clone()));
                    release_first += usize::from(*count == 0 && *newest != one.key);
                    *count += 1;
                    *newest = one.key.clone();
                }
                Some(Command::RemoveApplication { application, .. }) => {
                    let (count, newest) = held.get_mut(&users[application]).unwrap();
                    *count -= 1;
                    allocation_first += usize::from(*count == 1 && newest != application);
                }
                _ => {}
            }
        }
    }
    assert!(held.values().all(|(count, _)| *count == 0), "{held:?}");
    (release_first, allocation_first)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[doc(alias = "SD-10")]
async fn the_last_release_and_a_new_allocation_of_a_user_lose_nothing() {
    let server = Server::with(&MemoryJournal::default(), Settings::default(), |settings| {
        settings.pace = Pace::Automatic;
        settings.clock = Arc::new(SystemClock);
    })
    .await;
    let mut rm = Rm::on(&server, QUEUES).await;
    rm.create(&[("n1", 1_000)]).await;
    let handle = server.handle.clone();
    let follower = handle.feed().follow(handle.feed().newest() + 1);
    let done = Arc::new(AtomicBool::new(false));
    let views = tokio::spawn(look_at_views(handle.clone(), Arc::clone(&done)));
    let rest = tokio::spawn(look_at_rest(server.url.clone(), Arc::clone(&done)));
    let pairs = USERS.into_iter().flat_map(|user| (0..CLIENTS).map(move |client| (user, client)));
    let clients: Vec<_> = pairs
        .map(|(user, client)| tokio::spawn(come_and_go(handle.clone(), user, client)))
        .collect();
    come_and_go_as_rm(&mut rm).await;
    for client in clients {
        client.await.unwrap();
    }
    done.store(true, Ordering::Release);
    let (views, rest) = (views.await.unwrap(), rest.await.unwrap());
    let last = handle.feed().newest();
    let (release_first, allocation_first) = orders(follower, last).await;
    println!("{views} views, {rest} answers, {release_first} and {allocation_first} meetings");
    assert!(views > 10 && rest > 10, "{views} views, {rest} answers");
    assert!(release_first > 0 && allocation_first > 0, "{release_first}, {allocation_first}");
    let view = handle.views().at_least(last).await;
    adds_up(&view);
    assert_eq!(server.json("/ws/v1/partition/default/usage/users").await, serde_json::json!([]));
    let groups = server.json("/ws/v1/partition/default/usage/groups").await;
    assert_eq!(groups[0]["applications"], Value::Null, "{groups}");
    assert_eq!(groups[0]["queues"]["resourceUsage"], Value::Null, "{groups}");
}
