//! Advice on user wildcards in queues whose limits name every user who can submit.

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};

use super::super::survey::Survey;
use super::Book;

pub(super) fn advise(survey: &Survey<'_>, book: &Book<'_>, report: &mut Report) {
    // For each queue, whether users who are not named can submit on the path to it.
    let mut open: Vec<bool> = Vec::new();
    for (position, place) in survey.iter() {
        let above = place.above.is_some_and(|above| open[above]);
        let grants = &place.grants;
        let to_others = grants.everybody || grants.unknown || !grants.groups.is_empty();
        open.push(above || to_others);
        let page = &book.pages[position];
        let Some((_, wildcard)) = page.users.get("*") else {
            continue;
        };
        // Child queues can admit further users.
        if open[position] || !place.queue.children.is_empty() {
            continue;
        }
        let mut users = survey.path(position).flat_map(|(_, place)| &place.grants.users).peekable();
        if users.peek().is_some() && users.all(|user| page.users.contains_key(user)) {
            let message = format!(
                "the user `*` matches no user in queue `{}`, because other entries name every user \
                 who can submit",
                survey.name(position)
            );
            let warning = Diagnostic::warning(Code::LimitUnreached, *wildcard, message)
                .help("remove the entry `*`, or admit more users with `submitacl`");
            report.push(warning);
        }
    }
}
