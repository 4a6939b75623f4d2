//! What applications ask for, and what an RM answers.

use headroom_core::books::{NodeVerdict, Questions};
use headroom_core::{Ask, Command, Name, RefusalCode as Code, Termination, Verdicts};

use crate::cluster::{Cluster, ask, default, node, submit};
use crate::example::Example;

pub(crate) fn examples() -> Vec<Example> {
    let mut all = vec![
        unknown_application(),
        duplicate_key(),
        unknown_key(),
        lifetime_over(),
        ask_size(),
        no_task_group(),
        many_blocked_nodes(),
        above_maximum_allocation(),
    ];
    all.extend(answers());
    all
}

fn unknown_application() -> Example {
    let asked = "An RM asks, with the key `k1`, for something for application `app-7`, which was never submitted:";
    Cluster::usual().refuses(Code::UnknownApplication, asked, &Command::Ask(ask("app-7", "k1", 1)))
}

fn duplicate_key() -> Example {
    let mut cluster = Cluster::usual();
    cluster.take(&Command::Ask(ask("app-1", "k1", 1)));
    cluster.take(&Command::Submit(submit("app-2", "root.sales")));
    let asked = "Application `app-1` has asked with the key `k1`. Application `app-2` asks with the same key:";
    cluster.refuses(Code::DuplicateKey, asked, &Command::Ask(ask("app-2", "k1", 1)))
}

fn unknown_key() -> Example {
    let release = Command::Release {
        partition: default(),
        application: Name::new("app-1"),
        key: Some(Name::new("k1")),
        termination: Termination::StoppedByRm,
    };
    let asked =
        "Application `app-1` has nothing. An RM reports that `k1` of the application has ended:";
    Cluster::usual().refuses(Code::UnknownKey, asked, &release)
}

fn lifetime_over() -> Example {
    let mut cluster = Cluster::with("[{name: sales, maximumapplicationlifetime: 60}]");
    cluster.take(&Command::AddNode(node("n1", 8)));
    cluster.take(&Command::Submit(submit("app-1", "root.sales")));
    cluster.take(&Command::Ask(ask("app-1", "k1", 1)));
    cluster.0.settle();
    cluster.wait(60);
    let asked = "Queue `root.sales` sets `maximumapplicationlifetime: 60`. Application `app-1` runs for a minute, and asks with the key `k2`:";
    cluster.refuses(Code::LifetimeOver, asked, &Command::Ask(ask("app-1", "k2", 1)))
}

fn ask_size() -> Example {
    let asked = "Application `app-1` asks, with the key `k1`, for 0 m of `vcore`:";
    Cluster::usual().refuses(Code::AskSize, asked, &Command::Ask(ask("app-1", "k1", 0)))
}

fn no_task_group() -> Example {
    let ask = Ask { placeholder: true, ..ask("app-1", "k1", 1) };
    let asked =
        "An RM asks for a placeholder of application `app-1`, with the key `k1` and no task group:";
    Cluster::usual().refuses(Code::NoTaskGroup, asked, &Command::Ask(ask))
}

fn many_blocked_nodes() -> Example {
    let blocked_nodes = (0..=Ask::BLOCKED_NODES_MAX).map(|node| Name::from(format!("n{node}")));
    let ask = Ask { blocked_nodes: blocked_nodes.collect(), ..ask("app-1", "k1", 1) };
    let asked =
        "Application `app-1` asks, with the key `k1`, for any node but 1,001 that it names:";
    Cluster::usual().refuses(Code::ManyBlockedNodes, asked, &Command::Ask(ask))
}

fn above_maximum_allocation() -> Example {
    let queues = "[{name: sales, userlimits: {maximumallocation: {vcore: 4}}}]";
    let mut cluster = Cluster::with(queues);
    cluster.take(&Command::Submit(submit("app-1", "root.sales")));
    let asked = "Queue `root.sales` sets `userlimits: {maximumallocation: {vcore: 4}}`. Application `app-1` asks, with the key `k1`, for 6 cores:";
    let command = Command::Ask(ask("app-1", "k1", 6));
    cluster.refuses(Code::AboveMaximumAllocation, asked, &command)
}

/// A cluster where the RM is asked whether `k1` may run on `n1`, the only node with room.
fn asking() -> Cluster {
    let mut cluster = Cluster::usual();
    let questions = Some(Questions { victims: true, at_once: Questions::AT_ONCE });
    cluster.take(&Command::SetQuestions { partition: default(), questions });
    cluster.take(&Command::Ask(ask("app-1", "k1", 1)));
    cluster.0.settle();
    cluster.take(&Command::AddNode(node("n2", 8)));
    cluster
}

fn answers() -> Vec<Example> {
    let cluster = asking();
    let answer = |question: u64, node: &str, verdict: NodeVerdict| {
        let verdicts = vec![(Name::new(node), verdict)];
        Command::Verdicts(Verdicts {
            partition: default(),
            key: Name::new("k1"),
            question,
            verdicts,
        })
    };
    let before = "An RM was asked once, whether ask `k1` may run on node `n1`.";
    vec![
        cluster.refuses(
            Code::UnknownQuestion,
            &format!("{before} It answers question 2:"),
            &answer(2, "n1", NodeVerdict::Suits),
        ),
        cluster.refuses(
            Code::NodeNotAsked,
            &format!("{before} It answers question 1 for node `n2`:"),
            &answer(1, "n2", NodeVerdict::Suits),
        ),
        cluster.refuses(
            Code::VictimsNotAsked,
            &format!("{before} It answers that `k1` may, once 1 other is stopped there, though none would be stopped:"),
            &answer(1, "n1", NodeVerdict::SuitsWithout(1)),
        ),
    ]
}
