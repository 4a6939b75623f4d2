//! Gangs never wait for each other: every small case. No-starvation NS-30.

#![allow(clippy::unwrap_used, reason = "a test says what failed by failing")]

use std::collections::BTreeMap;

use headroom_core::config::GangPlacement;
use headroom_core::id::AllocationId;
use headroom_core::resource::Amounts;
use headroom_core::testkit::{World, amounts, leaf, parent, partition};
use headroom_core::{AddNode, Ask, Command, Name, Submit, Termination};

/// How the placeholders of several gangs are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// Gang by gang; the scheduler looks when all have come.
    AtOnce,
    /// One placeholder of each gang in turn; the scheduler looks after each.
    InTurn,
    /// One placeholder of each gang in turn, the last gang first.
    InTurnBackwards,
}

const ARRIVALS: [Arrival; 3] = [Arrival::AtOnce, Arrival::InTurn, Arrival::InTurnBackwards];
const LEAVES: [&str; 2] = ["root.a", "root.b"];

/// One case: nodes of some cores, and gangs of members of some cores.
#[derive(Clone, Debug)]
struct Case {
    nodes: i64,
    node_size: i64,
    /// The members of each gang, and the size of each member.
    gangs: Vec<(i64, i64)>,
    arrival: Arrival,
    /// In how many leaves the gangs are.
    leaves: usize,
}

/// What became of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Played {
    /// Gangs that could run alone, and never completed.
    stuck: usize,
    /// Most gangs that held capacity at one time before they were complete.
    most_incomplete: usize,
}

struct Play {
    world: World,
    case: Case,
}

fn cores(count: i64) -> Amounts {
    amounts([("vcore", count * 1_000)])
}

fn gang(number: usize) -> Name {
    Name::from(format!("gang{number}"))
}

impl Play {
    fn of(case: &Case, placement: GangPlacement) -> Self {
        let mut configuration = partition(parent("root", vec![leaf("a"), leaf("b")]));
        configuration.partitions[0].gang_placement = placement;
        let mut play = Self { world: World::default(), case: case.clone() };
        play.command(&Command::Configure(Box::new(configuration)));
        for number in 0..case.nodes {
            play.command(&Command::AddNode(AddNode {
                partition: "default".into(),
                node: Name::from(format!("n{number}")),
                capacity: cores(case.node_size),
                schedulable: true,
                ..AddNode::default()
            }));
        }
        for (number, (members, size)) in case.gangs.iter().enumerate() {
            play.command(&Command::Submit(Submit {
                partition: "default".into(),
                application: gang(number),
                queue: LEAVES[number % case.leaves].into(),
                user: "ann".into(),
                placeholder_ask: cores(members * size),
                ..Submit::default()
            }));
        }
        play
    }

    fn command(&mut self, command: &Command) {
        self.world.command(command).unwrap();
    }

    fn ask(&mut self, number: usize, member: i64) {
        let (_, size) = self.case.gangs[number];
        self.command(&Command::Ask(Ask {
            partition: "default".into(),
            application: gang(number),
            key: Name::from(format!("g{number}-{member}")),
            resources: cores(size),
            placeholder: true,
            task_group: "members".into(),
            ..Ask::default()
        }));
    }

    fn arrive(&mut self) {
        let gangs = self.case.gangs.clone();
        let most = gangs.iter().map(|(members, _)| *members).max().unwrap_or(0);
        match self.case.arrival {
            Arrival::AtOnce => {
                for (number, (members, _)) in gangs.iter().enumerate() {
                    (0..*members).for_each(|member| self.ask(number, member));
                }
            }
            Arrival::InTurn | Arrival::InTurnBackwards => {
                let mut order: Vec<usize> = (0..gangs.len()).collect();
                if self.case.arrival == Arrival::InTurnBackwards {
                    order.reverse();
                }
                for member in 0..most {
                    for number in &order {
                        if member < gangs[*number].0 {
                            self.ask(*number, member);
                            self.world.settle();
                        }
                    }
                }
            }
        }
    }

    /// The placeholders of each gang that have a node.
    fn placed(&self) -> BTreeMap<Name, Vec<AllocationId>> {
        let books = &self.world.books;
        let mut placed: BTreeMap<Name, Vec<AllocationId>> = BTreeMap::new();
        for (id, row) in books.allocations().iter().filter(|(_, row)| row.node.is_some()) {
            let application = books.application(row.application).name.clone();
            placed.entry(application).or_default().push(id);
        }
        placed
    }

    /// Let complete gangs run and end until nothing moves.
    fn run(mut self) -> Played {
        self.arrive();
        let mut played = Played::default();
        let mut left: BTreeMap<Name, usize> = BTreeMap::new();
        for (number, (members, _)) in self.case.gangs.iter().enumerate() {
            left.insert(gang(number), usize::try_from(*members).unwrap());
        }
        loop {
            self.world.settle();
            let placed = self.placed();
            let incomplete = placed.iter().filter(|(name, all)| all.len() < left[*name]).count();
            played.most_incomplete = played.most_incomplete.max(incomplete);
            let complete = placed.into_iter().find(|(name, all)| all.len() == left[name]);
            let Some((name, _)) = complete else { break };
            let partition = Name::new("default");
            let application = name.clone();
            self.command(&Command::RemoveApplication { partition, application });
            self.confirm_stops();
            left.remove(&name);
        }
        let Case { nodes, node_size, gangs, .. } = &self.case;
        let could_run = |(members, size): &(i64, i64)| nodes * (node_size / size) >= *members;
        let stuck = gangs
            .iter()
            .enumerate()
            .filter(|(number, one)| could_run(one) && left.contains_key(&gang(*number)));
        played.stuck = stuck.count();
        played
    }

    /// The resource manager stops what it was asked to stop.
    fn confirm_stops(&mut self) {
        let books = &self.world.books;
        let asked: Vec<(Name, Name)> = books
            .allocations()
            .iter()
            .filter(|(_, row)| {
                row.node.is_some() && !books.application(row.application).state.is_active()
            })
            .map(|(_, row)| (books.application(row.application).name.clone(), row.key.clone()))
            .collect();
        for (application, key) in asked {
            self.command(&Command::Release {
                partition: "default".into(),
                application,
                key: Some(key),
                termination: Termination::StoppedByRm,
            });
        }
    }
}

/// All lists of so many gangs, each of one of these kinds.
fn lists(kinds: &[(i64, i64)], count: usize) -> Vec<Vec<(i64, i64)>> {
    (0..count).fold(vec![Vec::new()], |lists, _| {
        let longer = lists.iter().flat_map(|list| {
            kinds.iter().map(move |kind| list.iter().copied().chain([*kind]).collect())
        });
        longer.collect()
    })
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (nodes, node_size) in (1..=6).map(|nodes| (nodes, 1)).chain((1..=3).map(|nodes| (nodes, 2)))
    {
        // One member more than fits is impossible, and must not be in the way.
        let one_core = (1..=(nodes * node_size + 1).min(7)).map(|members| (members, 1));
        let two_cores = (1..=nodes).filter(|_| node_size == 2).map(|members| (members, 2));
        let kinds: Vec<(i64, i64)> = one_core.chain(two_cores).collect();
        for count in 2..=4 {
            for gangs in lists(&kinds, count) {
                for arrival in ARRIVALS {
                    for leaves in [1, 2] {
                        let gangs = gangs.clone();
                        cases.push(Case { nodes, node_size, gangs, arrival, leaves });
                    }
                }
            }
        }
    }
    cases
}

#[test]
#[doc(alias = "NS-30")]
fn gangs_placed_as_a_whole_never_wait_for_each_other() {
    // Every case takes most of a minute. No number of gangs, kinds, and arrivals has this step as a multiple.
    let step = if std::env::var_os("HEADROOM_GANGS").is_some() { 1 } else { 7 };
    let cases: Vec<Case> = cases().into_iter().step_by(step).collect();
    for case in &cases {
        let played = Play::of(case, GangPlacement::Whole).run();
        assert_eq!(played.stuck, 0, "{case:?}");
        assert!(played.most_incomplete <= 1, "{case:?}: {played:?}");
    }
    println!("{} cases", cases.len());
}

#[test]
fn gangs_placed_member_by_member_do() {
    let waits = |case: &Case| Play::of(case, GangPlacement::Members).run().stuck > 0;
    let cases = cases();
    let some = cases.iter().step_by(37).filter(|case| waits(case)).count();
    assert!(some > 0, "none of {} cases", cases.len());
}
