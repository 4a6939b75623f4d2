//! What an RM says of nodes, names and amounts.

use headroom_core::resource::Quantity;
use headroom_core::{AddNode, Ask, Command, Name, RefusalCode as Code, SetForeign};

use crate::cluster::{Cluster, amounts, ask, default, node, submit};
use crate::example::Example;

pub(crate) fn examples() -> Vec<Example> {
    vec![
        unknown_partition(),
        duplicate_node(),
        unknown_node(),
        node_size(),
        foreign_size(),
        sum_too_large(),
        empty_name(),
        long_name(),
        too_many_types(),
        type_of_label(),
    ]
}

fn unknown_partition() -> Example {
    let add = AddNode { partition: Name::new("gpu"), ..node("n1", 8) };
    let asked =
        "The queue file has partition `default` alone. An RM adds node `n1` to partition `gpu`:";
    Cluster::usual().refuses(Code::UnknownPartition, asked, &Command::AddNode(add))
}

fn duplicate_node() -> Example {
    let asked = "Node `n1` is there. An RM adds a node `n1`:";
    Cluster::usual().refuses(Code::DuplicateNode, asked, &Command::AddNode(node("n1", 8)))
}

fn unknown_node() -> Example {
    let (partition, node) = (default(), Name::new("n7"));
    let command = Command::SetSchedulable { partition, node, schedulable: false };
    let asked = "There is one node, `n1`. An RM drains node `n7`:";
    Cluster::usual().refuses(Code::UnknownNode, asked, &command)
}

fn node_size() -> Example {
    let asked = "An RM adds node `n2` with -1 cores:";
    Cluster::usual().refuses(Code::NodeSize, asked, &Command::AddNode(node("n2", -1)))
}

fn foreign_size() -> Example {
    let daemon = SetForeign {
        partition: default(),
        key: Name::new("daemon-1"),
        node: Name::new("n1"),
        resources: amounts([("vcore", -500)]),
        ..SetForeign::default()
    };
    let asked = "An RM reports that `daemon-1`, which Headroom did not place, takes -500 m of `vcore` on node `n1`:";
    Cluster::usual().refuses(Code::ForeignSize, asked, &Command::SetForeign(daemon))
}

fn sum_too_large() -> Example {
    let mut cluster = Cluster::usual();
    let huge = |name: &str| {
        let capacity = amounts([("memory", i64::MAX)]);
        Command::AddNode(AddNode { capacity, ..node(name, 1) })
    };
    cluster.take(&huge("n2"));
    let asked = "Node `n2` was added with 9223372036854775807 bytes of memory. An RM adds node `n3` with as much:";
    cluster.refuses(Code::SumTooLarge, asked, &huge("n3"))
}

fn empty_name() -> Example {
    let asked = "An RM submits an application whose id is empty:";
    Cluster::usual().refuses(Code::EmptyName, asked, &Command::Submit(submit("", "root.sales")))
}

fn long_name() -> Example {
    let asked = "An RM submits an application whose id has 5,000 letters:";
    let submit = submit(&"x".repeat(5_000), "root.sales");
    Cluster::usual().refuses(Code::LongName, asked, &Command::Submit(submit))
}

fn too_many_types() -> Example {
    let types = (1..=17).map(|number| (format!("type-{number}"), 1));
    let resources = types.map(|(name, one)| (Name::from(name), Quantity::of(one))).collect();
    let asked = "Application `app-1` asks, with the key `k1`, for one each of `type-1` to `type-17`, which no node and no queue names:";
    let ask = Ask { resources, ..ask("app-1", "k1", 1) };
    Cluster::usual().refuses(Code::TooManyTypes, asked, &Command::Ask(ask))
}

fn type_of_label() -> Example {
    let mut cluster = Cluster::of(
        "partitions: [{name: default, queues: [{name: root, submitacl: '*', nodelabels: {exclusive: [gpu]}, queues: [{name: sales}]}]}]",
    );
    cluster.take(&Command::Submit(submit("app-1", "root.sales")));
    let resources = amounts([("vcore@gpu", 1_000)]);
    let ask = Ask { resources, ..ask("app-1", "k1", 1) };
    let asked = "The root queue sets `nodelabels: {exclusive: [gpu]}`. Application `app-1` asks, with the key `k1`, for 1000 m of `vcore@gpu`:";
    cluster.refuses(Code::TypeOfLabel, asked, &Command::Ask(ask))
}
