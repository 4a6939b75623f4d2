//! Advice on limits without effect, because another limit is always reached first.
//!
//! A limit is reported only if this is certain, and if the limit has no other purpose. A limit that names a user
//! exempts the user from the wildcard of its queue. A limit that names a group determines the group to which its
//! members are charged.

use headroom_core::resource::Quantity;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::raw::Text;
use crate::vector::{Measure, show};

use super::super::survey::Survey;
use super::{Book, Entry, Page};

/// Maximum number of types for which names are compared individually with the limits of ancestors. Many names times many types
/// would take too long.
const TYPES_MAX: usize = 16;

/// Maximum number of names in a message.
const NAMES_TOLD: usize = 3;

pub(super) fn advise(survey: &Survey<'_>, book: &Book<'_>, report: &mut Report) {
    for (position, page) in book.pages.iter().enumerate() {
        let queue = Queue { survey, book, position };
        for entry in &page.entries {
            if report.is_full_of_warnings() {
                return;
            }
            queue.look_at(entry, page, report);
        }
    }
}

struct Queue<'s, 'a> {
    survey: &'s Survey<'a>,
    book: &'s Book<'a>,
    position: usize,
}

/// The limit that is reached first.
#[derive(Clone, Copy)]
struct Tighter<'v> {
    /// Queue of the limit or maximum.
    at: usize,
    /// Whether this is a limit, and not the maximum of the queue.
    by_limit: bool,
    most: Most<'v>,
    place: Span,
}

#[derive(Clone, Copy)]
enum Most<'v> {
    Amount(&'v str, Quantity),
    Applications(u64),
}

impl Queue<'_, '_> {
    fn look_at(&self, entry: &Entry<'_>, page: &Page<'_>, report: &mut Report) {
        let mut tighter = None;
        // Types that the maxima on the path do not limit must be limited by ancestors.
        let mut open: Vec<(&str, Quantity)> = Vec::new();
        for (resource, own) in entry.resources.iter() {
            match self.maximum(resource) {
                Some((at, most)) if most.amount <= own.amount => {
                    tighter.get_or_insert(Tighter {
                        at,
                        by_limit: false,
                        most: Most::Amount(resource, most.amount),
                        place: most.span,
                    });
                }
                _ => open.push((resource, own.amount)),
            }
        }
        let own = entry.limit.max_applications.value;
        let mut applications = own;
        if own > 0
            && let Some((at, most)) = self.applications().filter(|(_, most)| *most <= own)
        {
            applications = 0;
            tighter.get_or_insert(Tighter {
                at,
                by_limit: false,
                most: Most::Applications(most),
                place: self.survey.get(at).queue.max_applications.span,
            });
        }
        if open.len() > TYPES_MAX {
            return;
        }
        let limit = entry.limit;
        let users = limit.users().iter().filter(|user| is_purposeless_user(user, page));
        let groups = limit.groups().iter().filter(|_| self.is_purposeless_group(page));
        let mut loose: Vec<&Text> = Vec::new();
        for (names, is_user) in [(users.collect::<Vec<_>>(), true), (groups.collect(), false)] {
            for name in names {
                let mut found = None;
                if self.is_held_above((&name.value, is_user), &open, applications, &mut found) {
                    loose.push(name);
                    tighter = tighter.or(found);
                }
            }
        }
        if let (Some(tighter), Some(first)) = (tighter, loose.first()) {
            let all = loose.len() == limit.users().len() + limit.groups().len();
            let span = if all { limit.span } else { first.span };
            self.tell(&loose, all, span, &tighter, report);
        }
    }

    fn tell(
        &self,
        names: &[&Text],
        all: bool,
        span: Span,
        tighter: &Tighter<'_>,
        report: &mut Report,
    ) {
        let mut whom: Vec<String> =
            names.iter().take(NAMES_TOLD).map(|name| format!("`{}`", name.value)).collect();
        if names.len() > NAMES_TOLD {
            whom.push(format!("{} more", names.len() - NAMES_TOLD));
        }
        let whom = if all { "anyone".to_owned() } else { whom.join(", ") };
        let queue = self.survey.name(self.position);
        let message =
            format!("the limit in queue `{queue}` has no effect for {whom}: {}", self.why(tighter));
        let warning = Diagnostic::warning(Code::LimitLoose, span, message)
            .also(tighter.place, "the limit that is reached first")
            .help("lower this limit, or remove the part without effect");
        report.push(warning);
    }

    /// Returns whether limits of ancestors restrict a user or group at least as much, for all these types and for
    /// applications. Stores an example in `found`.
    fn is_held_above<'v>(
        &self,
        (name, is_user): (&str, bool),
        open: &[(&'v str, Quantity)],
        applications: u64,
        found: &mut Option<Tighter<'v>>,
    ) -> bool {
        for (resource, own) in open {
            let held = self.book.above(self.position).find_map(|(at, page)| {
                let most = amount_of(page, name, is_user, resource)?;
                (most.amount <= *own).then_some((at, most))
            });
            let Some((at, most)) = held else {
                return false;
            };
            let (place, most) = (most.span, Most::Amount(resource, most.amount));
            found.get_or_insert(Tighter { at, by_limit: true, most, place });
        }
        if applications > 0 {
            let held = self.book.above(self.position).find_map(|(at, page)| {
                let (most, place) = number_of(page, name, is_user)?;
                (most > 0 && most <= applications).then_some((at, most, place))
            });
            let Some((at, most, place)) = held else {
                return false;
            };
            let most = Most::Applications(most);
            found.get_or_insert(Tighter { at, by_limit: true, most, place });
        }
        true
    }

    /// Returns the smallest maximum on the path, and its queue.
    fn maximum(&self, resource: &str) -> Option<(usize, Measure)> {
        let path = self.survey.path(self.position).filter(|(_, place)| place.above.is_some());
        let named = path.filter_map(|(at, place)| Some((at, place.max.get(resource)?)));
        named.min_by_key(|(_, most)| most.amount)
    }

    /// Returns the smallest number of applications on the path, and its queue.
    fn applications(&self) -> Option<(usize, u64)> {
        let path = self.survey.path(self.position);
        let numbers = path.map(|(at, place)| (at, place.queue.max_applications.value));
        numbers.filter(|(_, most)| *most > 0).min_by_key(|(_, most)| *most)
    }

    /// Returns whether the only group of a limit has no other effect, because no other group is named on the path.
    fn is_purposeless_group(&self, page: &Page<'_>) -> bool {
        let Some((only, _)) = page.groups.first_key_value() else {
            return false;
        };
        let same = |groups: &std::collections::BTreeMap<&str, (usize, Span)>| {
            groups.is_empty() || (groups.len() == 1 && groups.contains_key(only))
        };
        page.groups.len() == 1
            && self.book.above(self.position).all(|(_, above)| same(&above.groups))
    }

    fn why(&self, tighter: &Tighter<'_>) -> String {
        let queue = self.survey.name(tighter.at);
        let most = match tighter.most {
            Most::Amount(resource, amount) => show(resource, amount),
            Most::Applications(1) => "1 application".to_owned(),
            Most::Applications(most) => format!("{most} applications"),
        };
        if tighter.by_limit {
            format!("a limit of queue `{queue}` allows {most}")
        } else {
            format!("queue `{queue}` itself allows at most {most}")
        }
    }
}

/// Returns whether naming this user has no other effect.
fn is_purposeless_user(user: &Text, page: &Page<'_>) -> bool {
    user.value == "*" || !page.users.contains_key("*")
}

/// Returns the amount of a type that the limits of a queue allow for a name. For the user wildcard, this is the amount
/// for any user whom no descendant names.
fn amount_of(page: &Page<'_>, name: &str, is_user: bool, resource: &str) -> Option<Measure> {
    match (is_user, name) {
        (false, _) => page.group(name)?.resources.get(resource),
        (true, "*") => {
            let amount = *page.everybody.resources.get(resource)?;
            let span = page.user("*")?.resources.get(resource)?.span;
            Some(Measure { amount, span })
        }
        (true, _) => page.user(name).or_else(|| page.user("*"))?.resources.get(resource),
    }
}

/// Returns the number of applications that the limits of a queue allow for a name, and its place. 0 means no limit.
fn number_of(page: &Page<'_>, name: &str, is_user: bool) -> Option<(u64, Span)> {
    let entry = match (is_user, name) {
        (false, _) => page.group(name)?,
        (true, "*") => {
            return Some((
                page.everybody.applications,
                page.user("*")?.limit.max_applications.span,
            ));
        }
        (true, _) => page.user(name).or_else(|| page.user("*"))?,
    };
    let number = &entry.limit.max_applications;
    Some((number.value, number.span))
}
