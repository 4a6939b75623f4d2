//! One cache for each partition, as the queue file says.

use std::sync::Arc;

use headroom_core::config::{Configuration, PartitionConfig, QueueConfig};
use headroom_engine::users::{
    LookupFailure, ResolverError, ResolverWarning, Resolvers, Submitted, Users,
};

use super::{at, info, name, unresolved};

fn resolvers(partitions: &[(&str, &str)]) -> Result<Resolvers, ResolverError> {
    let partition = |(name, resolver): &(&str, &str)| {
        let mut partition = PartitionConfig::new(*name, QueueConfig::default());
        (*resolver).clone_into(&mut partition.user_group_resolver);
        partition
    };
    let partitions = partitions.iter().map(partition).collect();
    Resolvers::of(&Configuration { partitions, ..Configuration::default() })
}

fn users(partitions: &[(&str, &str)]) -> Users {
    let users = Users::default();
    users.configure(&resolvers(partitions).unwrap(), at(0));
    users
}

fn submitted(user: &str) -> Submitted {
    Submitted { user: name(user), ..Submitted::default() }
}

#[test]
fn each_type_has_its_directory() {
    for (written, user, groups) in [
        ("", "ann", &["ann"][..]),
        ("something", "ann", &["ann"]),
        ("OS", "ann", &["ann"]),
        ("test", "ann", &["dev", "ops", "test"]),
        ("os", "root", &["root"]),
    ] {
        let users = users(&[("default", written)]);
        let found = users.convert("default", &submitted(user), at(0)).unwrap();
        assert_eq!(found.groups[..groups.len()], info(user, groups).groups, "type {written:?}");
    }
}

#[test]
fn a_type_that_nobody_knows_is_taken_with_a_warning() {
    let warning = |given: &str| ResolverWarning::UnknownType {
        partition: name("p"),
        given: given.to_owned(),
    };
    for (written, expected) in
        [("", vec![]), ("os", vec![]), ("OS", vec![warning("OS")]), ("Ldap", vec![warning("Ldap")])]
    {
        assert_eq!(resolvers(&[("p", written)]).unwrap().warnings, expected, "type {written:?}");
    }
    assert_eq!(warning("OS").code(), "U-RESOLVER");
}

#[test]
fn ldap_is_refused_and_not_replaced_by_something_else() {
    let refused = resolvers(&[("default", ""), ("gpu", "ldap")]).unwrap_err();
    assert_eq!(refused, ResolverError::Ldap { partition: name("gpu") });
    assert_eq!(refused.code(), "U-LDAP");
}

#[test]
fn partitions_do_not_share_what_they_know() {
    let users = users(&[("default", ""), ("gpu", "")]);
    let sent = Submitted { groups: vec![name("dev")], ..submitted("ann") };
    assert_eq!(users.convert("default", &sent, at(0)), Ok(info("ann", &["dev"])));
    assert_eq!(users.convert("default", &submitted("ann"), at(1)), Ok(info("ann", &["dev"])));
    assert_eq!(users.convert("gpu", &submitted("ann"), at(1)), Ok(info("ann", &["ann"])));
}

#[test]
fn a_partition_that_is_not_configured_has_no_users() {
    let error = users(&[("default", "")]).convert("gpu", &submitted("ann"), at(0)).unwrap_err();
    assert_eq!(error.code(), "U-PARTITION");
}

#[test]
fn another_type_at_a_reload_replaces_the_cache_of_that_partition_only() {
    let users = users(&[("default", ""), ("gpu", "")]);
    for partition in ["default", "gpu"] {
        users.convert(partition, &submitted("ann"), at(0)).unwrap();
    }
    let before = users.cache("default").unwrap();

    users.configure(&resolvers(&[("default", "test"), ("gpu", "")]).unwrap(), at(10));
    assert!(users.cache("default").unwrap().entry("ann").is_none());
    assert!(users.cache("gpu").unwrap().entry("ann").is_some());
    let found = users.convert("default", &submitted("ann"), at(11));
    assert_eq!(found, Ok(info("ann", &["dev", "ops", "test"])));
    assert_eq!(before.entry("ann").unwrap().groups, ["ann"], "a lookup under way ends there");
}

#[test]
fn the_same_type_at_a_reload_keeps_the_cache() {
    let users = users(&[("default", "")]);
    let before = users.cache("default").unwrap();
    // Both stand for no directory.
    for same in ["", "something"] {
        users.configure(&resolvers(&[("default", same)]).unwrap(), at(10));
        assert!(Arc::ptr_eq(&before, &users.cache("default").unwrap()), "type {same:?}");
    }
}

#[test]
fn a_partition_that_is_removed_takes_its_cache_with_it() {
    let users = users(&[("default", ""), ("gpu", "")]);
    users.configure(&resolvers(&[("default", "")]).unwrap(), at(10));
    assert!(users.cache("gpu").is_none() && users.cache("default").is_some());
}

#[test]
fn the_cleaner_of_the_test_resolver_comes_every_second() {
    let users = users(&[("default", ""), ("gpu", "test")]);
    assert_eq!(users.tick(at(0)), Some(at(1)));
    let found = users.convert("gpu", &submitted("eve"), at(0));
    assert_eq!(found, Err(unresolved("eve", LookupFailure::NoSuchUser)));
    assert!(users.cache("gpu").unwrap().entry("eve").is_some(), "until the cleaner comes");
    assert_eq!(users.tick(at(31)), Some(at(32)));
    assert!(users.cache("gpu").unwrap().entry("eve").is_none());
    assert_eq!(Users::default().tick(at(0)), None);
}
