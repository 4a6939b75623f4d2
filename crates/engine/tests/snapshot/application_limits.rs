//! Limits of applications in snapshots: those in force, and those of templates.

use headroom_core::books::Books;
use headroom_core::config::{
    ApplicationLimitsConfig, CapacityConfig, CapacityShare, QueueConfig, TemplateConfig,
};
use headroom_core::testkit::{World, leaf, parent, partition};
use headroom_core::userlimit::Decimal;
use headroom_core::{Command, Name};

use super::{read, written};

#[test]
fn application_limits_are_read_as_they_were_written() {
    let limits = ApplicationLimitsConfig {
        max: Some(u64::MAX),
        max_per_user: Some(1_000),
        max_parallel: Some(200),
        max_parallel_per_user: Some(1),
        max_parallel_by_user: vec![(Name::new("ann"), 5), (Name::new("bob"), u64::MAX)],
        driver: Decimal::parse("0.000001"),
        max_per_queue: Some(7),
    };
    let none = ApplicationLimitsConfig {
        driver: Some(Decimal::ZERO),
        ..ApplicationLimitsConfig::default()
    };
    let template =
        TemplateConfig { application_limits: Some(none.clone()), ..TemplateConfig::default() };
    let p = QueueConfig { template: Some(template), ..parent("p", vec![leaf("a")]) };
    let mut file = partition(parent("root", vec![p]));
    file.partitions[0].application_limits = Some(limits.clone());
    let mut world = World::default();
    world.command(&Command::Configure(Box::new(file))).expect("a legal file");
    let again: Books = read(&written(&world.books)).expect("what was written");
    assert_eq!(again, world.books);
    let partition = again.partition_named("default").expect("the partition");
    let settings = |path: &str| {
        again.queue(again.queue_at(partition, path).expect("the queue")).settings.clone()
    };
    assert_eq!(settings("root").application_limits.as_deref(), Some(&limits));
    let template = settings("root.p").template.clone().expect("its template");
    assert_eq!(template.application_limits, Some(none));
    // Counts of a queue are its own, all else is inherited.
    let inherited =
        ApplicationLimitsConfig { max: None, max_parallel: None, max_per_queue: None, ..limits };
    assert_eq!(settings("root.p.a").application_limits.as_deref(), Some(&inherited));
}

#[test]
fn parts_of_queues_are_read_as_they_were_written_and_what_they_come_to_is_worked_out() {
    let part = |share, maximum: Option<u32>| {
        Some(CapacityConfig { share, maximum: maximum.map(Decimal::whole) })
    };
    let with = |queue, capacity| QueueConfig { capacity, ..queue };
    let percent = |value, maximum| part(CapacityShare::Percent(Decimal::whole(value)), maximum);
    let template =
        TemplateConfig { capacity: Some(CapacityConfig::ONE), ..TemplateConfig::default() };
    let p = QueueConfig {
        template: Some(template),
        ..parent("p", vec![with(leaf("a"), Some(CapacityConfig::ONE))])
    };
    let queues = vec![with(p, percent(40, Some(80))), with(leaf("b"), percent(60, None))];
    let mut file = partition(parent("root", queues));
    file.partitions[0].application_limits =
        Some(ApplicationLimitsConfig { max: Some(100), ..ApplicationLimitsConfig::default() });
    let mut world = World::default();
    world.command(&Command::Configure(Box::new(file))).expect("a legal file");
    let again: Books = read(&written(&world.books)).expect("what was written");
    assert_eq!(again, world.books);
    let partition = again.partition_named("default").expect("the partition");
    let queue = |path: &str| again.queue(again.queue_at(partition, path).expect("the queue"));
    assert_eq!(queue("root.p").settings.capacity, percent(40, Some(80)));
    let template = queue("root.p").settings.template.clone().expect("its template");
    assert_eq!(template.capacity, Some(CapacityConfig::ONE));
    assert_eq!(queue("root.p.a").derived_applications, Some(40));
}
