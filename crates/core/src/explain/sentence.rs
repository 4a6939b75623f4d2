//! The answer in one line, made from the figures.

use alloc::format;
use alloc::string::{String, ToString};

use crate::books::Books;
use crate::resource::{Quantity, brief, unit_of};
use crate::wait::Blocker;

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
        let whole = format!("{word}: {code} {}{said}", scope(books, check.blocker));
        if whole.chars().count() <= LINE_MAX {
            return whole;
        }
        // Figures go before names.
        let rest = format!("{word}: {code}{said}");
        let room = LINE_MAX.saturating_sub(rest.chars().count() + 1);
        let scope = cut_to(&scope(books, check.blocker), room);
        cut(&format!("{word}: {code} {scope}{said}"))
    }
}

impl Check {
    /// Both sides, of the type of which most is missing.
    fn said(&self, books: &Books) -> String {
        if let Some(nodes) = &self.nodes {
            return said_of_nodes(books, nodes, &self.amounts);
        }
        let most = self.amounts.iter().max_by_key(|one| one.short());
        let Some(one) = most else { return String::new() };
        let Amount { limit, used, asked, resource } = *one;
        let Some(resource) = resource else {
            return format!(": {used} of {limit} applications");
        };
        let name = books.types().name(resource).as_str();
        if let Blocker::BehindHead(..) = self.blocker {
            let [limit, asked] = figures(name, [limit, asked]);
            return format!(": {limit} {name} left beside the head, needs {asked}");
        }
        let [used, limit, asked] = figures(name, [used, limit, asked]);
        format!(": {used} of {limit} {name} used, needs {asked}")
    }
}

/// Amounts of one type as people write them; to the unit where that would make different ones look the same.
fn figures<const N: usize>(name: &str, amounts: [Quantity; N]) -> [String; N] {
    let texts = amounts.map(|amount| brief(name, amount));
    let differ = |(one, other): (usize, usize)| amounts[one] != amounts[other];
    let mut pairs = (0..N).flat_map(|one| (0..one).map(move |other| (one, other)));
    if pairs.any(|pair| differ(pair) && texts[pair.0] == texts[pair.1]) {
        return amounts.map(|amount| format!("{amount}{}", unit_of(name)));
    }
    texts
}

/// About the nodes of a partition.
fn said_of_nodes(books: &Books, nodes: &Nodes, amounts: &[Amount]) -> String {
    let looked_at = nodes.looked_at;
    if let Some(amount) = amounts.first()
        && let Some(resource) = amount.resource
    {
        let name = books.types().name(resource).as_str();
        let [limit, asked] = figures(name, [amount.limit.max(Quantity::ZERO), amount.asked]);
        return format!(" ({looked_at}): most free {limit} {name}, needs {asked}");
    }
    let most = nodes.refused.iter().max_by_key(|(_, count)| **count);
    let (reason, count) = most.map_or((NodeReason::Room, 0), |(reason, count)| (*reason, *count));
    format!(": {} of {looked_at} fit, {count} refused for {}", nodes.fitting, reason.word())
}

fn scope(books: &Books, blocker: Blocker) -> String {
    match blocker {
        Blocker::QueueMax(queue) if books.queue(queue).parent.is_none() => "cluster".into(),
        _ => blocker.subject(books),
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
