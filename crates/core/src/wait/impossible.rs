//! Sentences about asks that can never start, regardless of releases. Source: no-starvation NS-02.

use alloc::format;
use alloc::string::String;

use crate::books::{Books, Node, NodeSelector};
use crate::id::{AllocationId, ApplicationId, NodeId, PartitionId, ShapeId};
use crate::possible;
use crate::resource::{Quantity, Resources, format_amounts};

use super::{About, Wait, figures_of};

/// Returns the sentence for a queue maximum.
pub(super) fn of_queue(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    of_bound(wait, books, ask, ("maximum", "Raise the maximum"))
}

/// Returns the sentence for the limit of a user or group.
pub(super) fn of_limit(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    of_bound(wait, books, ask, ("limit", "Raise the limit"))
}

/// Returns the sentence for the user cap of a leaf.
pub(super) fn of_cap(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    of_bound(wait, books, ask, ("user cap", "Raise `userlimitfactor`"))
}

fn of_bound(wait: &Wait, books: &Books, ask: AllocationId, (bound, cure): (&str, &str)) -> String {
    let started = started_by(books, ask);
    let subject = wait.blocker.subject_in_sentence(books);
    let Some(short) = wait.shortfall else {
        return format!(
            "no release can start the {started}: the {started} needs more than the {bound} of {subject}. \
             {cure}, or request less."
        );
    };
    let (name, [most, needed]) = figures_of(books, short, [short.available, short.needed]);
    format!(
        "no release can start the {started}: the {started} needs {needed} {name}, but the {bound} of {subject} \
         is {most}. {cure}, or request less."
    )
}

/// Returns the sentence for a required node that is too small.
pub(super) fn of_required_node(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let Some(node) = wait.blocker.about().node() else { return String::new() };
    let asked = books.types().amounts(books.node_request(ask));
    let has = books.types().amounts(&books.node(node).usable());
    let [has, needs] = format_amounts(&asked, [&has, &asked]);
    format!(
        "no release can start the ask: the ask requires node {}, which has a capacity of {has}, \
         but the ask needs {needs}. Enlarge the node, or request less.",
        books.node(node).name
    )
}

/// Returns the sentence for a required node that is not registered.
pub(super) fn of_missing_node(_: &Wait, books: &Books, ask: AllocationId) -> String {
    let name = books.allocation(ask).required_node().map_or("", |name| name.as_str());
    format!(
        "no release can start the ask: the ask requires node {name}, which is not registered. \
         Register the node, or withdraw the ask."
    )
}

/// Nodes of a partition with the shape and the amounts of one ask.
struct Seen<'books> {
    books: &'books Books,
    partition: PartitionId,
    shape: ShapeId,
    asked: &'books Resources,
}

impl<'books> Seen<'books> {
    fn all_nodes(&self) -> impl Iterator<Item = (NodeId, &'books Node)> {
        let books = self.books;
        books.partition(self.partition).nodes.iter().map(|(_, id)| (*id, books.node(*id)))
    }

    fn nodes(&self) -> impl Iterator<Item = (NodeId, &'books Node)> {
        self.all_nodes().filter(|(_, node)| node.schedulable)
    }

    fn selector(&self) -> Option<&'books NodeSelector> {
        self.books.shapes().wish(self.shape)
    }

    fn has_label(&self, node: &Node) -> bool {
        self.selector().map_or_else(|| !node.is_closed(), |selector| selector.fits_label(node))
    }

    /// Returns a phrase with the label that the ask selects. Empty if it selects none.
    fn with_label(&self) -> String {
        let label = self.selector().and_then(|selector| selector.label.as_ref());
        label.map_or_else(String::new, |label| format!(" with the label {label}"))
    }
}

/// Returns the sentence for all nodes: their labels, the block list of the ask, their sizes, or their number.
pub(super) fn of_nodes(wait: &Wait, books: &Books, ask: AllocationId) -> String {
    let About::AnyNode(partition) = wait.blocker.about() else { return String::new() };
    let row = books.allocation(ask);
    let seen = Seen { books, partition, shape: row.shape, asked: books.node_request(ask) };
    let label = seen.with_label();
    let drained = |(id, node): (NodeId, &Node)| {
        !node.schedulable && node.could_ever_hold(seen.asked) && books.suits(row.shape, id)
    };
    if seen.all_nodes().any(drained)
        && possible::places_on_nodes(books, partition, row.shape, 1) == 0
    {
        return format!(
            "no release can start the ask: every node{label} that is large enough is draining. End \
             the draining of such a node, or add nodes."
        );
    }
    if !seen.nodes().any(|(_, node)| seen.has_label(node)) {
        return format!(
            "no release can start the ask: no node in use{label} is open to the ask. Add such a \
             node, or submit the ask with another label."
        );
    }
    let wanted = books.types().amounts(seen.asked);
    let [needs] = format_amounts(&wanted, [&wanted]);
    let large = |node: &Node| seen.has_label(node) && node.could_ever_hold(seen.asked);
    if !seen.nodes().any(|(_, node)| large(node)) {
        return too_large(&seen, &label, &needs);
    }
    let gang = books.gang_of(ask);
    let members = gang.map_or_else(|| books.members_of(row.application), |gang| gang.places.max(1));
    let places = possible::places_on_nodes(books, partition, row.shape, members);
    if places == 0 {
        return format!(
            "no release can start the ask: every node in use{label} that is large enough is on the \
             block list of the ask. Submit the ask with a shorter block list, or add nodes."
        );
    }
    if gang.is_some() && places == members {
        return beyond_all_nodes(books, partition, row.application);
    }
    if gang.is_some() {
        return format!(
            "no release can start the gang: its {members} placeholders need {needs} each, but the \
             nodes in use{label} can hold {places} of them. Add nodes, or request less."
        );
    }
    format!(
        "no release can start the task: its {members} members start together and need {needs} \
         each, but the nodes in use{label} can hold {places} of them. Add nodes, or request less."
    )
}

/// Returns the noun for what starts together with an ask: "gang", "task", or "ask".
fn started_by(books: &Books, ask: AllocationId) -> &'static str {
    match books.gang_of(ask) {
        Some(_) => "gang",
        None if books.members_of(books.allocation(ask).application) > 1 => "task",
        None => "ask",
    }
}

/// Returns the sentence for a gang with asks of different sizes that needs more than all nodes have.
fn beyond_all_nodes(books: &Books, partition: PartitionId, application: ApplicationId) -> String {
    let max = books.queue(books.partition(partition).root).max.as_ref();
    let whole = books.application(application).gang.as_ref().map(|gang| &gang.ask);
    let short = max.zip(whole).and_then(|(max, whole)| max.shortfall(whole));
    let Some(short) = short else { return String::new() };
    let (name, [needed, has]) = figures_of(books, short, [short.needed, short.available]);
    format!(
        "no release can start the gang: its placeholders need {needed} {name} in all, but the \
         nodes have {has}. Add nodes, or request less."
    )
}

/// Returns the sentence for nodes that are all too small.
fn too_large(seen: &Seen<'_>, label: &str, needs: &str) -> String {
    let mut most = Resources::new();
    for (_, node) in seen.nodes().filter(|(_, node)| seen.has_label(node)) {
        most.raise(&node.usable());
    }
    let Some(short) = most.shortfall(seen.asked) else {
        return format!(
            "no release can start the ask: the ask needs {needs}, but no node in use{label} has \
             all these amounts, although each amount is on some node. Add a larger node, or \
             request less."
        );
    };
    let (name, [needed, most]) = figures_of(seen.books, short, [short.needed, short.available]);
    if short.available == Quantity::ZERO {
        return format!(
            "no release can start the ask: the ask needs {needed} {name}, but no node in \
             use{label} has {name}. Add a node with {name}, or request less."
        );
    }
    format!(
        "no release can start the ask: the ask needs {needed} {name}, but no node in use{label} \
         has more than {most}. Add a larger node, or request less."
    )
}
