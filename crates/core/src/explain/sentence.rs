//! One-line summary of an explanation.

use alloc::format;
use alloc::string::{String, ToString};

use crate::books::Books;
use crate::resource::{Quantity, format_quantities};
use crate::wait::{About, Blocker, Compared};

use super::{Amount, Check, Explanation, Nodes, Verdict};

/// Largest length of the line in characters.
pub const LINE_MAX: usize = 100;

impl Explanation {
    /// Returns the summary in at most [`LINE_MAX`] characters: the outcome, the blocker, and both sides of the
    /// comparison.
    pub fn line(&self, books: &Books) -> String {
        let first = self.blocked_by().next().map(|check| self.cause(check));
        let Some(check) = first else {
            return match self.verdict {
                Verdict::Allocated => {
                    let node = books.allocation(self.ask).node.map(|node| books.node(node));
                    let name = node.map_or("", |node| node.name.as_str());
                    cut(&format!("allocated on node {name}"))
                }
                Verdict::StartsNext
                | Verdict::Waiting
                | Verdict::Impossible
                | Verdict::HeldBack => "startsNext: no check fails".into(),
            };
        };
        let (word, code) = (self.verdict.word(), check.code.as_str());
        let detail = check.detail(books);
        let scope = self.scope(books, check.blocker);
        if check.blocker.row().is_permanent {
            return cut(&format!("{word}: {scope}{detail}")); // The word is its code.
        }
        let whole = format!("{word}: {code} {scope}{detail}");
        if whole.chars().count() <= LINE_MAX {
            return whole;
        }
        // If the line is too long, the scope is shortened and the figures stay complete.
        let rest = format!("{word}: {code}{detail}");
        let room = LINE_MAX.saturating_sub(rest.chars().count() + 1);
        cut(&format!("{word}: {code} {}{detail}", cut_to(&scope, room)))
    }

    /// Returns the check with the figures of an impossible ask, or the check itself.
    fn cause<'own>(&'own self, check: &'own Check) -> &'own Check {
        if !check.blocker.row().is_permanent {
            return check;
        }
        let is_cause = |one: &&Check| {
            one.blocker.about() == check.blocker.about() && !one.blocker.row().is_permanent
        };
        self.blocked_by().find(is_cause).unwrap_or(check)
    }

    fn scope(&self, books: &Books, blocker: Blocker) -> String {
        let only = books.allocation(self.ask).required_node();
        if let Compared::Queue(queue) = blocker.compared()
            && books.queue(queue).parent.is_none()
        {
            return "cluster".into();
        }
        if let (About::RequiredNode(_), Some(name)) = (blocker.about(), only) {
            return format!("node {name}");
        }
        blocker.subject(books)
    }
}

impl Check {
    /// Returns both sides of the type with the largest lack.
    fn detail(&self, books: &Books) -> String {
        // For a reserved node, show that node's own figures.
        let is_one = self.blocker.about().node().is_some();
        if let Some(nodes) = self.nodes.as_ref().filter(|_| !is_one) {
            return nodes_detail(books, (nodes, self.blocker), &self.amounts);
        }
        let most = self.amounts.iter().max_by_key(|one| one.short());
        let Some(one) = most else { return self.blocker.figure(books) };
        let Amount { limit, used, asked, resource } = *one;
        let Some(resource) = resource else {
            return format!(": {used} of {limit} applications");
        };
        let name = books.types().name(resource).as_str();
        if let Compared::LeftByHead(_) = self.blocker.compared() {
            let [limit, asked] = format_quantities(name, [limit.max(Quantity::ZERO), asked]);
            return format!(": {limit} {name} left by the head, needs {asked}");
        }
        let [used, limit, asked] = format_quantities(name, [used, limit, asked]);
        format!(": {used} of {limit} {name} used, needs {asked}")
    }
}

/// Returns the figures of the nodes of a partition.
fn nodes_detail(books: &Books, (nodes, blocker): (&Nodes, Blocker), amounts: &[Amount]) -> String {
    let looked_at = nodes.looked_at;
    if let Some(amount) = amounts.first()
        && let Some(resource) = amount.resource
    {
        let name = books.types().name(resource).as_str();
        let [limit, asked] =
            format_quantities(name, [amount.limit.max(Quantity::ZERO), amount.asked]);
        return format!(" ({looked_at}): most free {limit} {name}, needs {asked}");
    }
    // The reason of the check precedes the most frequent reason.
    let own = blocker.row().node_reason.filter(|reason| nodes.refused.contains_key(reason));
    let most = || nodes.refused.iter().max_by_key(|(_, count)| **count).map(|(reason, _)| *reason);
    let fit = format!(": {} of {looked_at} fit", nodes.fitting);
    own.or_else(most).map_or(fit.clone(), |reason| {
        format!("{fit}, {} {}", nodes.refused[&reason], reason.text())
    })
}

/// Returns at most [`LINE_MAX`] characters of a text.
pub fn cut(text: &str) -> String {
    cut_to(text, LINE_MAX)
}

/// Returns at most `most` characters of a text. The last one is an ellipsis if the text was longer.
fn cut_to(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}
