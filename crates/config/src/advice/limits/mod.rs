//! Advice on limits that restrict no user, hide other limits, or apply to no user.

mod hidden;
mod loose;
mod unreached;

use std::collections::BTreeMap;

use headroom_core::resource::Quantity;

use crate::code::Code;
use crate::diagnostic::{Report, Span};
use crate::raw::{Limit, Text};
use crate::vector::Vector;

use super::survey::Survey;

pub(super) fn advise(survey: &Survey<'_>, report: &mut Report) {
    let book = Book::of(survey);
    // A limit that is refused as too large also has no effect, but only the refusal is reported.
    let too_large = [
        Code::LimitApplicationsOverQueue,
        Code::LimitResourcesOverQueue,
        Code::LimitResourcesOverAncestor,
        Code::LimitResourcesOverWildcard,
        Code::LimitApplicationsOverAncestor,
        Code::LimitApplicationsOverWildcard,
    ];
    if !report.has_any(&too_large) {
        loose::advise(survey, &book, report);
    }
    hidden::advise(survey, &book, report);
    unreached::advise(survey, &book, report);
}

/// The limits of all queues, by queue and name.
struct Book<'a> {
    /// Limits of each queue of the survey.
    pages: Vec<Page<'a>>,
    /// Nearest ancestor with limits, for each queue.
    above: Vec<Option<usize>>,
}

/// The limits of one queue.
#[derive(Default)]
struct Page<'a> {
    entries: Vec<Entry<'a>>,
    /// Entry for each name.
    users: BTreeMap<&'a str, (usize, Span)>,
    groups: BTreeMap<&'a str, (usize, Span)>,
    /// Amounts that no user can exceed here.
    everybody: Bounds,
}

/// One limit.
struct Entry<'a> {
    limit: &'a Limit,
    resources: Vector,
}

/// Amounts that apply to every user of a queue, named or not. A type is absent if some user can use this type without
/// limit.
#[derive(Default)]
struct Bounds {
    resources: BTreeMap<String, Quantity>,
    /// Number of applications. 0 means no limit.
    applications: u64,
}

impl<'a> Book<'a> {
    fn of(survey: &Survey<'a>) -> Self {
        let mut pages: Vec<Page<'a>> = Vec::new();
        let mut above: Vec<Option<usize>> = Vec::new();
        for (_, place) in survey.iter() {
            let nearest = place.above.and_then(|parent: usize| {
                if pages[parent].entries.is_empty() { above[parent] } else { Some(parent) }
            });
            above.push(nearest);
            pages.push(Page::of(&place.queue.limits.value));
        }
        Self { pages, above }
    }

    /// Returns the limits of the ancestors, from the nearest up to root.
    fn above(&self, position: usize) -> impl Iterator<Item = (usize, &Page<'a>)> {
        let positions = std::iter::successors(self.above[position], |at| self.above[*at]);
        positions.map(|at| (at, &self.pages[at]))
    }
}

impl<'a> Page<'a> {
    fn of(limits: &'a [Limit]) -> Self {
        let mut page = Self::default();
        for limit in limits {
            let position = page.entries.len();
            let resources = Vector::of(limit.max_resources.as_ref());
            page.entries.push(Entry { limit, resources });
            for (names, index) in
                [(limit.users(), &mut page.users), (limit.groups(), &mut page.groups)]
            {
                for Text { value, span } in names {
                    index.entry(value).or_insert((position, *span));
                }
            }
        }
        if page.users.contains_key("*") {
            page.everybody = Bounds::of(&page.entries);
        }
        page
    }

    fn user(&self, name: &str) -> Option<&Entry<'a>> {
        self.users.get(name).map(|(entry, _)| &self.entries[*entry])
    }

    fn group(&self, name: &str) -> Option<&Entry<'a>> {
        self.groups.get(name).map(|(entry, _)| &self.entries[*entry])
    }
}

impl Bounds {
    /// Returns the largest amounts of all entries that name users.
    fn of(entries: &[Entry<'_>]) -> Self {
        let mut entries = entries.iter().filter(|entry| !entry.limit.users().is_empty());
        let Some(first) = entries.next() else {
            return Self::default();
        };
        let mut bounds = Self {
            resources: first
                .resources
                .iter()
                .map(|(name, measure)| (name.to_owned(), measure.amount))
                .collect(),
            applications: first.limit.max_applications.value,
        };
        for entry in entries {
            bounds.resources.retain(|name, most| match entry.resources.get(name) {
                Some(theirs) => {
                    *most = theirs.amount.max(*most);
                    true
                }
                None => false,
            });
            bounds.applications = match (bounds.applications, entry.limit.max_applications.value) {
                (0, _) | (_, 0) => 0,
                (one, other) => one.max(other),
            };
        }
        bounds
    }
}
