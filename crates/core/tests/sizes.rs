//! Limits of the size of one command, what is stored of a refused one, and whose keys and tasks are stored.
#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use headroom_core::books::{TaskRequest, TaskSettings, Tasks};
use headroom_core::config::TenantSettings;
use headroom_core::resource::Amounts;
use headroom_core::testkit::{World, tell_world};
use headroom_core::{
    ApplicationEvent, Ask, COMMAND_BYTES_MAX, Command, Event, Name, SetTenant, Submit, SubmitTask,
    TaskChange, decide,
};

fn world() -> World {
    tell_world(
        "
        tenants root.tenants
        node n1 vcore=128 memory=256G
        tenant a quota vcore=100
        tenant b quota vcore=100
        app plain root.other ann
        ",
    )
}

fn default() -> Name {
    Name::new("default")
}

fn task(tenant: &str, id: &str, vcores: i64) -> SubmitTask {
    let submit = Submit {
        partition: default(),
        application: Name::new(id),
        tenant: Name::new(tenant),
        user: Name::new("ann"),
        ..Submit::default()
    };
    let ask = Ask {
        partition: default(),
        application: Name::new(id),
        key: Name::new(id),
        resources: Amounts::from([("vcore", vcores * 1_000)]),
        ..Ask::default()
    };
    SubmitTask { submit, ask, ..SubmitTask::default() }
}

fn members(members: u32, task: SubmitTask) -> SubmitTask {
    let settings = TaskSettings { members, ..task.settings.clone() };
    SubmitTask { settings, ..task }
}

fn blocked(count: usize, bytes: usize, mut task: SubmitTask) -> SubmitTask {
    task.ask.blocked_nodes =
        (0..count).map(|number| Name::from(format!("{number:0>bytes$}"))).collect();
    task
}

fn refusal(world: &World, command: &Command) -> Option<&'static str> {
    decide(&world.books, world.now, command).err().map(|why| why.code().as_str())
}

#[test]
fn what_a_command_brings_is_bounded() {
    let world = world();
    let submit = |task: SubmitTask| Command::SubmitTask(Box::new(task));
    let tagged = |count: usize, bytes: usize| {
        let tags = (0..count)
            .map(|number| (Name::from(format!("t{number}")), Name::from("x".repeat(bytes))));
        let submit = Submit { tags: tags.collect(), ..task("", "app", 1).submit };
        Command::Submit(Submit { queue: Name::new("root.other"), ..submit })
    };
    let labelled = |count: usize, key: usize, value: usize| {
        let label =
            |number| (Name::from(format!("{number:0>key$}")), Name::from("x".repeat(value)));
        let labels = (0..count).map(label).collect();
        let settings = TenantSettings { labels, ..TenantSettings::default() };
        let (partition, tenant) = (default(), Name::new("c"));
        Command::SetTenant(Box::new(SetTenant {
            partition,
            tenant,
            settings,
            ..SetTenant::default()
        }))
    };
    let long = |bytes: usize| submit(task("a", &"x".repeat(bytes), 1));
    let mut large = task("a", "t", 1);
    large.ask.resources = Amounts::from([("memory", (1 << 53) + 1)]);
    let cases = [
        (long(253), None),
        (long(254), Some("LONG_NAME")),
        (submit(blocked(1_000, 253, task("a", "t", 1))), None),
        (submit(blocked(1_001, 4, task("a", "t", 1))), Some("MANY_BLOCKED_NODES")),
        (submit(blocked(1, 254, task("a", "t", 1))), Some("LONG_NAME")),
        (submit(members(1_000, blocked(20, 20, task("a", "t", 0)))), Some("ASK_SIZE")),
        (submit(members(1_000, blocked(30, 20, task("a", "t", 0)))), Some("COMMAND_TOO_LARGE")),
        (submit(members(1_000, blocked(1_000, 253, task("a", "t", 1)))), Some("COMMAND_TOO_LARGE")),
        (submit(members(1_001, task("a", "t", 1))), Some("TASK_MEMBERS")),
        (submit(members(u32::MAX, task("a", "t", 1))), Some("COMMAND_TOO_LARGE")),
        (submit(large), Some("TASK_AMOUNT")),
        (tagged(1_024, 200), None),
        (tagged(1_025, 1), Some("TOO_MANY")),
        (tagged(1, 300_000), Some("LONG_NAME")),
        (tagged(2, COMMAND_BYTES_MAX / 4), Some("COMMAND_TOO_LARGE")),
        (labelled(64, 63, 253), None),
        (labelled(65, 5, 5), Some("TOO_MANY")),
        (labelled(1, 64, 5), Some("LONG_NAME")),
        (labelled(1, 5, 254), Some("LONG_NAME")),
    ];
    for (place, (command, expected)) in cases.into_iter().enumerate() {
        let found = refusal(&world, &command);
        assert_eq!(found, expected, "case {place} of {} bytes", command.size());
    }
}

#[test]
fn a_refused_submission_is_recorded_as_its_refusal_in_two_kibibytes() {
    let world = world();
    let mut refused = members(1_000, task("a", &"x".repeat(240), 200));
    refused.submit.queue = Name::from("q".repeat(4_000));
    refused.submit.user = Name::from("é".repeat(2_000));
    refused.submit.groups =
        (0..1_000).map(|number| Name::from(format!("group-{number}"))).collect();
    let command = Command::SubmitTask(Box::new(refused));
    let events = decide(&world.books, world.now, &command).unwrap();
    let recorded = command.clone().recorded(&events);
    let Command::RejectApplication(kept) = &recorded else { panic!("{recorded:?}") };
    let texts =
        [&kept.application, &kept.queue, &kept.code, &kept.message, &kept.user, &kept.tenant];
    let bytes = texts.into_iter().chain(&kept.groups).map(|text| text.len()).sum::<usize>();
    assert!(bytes <= 2_048, "{bytes}");
    assert_eq!((&*kept.code, &*kept.tenant, kept.of_task), ("EXCEEDS_QUOTA_ALWAYS", "a", true));
    assert!(kept.user.ends_with('…') && kept.message.contains("vcore"), "{kept:?}");
    // A replay comes to the same.
    assert_eq!(decide(&world.books, world.now, &recorded).unwrap(), events);
    let accepted = Command::SubmitTask(Box::new(task("a", "t", 1)));
    let events = decide(&world.books, world.now, &accepted).unwrap();
    assert_eq!(accepted.clone().recorded(&events), accepted);
}

/// A tenant whose tasks come and go by the ten thousand pushes out its own, and keys outlive their tasks.
#[test]
fn nobody_pushes_out_the_tasks_and_keys_of_others() {
    let mut world = world();
    let keyed = |tenant: &str, id: &str| {
        let mut task = task(tenant, id, 1);
        task.settings.request = TaskRequest { key: Name::new(id), digest: Name::new("body") };
        Command::SubmitTask(Box::new(task))
    };
    let come_and_go = |world: &mut World, tenant: &str, id: &str| {
        world.command(&keyed(tenant, id)).unwrap();
        let (partition, task) = (default(), Name::new(id));
        world
            .command(&Command::ChangeTask { partition, task, change: TaskChange::Cancel })
            .unwrap();
    };
    come_and_go(&mut world, "b", "of-b");
    for number in 0..Tasks::REMEMBERED {
        come_and_go(&mut world, "a", &format!("a-{number}"));
    }
    let partition = world.books.partition_named(&default()).unwrap();
    let is_known =
        |world: &World, id: &str| world.books.task_named(partition, &Name::new(id)).is_some();
    assert!(is_known(&world, "of-b"), "its own tasks are few");
    assert!(!is_known(&world, "a-0"));
    assert!(is_known(&world, "a-1"));
    assert_eq!(refusal(&world, &keyed("a", "a-0")), Some("KEY_SPENT"));
    assert_eq!(refusal(&world, &keyed("b", "a-0")), None, "keys are of one tenant");
    world.now = world.now + headroom_core::Millis::from_secs(86_400);
    assert_eq!(refusal(&world, &keyed("a", "a-0")), None, "a key is valid for a day");
    // The next submission forgets the keys whose time is over.
    come_and_go(&mut world, "a", "later");
    assert_eq!(world.books.partition(partition).spent_keys.count(&Name::new("a")), 1);
    let forgotten = world.journal.iter();
    let forgotten = forgotten
        .filter(|(_, event)| matches!(event, Event::Application(ApplicationEvent::Removed { .. })));
    assert_eq!(forgotten.count(), 2, "one at a time");
}
