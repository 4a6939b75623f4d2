//! The answer in one line, made from the figures.

use alloc::format;
use alloc::string::{String, ToString};

use crate::books::Books;
use crate::resource::{Quantity, figures};
use crate::time::Told;
use crate::wait::{Blocker, of_absence, of_no_nodes, questions};

use super::{Amount, Check, Explanation, NodeReason, Nodes, Verdict};

/// How long the line is at most, in characters.
pub const LINE_MAX: usize = 100;

impl Explanation {
    /// The answer in at most [`LINE_MAX`] characters: what becomes of it, what holds it back, and both sides
    /// of the comparison.
    pub fn line(&self, books: &Books) -> String {
        let first = self.blocked_by().next();
        let Some(check) = first else {
            return match self.verdict {
                Verdict::Allocated => {
                    let node = books.allocation(self.ask).node.map(|node| books.node(node));
                    let name = node.map_or("", |node| node.name.as_str());
                    cut(&format!("allocated on node {name}"))
                }
                _ => "startsNext: nothing holds it back".into(),
            };
        };
        let (word, code) = (self.verdict.word(), check.blocker.code(books));
        let said = check.said(books);
        let scope = self.scope(books, check.blocker);
        let whole = format!("{word}: {code} {scope}{said}");
        if whole.chars().count() <= LINE_MAX {
            return whole;
        }
        // Figures go before names.
        let rest = format!("{word}: {code}{said}");
        let room = LINE_MAX.saturating_sub(rest.chars().count() + 1);
        cut(&format!("{word}: {code} {}{said}", cut_to(&scope, room)))
    }

    fn scope(&self, books: &Books, blocker: Blocker) -> String {
        let only = books.allocation(self.ask).required_node();
        match (blocker, only) {
            (Blocker::QueueMax(queue), _) if books.queue(queue).parent.is_none() => {
                "cluster".into()
            }
            (Blocker::NodeAbsent(_), Some(name)) => format!("node {name}"),
            _ => blocker.subject(books),
        }
    }
}

impl Check {
    /// Both sides, of the type of which most is missing.
    fn said(&self, books: &Books) -> String {
        // Of a node that is kept for it that node is told.
        let of_one = matches!(self.blocker, Blocker::KeptNode(_) | Blocker::Preempting(_));
        if let Some(nodes) = self.nodes.as_ref().filter(|_| !of_one) {
            return said_of_nodes(books, (nodes, self.blocker), &self.amounts);
        }
        let most = self.amounts.iter().max_by_key(|one| one.short());
        let Some(one) = most else { return said_without_amounts(books, self.blocker) };
        let Amount { limit, used, asked, resource } = *one;
        let Some(resource) = resource else {
            return format!(": {used} of {limit} applications");
        };
        let name = books.types().name(resource).as_str();
        if let Blocker::BehindHead(..) = self.blocker {
            let [limit, asked] = figures(name, [limit.max(Quantity::ZERO), asked]);
            return format!(": {limit} {name} left beside the head, needs {asked}");
        }
        let [used, limit, asked] = figures(name, [used, limit, asked]);
        format!(": {used} of {limit} {name} used, needs {asked}")
    }
}

/// About the nodes of a partition.
fn said_of_nodes(books: &Books, (nodes, blocker): (&Nodes, Blocker), amounts: &[Amount]) -> String {
    let looked_at = nodes.looked_at;
    if let Some(amount) = amounts.first()
        && let Some(resource) = amount.resource
    {
        let name = books.types().name(resource).as_str();
        let [limit, asked] = figures(name, [amount.limit.max(Quantity::ZERO), amount.asked]);
        return format!(" ({looked_at}): most free {limit} {name}, needs {asked}");
    }
    // What the check is about before what most nodes have.
    let own = match blocker {
        Blocker::NodesReserved(_) => Some(NodeReason::Reserved),
        Blocker::NodeBlocked(_) => Some(NodeReason::Blocked),
        Blocker::NoSuchLabel(_) => Some(NodeReason::Label),
        Blocker::NodeConstraint(_) => Some(NodeReason::Refused),
        _ => None,
    };
    let own = own.filter(|reason| nodes.refused.contains_key(reason));
    let most = || nodes.refused.iter().max_by_key(|(_, count)| **count).map(|(reason, _)| *reason);
    let fit = format!(": {} of {looked_at} fit", nodes.fitting);
    own.or_else(most).map_or(fit.clone(), |reason| {
        format!("{fit}, {} {}", nodes.refused[&reason], reason.said())
    })
}

/// Of what has no amount, how many or until when.
fn said_without_amounts(books: &Books, blocker: Blocker) -> String {
    match blocker {
        Blocker::AwaitingRm(ask) => books.question_of(ask).map_or_else(String::new, |question| {
            let count = question.nodes().count();
            let nodes = if count == 1 { "node" } else { "nodes" };
            format!(": asked about {count} {nodes} at {}", Told(question.since))
        }),
        Blocker::RmAway(partition) => of_absence(books, partition),
        Blocker::NoNodes(partition) => format!(": {}", of_no_nodes(books, partition)),
        Blocker::RmBusy(partition) => {
            let row = books.partition(partition);
            let recovery = row.recovery.as_ref().filter(|one| one.until.is_some());
            recovery.map_or_else(
                || format!(": {} to answer", questions(row.open_questions.count)),
                |one| format!(": {} of {} not there yet", one.missing().len(), row.nodes.len()),
            )
        }
        Blocker::BackOff(application) => {
            let until = books.application(application).backed_off;
            until.map_or_else(String::new, |until| format!(" until {}", Told(until)))
        }
        _ => String::new(),
    }
}

/// At most [`LINE_MAX`] characters of a text.
pub fn cut(text: &str) -> String {
    cut_to(text, LINE_MAX)
}

/// At most so many characters, the last an ellipsis where more were there.
fn cut_to(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}
