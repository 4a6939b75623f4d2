//! Checks the limits of one queue: names, order, and amounts.

use std::collections::BTreeMap;

use headroom_core::config::property::read_span;
use headroom_core::resource::exact;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span, Stage};
use crate::raw::{Limit, Queue, Text};
use crate::reservations::Share;
use crate::vector::{Vector, excesses, report_quantities, show};

use super::names::{is_group_name, is_user_name};

/// Differences between users and groups.
struct Kind {
    noun: &'static str,
    is_legal: fn(&str) -> bool,
    illegal: Code,
    twice: Code,
    legal: &'static str,
}

const USERS: Kind = Kind {
    noun: "user",
    is_legal: is_user_name,
    illegal: Code::LimitUserName,
    twice: Code::LimitUserTwice,
    legal: "a user name begins with a letter or _ and continues with letters, digits and : # / _ . \
            @ -",
};

const GROUPS: Kind = Kind {
    noun: "group",
    is_legal: is_group_name,
    illegal: Code::LimitGroupName,
    twice: Code::LimitGroupTwice,
    legal: "a group name begins with a letter or _ and continues with letters, digits and : _ . -",
};

/// Names in the limits of one queue so far.
type Seen = BTreeMap<String, Span>;

/// Checks which limits apply to a user that a limit names.
pub(super) fn check_precedence(written: &Text, report: &mut Report) {
    if !matches!(written.value.as_str(), "" | "both" | "user") {
        let message =
            format!("`limitprecedence` is `{}`, but it must be `both` or `user`", written.value);
        let fault = Diagnostic::error(Code::LimitPrecedence, written.span, message)
            .help("write `both` (limits of the user and of their group apply) or `user` (a limit that names the user replaces limits of their group)");
        report.push(fault);
    }
}

/// Checks the duration after which capacity is held for an ask.
pub(super) fn check_starvation(after: Option<&Text>, report: &mut Report) {
    if let Some(span) = after.filter(|span| read_span(&span.value).is_none()) {
        let message = format!("`starvation.after` is `{}`, which is no duration", span.value);
        let fault = Diagnostic::error(Code::StarvationAfter, span.span, message)
            .help("write a duration, such as `5m` or `1h30m`, or `0s` to hold no capacity");
        report.push(fault);
    }
}

/// Checks the fraction of nodes that is reserved.
pub(super) fn check_reservations(share: Option<&Text>, report: &mut Report) {
    if let Some(text) = share.filter(|text| Share::read(&text.value).is_none()) {
        let message = format!(
            "`reservations.share` is `{}`, but it must be a fraction from 0 to 1, or `none`",
            text.value
        );
        let fault = Diagnostic::error(Code::ReservationShare, text.span, message)
            .help("write a fraction, such as `10%` or `0.1`, or `none` for no limit");
        report.push(fault);
    }
}

/// Checks how gangs are placed.
pub(super) fn check_gang_placement(written: &Text, report: &mut Report) {
    if !matches!(written.value.as_str(), "" | "members" | "whole") {
        let message = format!("`gangs.placement` cannot be `{}`", written.value);
        let fault = Diagnostic::error(Code::GangPlacement, written.span, message)
            .help("write `members` (placeholders one by one) or `whole` (all placeholders of a gang in one step)");
        report.push(fault);
    }
}

/// Checks all limits of a queue.
pub(super) fn check(queue: &Queue, is_root: bool, report: &mut Report) {
    let (mut users, mut groups) = (Seen::new(), Seen::new());
    let max = Vector::of(queue.resources.max.as_ref());
    for limit in &queue.limits.value {
        if limit.users().is_empty() && limit.groups().is_empty() {
            let message =
                format!("a limit of queue `{}` names no user and no group", queue.name.value);
            let fault = Diagnostic::error(Code::LimitForNobody, limit.span, message)
                .help("name at least one user or group; `*` matches all others");
            report.push(fault);
        }
        check_names(limit.users(), &USERS, &mut users, report);
        check_names(limit.groups(), &GROUPS, &mut groups, report);
        check_lone_wildcard(limit, &groups, report);
        let resources = check_amounts(queue, limit, report);
        if !is_root {
            check_resources(queue, &max, &resources, report);
        }
    }
}

fn check_names(names: &[Text], kind: &Kind, seen: &mut Seen, report: &mut Report) {
    for Text { value: name, span } in names {
        let noun = kind.noun;
        if name != "*" && !(kind.is_legal)(name) {
            let message = format!("`{name}` is not a valid {noun} name");
            report.push(Diagnostic::error(kind.illegal, *span, message).help(kind.legal));
        } else if let Some(first) = seen.get(name) {
            let message = format!("{noun} `{name}` occurs twice in the limits of this queue");
            let fault = Diagnostic::error(kind.twice, *span, message)
                .label("second entry")
                .also(*first, "first entry")
                .help("remove one of the two entries");
            report.push(fault);
        } else {
            if let Some(wildcard) = seen.get("*") {
                let message = format!("{noun} `{name}` comes after the {noun} wildcard `*`");
                let fault = Diagnostic::error(Code::LimitAfterWildcard, *span, message)
                    .also(*wildcard, "the wildcard")
                    .help("move the wildcard to the end");
                report.push(fault);
            }
            seen.insert(name.clone(), *span);
        }
    }
}

/// Checks that a named group precedes a group wildcard, because the wildcard means *all other groups*.
fn check_lone_wildcard(limit: &Limit, groups: &Seen, report: &mut Report) {
    if groups.len() != 1 {
        return;
    }
    if let Some(wildcard) = groups.get("*")
        && !limit.groups().is_empty()
    {
        let message = "the group wildcard is the only group in the limits of this queue";
        let fault = Diagnostic::error(Code::LimitOnlyWildcardGroup, *wildcard, message)
            .help("name a group before the wildcard, or limit the user `*` instead");
        report.push(fault);
    }
}

/// Checks the amounts of a limit. Returns its resources.
fn check_amounts(queue: &Queue, limit: &Limit, report: &mut Report) -> Vector {
    report_quantities(limit.max_resources.as_ref(), Stage::Validation, report);
    let resources = Vector::of(limit.max_resources.as_ref());
    let written = limit.max_resources.as_ref();
    let names_types = written.is_some_and(|pairs| !pairs.value.is_empty());
    if names_types && !resources.is_empty() && resources.is_zero() {
        let span = written.map_or(limit.span, |pairs| pairs.span);
        let message = "`maxresources` of the limit contains only zeros";
        let fault = Diagnostic::error(Code::LimitAllZero, span, message)
            .about(&limit.description.value)
            .help("set at least one type above 0; a type at 0 cannot be used");
        report.push(fault);
    }
    if !names_types && limit.max_applications.value == 0 {
        let message = "the limit sets neither `maxresources` nor `maxapplications`";
        let fault = Diagnostic::error(Code::LimitNothing, limit.span, message)
            .about(&limit.description.value)
            .help("set `maxresources` or `maxapplications`, or remove the limit");
        report.push(fault);
    }
    let (most, own) = (&queue.max_applications, &limit.max_applications);
    if most.value > 0 && own.value > most.value {
        let message = format!(
            "the limit allows {} applications, but queue `{}` allows only {}",
            own.value, queue.name.value, most.value
        );
        let fault = Diagnostic::error(Code::LimitApplicationsOverQueue, own.span, message)
            .also(most.span, "the queue's number")
            .help(format!("write {} or less", most.value));
        report.push(fault);
    }
    resources
}

/// Checks the resources of a limit against the queue's own maximum.
fn check_resources(queue: &Queue, max: &Vector, resources: &Vector, report: &mut Report) {
    for excess in excesses(|resource| max.get(resource), resources) {
        let most = show(excess.resource, excess.room.amount);
        let message = format!(
            "the limit allows {}, but queue `{}` allows only {most}",
            show(excess.resource, excess.wanted.amount),
            queue.name.value
        );
        let fault = Diagnostic::error(Code::LimitResourcesOverQueue, excess.wanted.span, message)
            .also(excess.room.span, "the queue's maximum")
            .help(format!("write {} or less", exact(excess.resource, excess.room.amount)));
        report.push(fault);
    }
}
