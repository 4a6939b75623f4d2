//! Whatever a message contains, it becomes commands that are carried out or refused.

use std::collections::BTreeMap;

use headroom_api::si::v1::{
    AddApplicationRequest, Allocation, AllocationRelease, AllocationReleasesRequest,
    AllocationRequest, ApplicationRequest, NodeInfo, NodeRequest, PreemptionPolicy, Quantity,
    RemoveApplicationRequest, Resource, UserGroupInformation,
};
use headroom_core::books::Books;
use headroom_core::{Command, Timestamp, decide};
use headroom_engine::users::{Resolver, UserCache};
use headroom_server::convert::si::{self, Refusal};
use proptest::prelude::*;

const KEYS: [&str; 12] = [
    "foreign",
    "creationTime",
    "yunikorn.apache.org/requiredNode",
    "headroom/blocked-nodes",
    "headroom/node-label",
    "si/node-partition",
    "si.io/hostname",
    "si/hostname",
    "application.create.force",
    "namespace.resourcequota",
    "yunikorn.apache.org/creationTime",
    "x",
];

/// Texts that mean something now and then, and others.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["", "a", "b", "n1", "default", "[rm]default", "root.a", "tg"])
            .prop_map(String::from),
        1 => prop::sample::select(vec!["static", "true", "Hard", "1700000000", "[", "[]", "*", "root"])
            .prop_map(String::from),
        1 => any::<String>(),
        1 => (0_usize..10_000).prop_map(|length| "x".repeat(length)),
    ]
}

fn map() -> impl Strategy<Value = BTreeMap<String, String>> {
    let key = prop_oneof![
        4 => prop::sample::select(KEYS.to_vec()).prop_map(String::from),
        1 => any::<String>(),
    ];
    prop::collection::btree_map(key, text(), 0..4)
}

fn resource() -> impl Strategy<Value = Option<Resource>> {
    let value = prop_oneof![
        4 => 1_i64..10_000,
        1 => any::<i64>(),
        1 => prop::sample::select(vec![0, -1, i64::MIN, i64::MAX]),
    ];
    let quantity = value.prop_map(|value| Quantity { value });
    let name = prop_oneof![4 => Just("vcore".to_owned()), 1 => text()];
    prop::option::weighted(0.9, prop::collection::btree_map(name, quantity, 0..3))
        .prop_map(|resources| resources.map(|resources| Resource { resources }))
}

fn number() -> impl Strategy<Value = i32> {
    prop_oneof![4 => 0_i32..8, 1 => any::<i32>()]
}

prop_compose! {
    fn node_info()(
        node_id in text(),
        action in number(),
        attributes in map(),
        schedulable_resource in resource(),
    ) -> NodeInfo {
        NodeInfo { node_id, action, attributes, schedulable_resource }
    }
}

prop_compose! {
    fn application()(
        (application_id, queue_name, partition_name) in (text(), text(), text()),
        ugi in prop::option::of((text(), prop::collection::vec(text(), 0..3))),
        tags in map(),
        timeout in any::<i64>(),
        placeholder_ask in resource(),
        gang_scheduling_style in text(),
    ) -> AddApplicationRequest {
        AddApplicationRequest {
            application_id,
            queue_name,
            partition_name,
            ugi: ugi.map(|(user, groups)| UserGroupInformation { user, groups }),
            tags,
            execution_timeout_milli_seconds: timeout,
            placeholder_ask,
            gang_scheduling_style,
        }
    }
}

prop_compose! {
    fn allocation()(
        (allocation_key, node_id, application_id) in (text(), text(), text()),
        (partition_name, task_group_name) in (text(), text()),
        allocation_tags in map(),
        resource_per_alloc in resource(),
        priority in any::<i32>(),
        (placeholder, originator, policy, own, other) in any::<(bool, bool, bool, bool, bool)>(),
    ) -> Allocation {
        let preemption_policy = policy
            .then_some(PreemptionPolicy { allow_preempt_self: own, allow_preempt_other: other });
        Allocation {
            allocation_key,
            allocation_tags,
            resource_per_alloc,
            priority,
            node_id,
            application_id,
            partition_name,
            task_group_name,
            placeholder,
            originator,
            preemption_policy,
        }
    }
}

prop_compose! {
    fn release()(
        (partition_name, application_id, allocation_key, message) in
            (text(), text(), text(), text()),
        termination_type in number(),
    ) -> AllocationRelease {
        AllocationRelease {
            partition_name,
            application_id,
            termination_type,
            message,
            allocation_key,
        }
    }
}

#[derive(Clone, Debug)]
enum Message {
    Nodes(NodeRequest),
    Applications(ApplicationRequest),
    Allocations(AllocationRequest),
}

fn message() -> impl Strategy<Value = Message> {
    let list = 0..4_usize;
    let removed = (text(), text()).prop_map(|(application_id, partition_name)| {
        RemoveApplicationRequest { application_id, partition_name }
    });
    let nodes = (prop::collection::vec(node_info(), list.clone()), text());
    let applications = (
        prop::collection::vec(application(), list.clone()),
        prop::collection::vec(removed, list.clone()),
        text(),
    );
    let releases = prop::option::of(prop::collection::vec(release(), list.clone()));
    let allocations = (prop::collection::vec(allocation(), list), releases, text());
    prop_oneof![
        nodes.prop_map(|(nodes, rm_id)| Message::Nodes(NodeRequest { nodes, rm_id })),
        applications.prop_map(|(new, remove, rm_id)| {
            Message::Applications(ApplicationRequest { new, remove, rm_id })
        }),
        allocations.prop_map(|(allocations, releases, rm_id)| {
            let releases = releases
                .map(|allocations_to_release| AllocationReleasesRequest { allocations_to_release });
            Message::Allocations(AllocationRequest { releases, rm_id, allocations })
        }),
    ]
}

fn steps(users: &UserCache, now: Timestamp, message: Message) -> Vec<si::Step> {
    match message {
        Message::Nodes(request) => si::nodes(request),
        Message::Applications(request) => {
            let si::Applications { new, remove } = si::applications(request);
            let charged = new.into_iter().map(|one| {
                let user = users.convert(&one.submitted, now);
                one.charged_to(user)
            });
            charged.chain(remove).collect()
        }
        Message::Allocations(request) => {
            let _ = si::constraints(&request, &BTreeMap::new());
            si::allocations(request)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Item 4: no content of a message is a panic, the books stay sound, and what is refused is
    /// refused in words.
    #[test]
    fn any_message_is_carried_out_or_refused(messages in prop::collection::vec(message(), 1..12)) {
        let now = Timestamp::from_millis(1_700_000_000_000);
        let users = Resolver::default().cache(now);
        let mut books = Books::default();
        let configuration = headroom_config::read(crate::support::QUEUES).unwrap().configuration;
        for event in decide(&books, now, &Command::Configure(Box::new(configuration))).unwrap() {
            books.apply(now, &event);
        }
        for message in messages {
            for si::Step { command, if_refused } in steps(&users, now, message) {
                match decide(&books, now, &command) {
                    Ok(events) => events.iter().for_each(|event| books.apply(now, event)),
                    Err(rejection) => {
                        prop_assert!(!rejection.to_string().is_empty());
                        let silent = if_refused == Refusal::Silent;
                        let tells = matches!(
                            command,
                            Command::AddNode(_)
                                | Command::Submit(_)
                                | Command::RejectApplication(_)
                                | Command::Ask(_)
                                | Command::SetForeign(_)
                        );
                        prop_assert_eq!(silent, !tells, "{:?}", command);
                    }
                }
            }
        }
        prop_assert!(books.check().is_ok());
    }
}
