//! Health checks of scheduling §19, with the names of YuniKorn.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::books::{Books, Partition};
use crate::id::{AllocationId, NodeId};
use crate::resource::{Quantity, Resources};

/// Errors since the start that are not in the books.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of refused updates of asks and allocations. Source: scheduling §4.1.
    pub errors: u64,
    /// Number of nodes that could not be registered.
    pub failed_nodes: u64,
}

/// One check and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Stable name, which programs can search for.
    pub name: &'static str,
    /// Description of the check.
    pub description: &'static str,
    /// Whether the check succeeded.
    pub succeeded: bool,
    /// Findings: the first one, and the number of others.
    pub detail: String,
}

/// Returns all checks. Costs every node, application, and allocation, so call it from the timer of the checks and not
/// for a request.
pub fn health(books: &Books, counters: Counters) -> Vec<Check> {
    vec![
        Check {
            name: "Scheduling errors",
            description: "Check for scheduling error entries in metrics",
            succeeded: counters.errors == 0,
            detail: format!("There were {} scheduling errors logged", counters.errors),
        },
        Check {
            name: "Failed nodes",
            description: "Check for failed nodes entries in metrics",
            succeeded: counters.failed_nodes == 0,
            detail: format!("There were {} failed nodes logged", counters.failed_nodes),
        },
        check(
            "Negative resources",
            "Check for negative resources in the partitions",
            negative_in_partitions(books),
        ),
        check(
            "Negative resources",
            "Check for negative resources in the nodes",
            negative_on_nodes(books),
        ),
        check(
            "Consistency of data",
            "Check if a partition's total resource is the sum of its nodes",
            books.partitions().values().filter_map(|one| unequal_total(books, one)),
        ),
        check(
            "Consistency of data",
            "Check if a node's total resource is its allocated, occupied and available resource",
            unequal_nodes(books),
        ),
        reservations(books),
        check(
            "Orphan allocation on node check",
            "Check if there are orphan allocations on the nodes",
            orphans_on_nodes(books),
        ),
        check(
            "Orphan allocation on app check",
            "Check if there are orphan allocations on the applications",
            orphans_of_applications(books),
        ),
    ]
}

/// Returns whether every check succeeded.
pub fn is_healthy(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.succeeded)
}

/// Returns a check that succeeds without findings.
fn check(
    name: &'static str,
    description: &'static str,
    found: impl Iterator<Item = String>,
) -> Check {
    let mut found = found.peekable();
    let succeeded = found.peek().is_none();
    let detail = match (found.next(), found.count()) {
        (None, _) => String::from("nothing found"),
        (Some(first), 0) => first,
        (Some(first), more) => format!("{first}; and {more} more"),
    };
    Check { name, description, succeeded, detail }
}

fn is_negative(resources: &Resources) -> bool {
    resources.iter().any(|(_, amount)| amount < Quantity::ZERO)
}

fn negative_in_partitions(books: &Books) -> impl Iterator<Item = String> {
    books.partitions().values().flat_map(|partition| {
        let root = books.queue(partition.root);
        let figures = [("allocated", Some(&root.allocated)), ("total", root.max.as_ref())];
        figures.into_iter().filter_map(|(what, amount)| {
            let amount = books.types().amounts(amount.filter(|one| is_negative(one))?);
            Some(format!("partition {}: {what} is {amount}", partition.name))
        })
    })
}

fn negative_on_nodes(books: &Books) -> impl Iterator<Item = String> {
    books.nodes().iter().flat_map(|(_, node)| {
        let figures = [
            ("allocated", &node.allocated),
            ("available", &node.available),
            ("total", &node.capacity),
            ("occupied", &node.occupied),
        ];
        figures.into_iter().filter(|(_, amount)| is_negative(amount)).map(|(what, amount)| {
            format!("node {}: {what} is {}", node.name, books.types().amounts(amount))
        })
    })
}

fn unequal_total(books: &Books, partition: &Partition) -> Option<String> {
    let mut sum = Resources::new();
    for (_, node) in partition.nodes.iter() {
        sum.add(&books.node(*node).capacity);
    }
    let total = books.queue(partition.root).max.clone().unwrap_or_default();
    let amounts = |one| books.types().amounts(one);
    let differs = sum.pruned() != total.pruned();
    differs.then(|| {
        format!(
            "partition {}: total is {}, its nodes have {}",
            partition.name,
            amounts(&total),
            amounts(&sum)
        )
    })
}

fn unequal_nodes(books: &Books) -> impl Iterator<Item = String> {
    books.nodes().iter().filter_map(|(_, node)| {
        let parts = node.allocated.plus(&node.occupied).plus(&node.available);
        let amounts = |one| books.types().amounts(one);
        (parts.pruned() != node.capacity.pruned()).then(|| {
            format!(
                "node {}: total is {}, its parts are {}",
                node.name,
                amounts(&node.capacity),
                amounts(&parts)
            )
        })
    })
}

/// Returns the check with the number of reservations. Every number is healthy.
fn reservations(books: &Books) -> Check {
    let reserved: u64 = books.partitions().values().map(|one| one.reservation_count).sum();
    Check {
        name: "Reservation check",
        description: "Check the reservation nr compared to the number of nodes",
        succeeded: true,
        detail: format!("{reserved} reservations, {} nodes", books.nodes().len()),
    }
}

/// Returns allocations on nodes that their applications do not have. A member that replaces a placeholder on another
/// node is on its node before it is an allocation, which is correct.
fn orphans_on_nodes(books: &Books) -> impl Iterator<Item = String> {
    let lists = books.applications().iter().flat_map(|(id, _)| books.allocations_of(id));
    let had = lists.filter(|(_, row)| row.is_allocated() || row.is_swapping());
    let mut had: Vec<AllocationId> = had.map(|(id, _)| id).collect();
    had.sort_unstable();
    on_nodes(books).filter_map(move |(on, id)| {
        let unknown = had.binary_search(&id).is_err();
        let (node, key) = (&books.node(on).name, &books.allocation(id).key);
        unknown.then(|| format!("node {node}: no application has allocation {key}"))
    })
}

/// Returns allocations of applications that are not on their nodes.
fn orphans_of_applications(books: &Books) -> impl Iterator<Item = String> {
    let mut listed: Vec<(NodeId, AllocationId)> = on_nodes(books).collect();
    listed.sort_unstable();
    books.allocations().iter().filter_map(move |(id, row)| {
        let node = row.node.filter(|_| row.is_allocated())?;
        let lost = listed.binary_search(&(node, id)).is_err();
        let name = &books.application(row.application).name;
        lost.then(|| format!("application {name}: allocation {} is not on its node", row.key))
    })
}

/// Returns the allocations on every node.
fn on_nodes(books: &Books) -> impl Iterator<Item = (NodeId, AllocationId)> {
    let nodes = books.nodes().iter();
    nodes.flat_map(|(node, _)| books.allocations_on(node).map(move |(id, _)| (node, id)))
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;

    use super::*;
    use crate::command::{AddNode, Ask, Command, SetForeign, Submit};
    use crate::name::Name;
    use crate::testkit::{World, amounts, leaf, parent, partition};

    /// Returns a world with one application, an allocation on one of two nodes, and a foreign allocation.
    fn world() -> World {
        let mut world = World::default();
        let here = || Name::new("default");
        let file = partition(parent("root", vec![leaf("a")]));
        let node = |name: &str| {
            Command::AddNode(AddNode {
                partition: here(),
                node: name.into(),
                capacity: amounts([("vcore", 10)]),
                schedulable: true,
                ..AddNode::default()
            })
        };
        let commands = [
            Command::Configure(Box::new(file)),
            node("n1"),
            node("n2"),
            Command::Submit(Submit {
                partition: here(),
                application: "app1".into(),
                queue: "root.a".into(),
                user: "ann".into(),
                ..Submit::default()
            }),
            Command::Ask(Ask {
                partition: here(),
                application: "app1".into(),
                key: "a1".into(),
                resources: amounts([("vcore", 3)]),
                node: Some("n1".into()),
                ..Ask::default()
            }),
            Command::SetForeign(SetForeign {
                partition: here(),
                key: "f1".into(),
                node: "n1".into(),
                resources: amounts([("vcore", 2)]),
                preemptable: false,
            }),
        ];
        for command in &commands {
            world.command(command).expect("the command is legal");
        }
        world
    }

    /// Returns the numbers of failing checks, starting at 1.
    fn failing(books: &Books, counters: Counters) -> Vec<usize> {
        let checks = health(books, counters);
        assert_eq!(checks.len(), 9);
        let failing = checks.iter().enumerate().filter(|(_, check)| !check.succeeded);
        failing.map(|(number, _)| number + 1).collect()
    }

    fn spoiled(spoil: impl FnOnce(&mut Books)) -> Vec<usize> {
        let mut books = world().books;
        spoil(&mut books);
        failing(&books, Counters::default())
    }

    #[test]
    fn each_check_fails_by_itself() {
        let world = world();
        assert_eq!(failing(&world.books, Counters::default()), [0; 0]);
        assert!(is_healthy(&health(&world.books, Counters::default())));
        let errors = Counters { errors: 1, ..Counters::default() };
        assert_eq!(failing(&world.books, errors), [1]);
        let failed = Counters { failed_nodes: 2, ..Counters::default() };
        assert_eq!(failing(&world.books, failed), [2]);
        assert!(!is_healthy(&health(&world.books, failed)));

        let vcore = world.books.types().find("vcore").expect("it was named");
        let amount = |amount| [(vcore, Quantity::of(amount))].into_iter().collect::<Resources>();
        let root = world.books.partitions().values().next().expect("there is one").root;
        let (node, _) = world.books.nodes().iter().next().expect("there are two");
        let (two, _) = world.books.nodes().iter().nth(1).expect("there are two");
        let (one, _) = world.books.allocations().iter().next().expect("there is one");
        let spoil = |spoil: &dyn Fn(&mut Books)| spoiled(|books| spoil(books));
        assert_eq!(spoil(&|books| books.rows_mut().queues[root].allocated = amount(-1)), [3]);
        assert_eq!(
            spoil(&|books| {
                let node = &mut books.rows_mut().nodes[node];
                (node.occupied, node.available) = (amount(9), amount(-2));
            }),
            [4]
        );
        assert_eq!(spoil(&|books| books.rows_mut().queues[root].max = Some(amount(21))), [5]);
        assert_eq!(spoil(&|books| books.rows_mut().nodes[node].available = amount(6)), [6]);
        assert_eq!(spoil(&|books| books.rows_mut().allocations[one].node = None), [8]);
        assert_eq!(spoil(&|books| books.rows_mut().allocations[one].node = Some(two)), [9]);
    }

    #[test]
    fn what_is_found_is_named() {
        let errors = Counters { errors: 7, ..Counters::default() };
        let checks = health(&world().books, errors);
        assert_eq!(checks[0].detail, "There were 7 scheduling errors logged");
        assert_eq!(checks[6].detail, "0 reservations, 2 nodes");
    }
}
