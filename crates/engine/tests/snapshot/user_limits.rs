//! User limits in snapshots: those in force, and those of templates.

use headroom_core::books::Books;
use headroom_core::config::{QueueConfig, TemplateConfig, UserFactor, UserLimitsConfig};
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::userlimit::{Calculator, Decimal, Enforcement, Formula};
use headroom_core::{Command, Name};

use super::{read, written};

#[test]
fn user_limits_are_read_as_they_were_written() {
    let limits = UserLimitsConfig {
        formula: Some(Formula::Yarn3),
        enforcement: Some(Enforcement::Overshoot),
        calculator: Some(Calculator::Memory),
        floor: Decimal::parse("33.333333"),
        factor: Decimal::parse("2.5").map(UserFactor::Times),
        weights: vec![(Name::new("ann"), Decimal::ZERO), (Name::new("bob"), Decimal::HUNDRED)],
        minimum_allocation: Some(amounts([("vcore", 1)])),
        increment: Some(amounts([])),
        maximum_allocation: Some(amounts([("memory", 9), ("vcore", 2)])),
    };
    let off = UserLimitsConfig { factor: Some(UserFactor::Off), ..UserLimitsConfig::default() };
    let template = TemplateConfig { user_limits: Some(off), ..TemplateConfig::default() };
    let p = QueueConfig { template: Some(template), ..parent("p", vec![leaf("a")]) };
    let mut file = partition(parent("root", vec![p]));
    file.partitions[0].user_limits = Some(limits.clone());
    let mut world = World::default();
    world.command(&Command::Configure(Box::new(file))).expect("a legal file");
    let again: Books = read(&written(&world.books)).expect("what was written");
    assert_eq!(again, world.books);
    let partition = again.partition_named("default").expect("the partition");
    let a = again.queue(again.queue_at(partition, "root.p.a").expect("the leaf"));
    assert_eq!(a.settings.user_limits.as_deref(), Some(&limits));
}
