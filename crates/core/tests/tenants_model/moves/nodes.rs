//! Nodes that go and come back, with what runs there.

use headroom_core::testkit::amounts;
use headroom_core::{AddNode, ApplicationEvent, Ask, Command, Event, Name, Submit, Termination};

use super::{NODES, Player, asked_for};
use crate::model::{State, Stray};

impl Player {
    pub(super) fn add_node(&mut self, node: &str) {
        let add = AddNode {
            partition: self.pair.partition.clone(),
            node: Name::new(node),
            capacity: amounts([("vcore", 100_000), ("memory", 100_000), ("gpu", 100_000)]),
            schedulable: true,
            ..AddNode::default()
        };
        self.pair.send(&Command::AddNode(add)).expect("it is not there");
        self.pair.model.nodes.insert(node.to_owned());
    }

    /// A node is lost, and what ran there with it; one always stays.
    pub(super) fn lose_node(&mut self) {
        let nodes: Vec<String> = self.pair.model.nodes.iter().cloned().collect();
        let Some(node) = self.dice.of(&nodes).filter(|_| nodes.len() > 1) else { return };
        let partition = self.pair.partition.clone();
        let remove = Command::RemoveNode { partition, node: Name::new(&node) };
        self.pair.send(&remove).expect("it is there");
        self.pair.count("node lost");
        let model = &mut self.pair.model;
        model.nodes.remove(&node);
        model.strays.retain(|_, stray| stray.node != node);
        let lost = model.tasks.iter().filter(|(_, task)| task.nodes.contains(&node));
        let lost: Vec<(String, State)> =
            lost.map(|(name, task)| (name.clone(), task.state)).collect();
        for (name, state) in lost {
            let how = if state == State::Cancelling { State::Cancelled } else { State::Failed };
            model.end(&name, how);
        }
    }

    pub(super) fn node_back(&mut self) {
        let nodes = &self.pair.model.nodes;
        let Some(node) = NODES.into_iter().find(|node| !nodes.contains(*node)) else { return };
        self.add_node(node);
        self.pair.count("node back");
        for _ in 0..self.dice.below(3) {
            self.stray_on(node);
        }
    }

    pub(super) fn stray(&mut self) {
        let nodes: Vec<String> = self.pair.model.nodes.iter().cloned().collect();
        if let Some(node) = self.dice.of(&nodes).filter(|_| self.pair.model.strays.len() < 6) {
            self.stray_on(&node);
        }
    }

    /// A node has something of a tenant that runs already: it is charged, whatever the quota. Source: TR-53.
    fn stray_on(&mut self, node: &str) {
        let (tenant, size, name) = (self.tenant(), self.size(), self.name("s"));
        let partition = self.pair.partition.clone();
        let submit = Submit {
            partition: partition.clone(),
            application: Name::new(&name),
            tenant: Name::new(tenant),
            user: Name::new("somebody"),
            ..Submit::default()
        };
        let events = self.pair.send(&Command::Submit(submit)).expect("it is new");
        if events
            .iter()
            .any(|event| matches!(event, Event::Application(ApplicationEvent::Rejected { .. })))
        {
            return self.pair.count("rejected with a node");
        }
        let ask = Ask {
            partition,
            application: Name::new(&name),
            key: Name::new(&name),
            resources: asked_for(&size),
            node: Some(Name::new(node)),
            ..Ask::default()
        };
        self.pair.send(&Command::Ask(ask)).expect("it runs already");
        let stray = Stray { tenant, size, node: node.to_owned() };
        self.pair.model.strays.insert(name, stray);
        self.pair.count("came back with a node");
    }

    pub(super) fn stray_ends(&mut self) {
        let all: Vec<String> = self.pair.model.strays.keys().cloned().collect();
        let Some(name) = self.dice.of(&all) else { return };
        let release = Command::Release {
            partition: self.pair.partition.clone(),
            application: Name::new(&name),
            key: Some(Name::new(&name)),
            termination: Termination::StoppedByRm,
        };
        self.pair.send(&release).expect("it runs");
        self.pair.model.strays.remove(&name);
    }
}
