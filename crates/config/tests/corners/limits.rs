//! Limits of users and groups.

use headroom_config::read;

use super::{below_root, verdicts};

/// A file with a queue of these limits, in a flow list.
fn limits(list: &str) -> String {
    below_root(&format!("- name: q\n  limits: [{list}]"))
}

#[test]
fn limits_of_the_partition_are_those_of_root() {
    let file = |of_partition: &str, of_root: &str| {
        format!(
            "partitions: [{{queues: [{{name: root, limits: [{of_root}]}}], \
             limits: [{of_partition}]}}]"
        )
    };
    let (one, other) = ("{users: [ann], maxapplications: 1}", "{users: [ann], maxapplications: 2}");
    let count = |text: &str| {
        let loaded = read(text).unwrap();
        let root = &loaded.configuration.partitions[0].root;
        root.limits.iter().map(|limit| limit.max_applications).collect::<Vec<_>>()
    };
    assert_eq!(count(&file(one, "")), [1]);
    assert_eq!(count(&file("", other)), [2]);
    assert_eq!(count(&file(one, one)), [1]);
    verdicts(
        |list| {
            let (of_partition, of_root) = list.split_once(" / ").unwrap();
            file(of_partition, of_root)
        },
        &[
            (&format!("{one} / {other}"), "L-ROOTDIFF"),
            (&format!("{one}, {{users: [bob], maxapplications: 1}} / {one}"), "L-ROOTDIFF"),
        ],
    );
    // Below a queue list without root the partition's limits hold at the root that is made.
    let bare = format!("partitions: [{{queues: [{{name: a}}], limits: [{one}]}}]");
    assert_eq!(count(&bare), [1]);
}

#[test]
fn a_limit_names_somebody_and_sets_something() {
    verdicts(
        limits,
        &[
            ("{users: ['ann b'], maxapplications: 1}", "L-USERNAME"),
            ("{groups: [dev@here], maxapplications: 1}", "L-GROUPNAME"),
            ("{users: [], groups: [], maxapplications: 1}", "L-EMPTY"),
            ("{maxapplications: 1}", "L-EMPTY"),
            ("{users: [ann], maxresources: {memory: 0, vcore: 0}}", "L-ZERORES"),
            ("{users: [ann], maxresources: {memory: 0}, maxapplications: 5}", "L-ZERORES"),
            ("{users: [ann]}", "L-NOTHING"),
            ("{users: [ann], maxresources: {}, maxapplications: 0}", "L-NOTHING"),
            ("{users: [ann], maxresources: {memory: 0, vcore: 1}}", ""),
        ],
    );
}

#[test]
fn all_others_come_last_among_users_and_among_groups() {
    verdicts(
        limits,
        &[
            ("{users: [ann, '*'], maxapplications: 1}", ""),
            ("{users: ['*', ann], maxapplications: 1}", "L-AFTERWILD"),
            (
                "{users: ['*'], maxapplications: 1}, {users: [ann], maxapplications: 1}",
                "L-AFTERWILD",
            ),
            (
                "{groups: [dev, '*'], maxapplications: 1}, {groups: [ops], maxapplications: 1}",
                "L-AFTERWILD",
            ),
            // Each list has its own.
            ("{users: ['*'], maxapplications: 1}, {groups: [dev, '*'], maxapplications: 1}", ""),
            ("{users: ['*'], maxapplications: 1}, {users: ['*'], maxapplications: 2}", "L-DUPUSER"),
            ("{users: ['*', '*'], maxapplications: 1}", "L-DUPUSER"),
            ("{groups: [dev, '*', '*'], maxapplications: 1}", "L-DUPGROUP"),
            ("{groups: ['*'], maxapplications: 1}", "L-ONLYWILDGROUP"),
            ("{groups: [dev], maxapplications: 1}, {groups: ['*'], maxapplications: 1}", ""),
        ],
    );
}

#[test]
fn a_limit_may_be_as_large_as_its_queue_and_siblings_do_not_matter() {
    verdicts(
        |limit| {
            below_root(&format!(
                "- name: q\n  maxapplications: 5\n  resources: {{max: {{memory: 10}}}}\n  \
                 limits: [{{users: [ann], {limit}}}]\n\
                 - name: r\n  limits: [{{users: [ann], maxresources: {{memory: 1}}}}]"
            ))
        },
        &[
            ("maxresources: {memory: 10}", ""),
            ("maxresources: {memory: 11}", "L-RES>QUEUE"),
            ("maxresources: {vcore: 11}", ""),
            ("maxapplications: 5", ""),
            ("maxapplications: 6", "L-APPS>QUEUE"),
        ],
    );
}

#[test]
fn service_accounts_and_groups_with_colons_can_be_named() {
    verdicts(
        limits,
        &[
            ("{users: ['system:serviceaccount:ns:name'], maxapplications: 1}", ""),
            ("{users: [ann@example.com, svc$, _x, a/b#c.d-e], maxapplications: 1}", ""),
            ("{groups: ['oidc:team:one', dev.ops-x_y], maxapplications: 1}", ""),
            ("{users: [5th], maxapplications: 1}", "L-USERNAME"),
            ("{users: [a$b], maxapplications: 1}", "L-USERNAME"),
            ("{groups: [a/b], maxapplications: 1}", "L-GROUPNAME"),
            ("{groups: [':a'], maxapplications: 1}", "L-GROUPNAME"),
        ],
    );
}
