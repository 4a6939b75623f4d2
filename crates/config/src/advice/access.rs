//! Advice on access lists: ignored names, and queues that no user can submit to.

use crate::check::names::{is_group_name, is_user_name};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::Text;

use super::survey::{Survey, parts_of};

pub(super) fn advise(survey: &Survey<'_>, report: &mut Report) {
    for (_, place) in survey.iter() {
        ignored_names("adminacl", &place.queue.admin_acl, report);
        ignored_names("submitacl", &place.queue.submit_acl, report);
    }
    closed_queues(survey, report);
}

fn ignored_names(key: &str, acl: &Text, report: &mut Report) {
    let Some((users, groups)) = parts_of(&acl.value) else {
        return;
    };
    if acl.value.trim() == "*" {
        return;
    }
    if users == "*" || groups == "*" {
        let (star, rest) = if users == "*" { ("user", groups) } else { ("group", users) };
        if !rest.is_empty() {
            let message = format!(
                "`{key}` admits every user, because the list contains the {star} `*`; `{rest}` has \
                 no effect"
            );
            let warning = Diagnostic::warning(Code::AclIgnored, acl.span, message)
                .help("remove `*` to admit only the listed names, or remove the listed names");
            report.push(warning);
        }
        return;
    }
    let user = "a user name begins with a letter or _ and continues with letters, digits and : # / \
                _ . @ -";
    ignored(key, acl, users, ("user", is_user_name, user), report);
    let group =
        "a group name begins with a letter or _ and continues with letters, digits and : _ . -";
    ignored(key, acl, groups, ("group", is_group_name, group), report);
}

fn ignored(
    key: &str,
    acl: &Text,
    names: &str,
    (noun, is_legal, legal): (&str, fn(&str) -> bool, &str),
    report: &mut Report,
) {
    for name in names.split(',').filter(|name| !name.is_empty() && !is_legal(name)) {
        let (message, help) = if name == "*" {
            let message = format!(
                "`{key}` does not admit every user: `*` has an effect only as the single entry"
            );
            (message, "write only '*', or remove `*`")
        } else {
            (
                format!(
                    "`{key}` contains `{name}`, which is not a valid {noun} name and admits nobody"
                ),
                legal,
            )
        };
        report.push(Diagnostic::warning(Code::AclIgnored, acl.span, message).help(help));
    }
}

/// Reports queues to which no user can submit: neither the queue, an ancestor, nor a descendant has an access list that
/// admits a user. The topmost such queue represents its descendants.
fn closed_queues(survey: &Survey<'_>, report: &mut Report) {
    let mut opened = vec![0_usize];
    for (_, place) in survey.iter() {
        let before = opened.last().copied().unwrap_or_default();
        opened.push(before + usize::from(!place.grants.nobody()));
    }
    let mut open_above: Vec<bool> = Vec::with_capacity(opened.len());
    let mut skip_to = 0;
    for (position, place) in survey.iter() {
        let above = place.above.is_some_and(|above| open_above[above]);
        let open = above || !place.grants.nobody();
        open_above.push(open);
        if open || position < skip_to || opened[place.end] > opened[position] {
            continue;
        }
        skip_to = place.end;
        let below = if place.queue.children.is_empty() { "" } else { " or below" };
        let message = format!(
            "no user can submit to queue `{}`{below}: neither the queue nor a queue above it has \
             an access list that admits a user",
            survey.name(position)
        );
        let warning = Diagnostic::warning(Code::AclNobody, place.queue.name.span, message).help(
            "set `submitacl: '*'` for every user, or `submitacl: ann,bob dev` for users and \
                   groups, in this queue or in a queue above it",
        );
        report.push(warning);
    }
}
