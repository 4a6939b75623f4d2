//! Advice on group limits that a group wildcard of a descendant hides.
//!
//! An application is counted for one group. The search goes from its queue upward, and ends at the first limit that
//! names one of the user's groups, or at a wildcard. A wildcard therefore applies to every user whom its queue does not
//! name, regardless of the limits of its ancestors.

use std::collections::BTreeMap;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};

use super::super::survey::Survey;
use super::Book;

/// Maximum number of names in a message.
const NAMES_TOLD: usize = 3;

pub(super) fn advise(survey: &Survey<'_>, book: &Book<'_>, report: &mut Report) {
    // Queues in which each group is named, in the order of the survey.
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (position, page) in book.pages.iter().enumerate() {
        for name in page.groups.keys() {
            named.entry(name).or_default().push(position);
        }
    }
    for (position, page) in book.pages.iter().enumerate() {
        let Some((_, wildcard)) = page.groups.get("*") else {
            continue;
        };
        if report.is_full_of_warnings() {
            return;
        }
        let end = survey.get(position).end;
        // A group that is named here or in a descendant can be counted there.
        let is_hidden = |name: &str| {
            let places = named.get(name).map_or(&[][..], Vec::as_slice);
            let next = places.partition_point(|place| *place < position);
            name != "*" && places.get(next).is_none_or(|place| *place >= end)
        };
        let mut hidden = Vec::new();
        'search: for (at, above) in book.above(position) {
            for (name, (_, span)) in &above.groups {
                if is_hidden(name) && !hidden.iter().any(|(_, known, _)| known == name) {
                    hidden.push((at, *name, *span));
                    if hidden.len() > NAMES_TOLD {
                        break 'search;
                    }
                }
            }
        }
        let Some((at, _, _)) = hidden.first() else {
            continue;
        };
        let shown = hidden.iter().take(NAMES_TOLD);
        let names: Vec<String> = shown.clone().map(|(_, name, _)| format!("`{name}`")).collect();
        let more = if hidden.len() > NAMES_TOLD { " and others" } else { "" };
        let message = format!(
            "in queue `{}`, members of {}{more} count for the group `*`, so the limits in queue \
             `{}` and above do not apply to these groups",
            survey.name(position),
            names.join(", "),
            survey.name(*at),
        );
        let mut warning = Diagnostic::warning(Code::LimitHidden, *wildcard, message)
            .label("the first match from the leaf upward applies")
            .help(
                "to apply the limits of these groups, name the groups before `*` in this queue too",
            );
        for (_, _, span) in shown {
            warning = warning.also(*span, "hidden");
        }
        report.push(warning);
    }
}
