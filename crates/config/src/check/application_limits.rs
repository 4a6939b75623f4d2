//! `applicationlimits`: each block by itself.

use headroom_core::userlimit::Decimal;

use crate::application_limits::{count, part};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::{ApplicationLimits, Queue, Text};
use crate::user_limits::decimal;

use super::Tree;
use super::names::is_user_name;

/// Check the block of a partition; those of queues and templates are looked at with each queue.
pub(super) fn check(tree: &Tree, report: &mut Report) {
    check_block(tree.partition.application_limits.as_deref(), report);
}

/// Check the blocks of a queue. A template is looked at wherever it is written.
pub(super) fn check_queue(queue: &Queue, is_root: bool, report: &mut Report) {
    check_block(queue.application_limits.as_deref(), report);
    let template = queue.template.as_deref();
    let template = template.and_then(|template| template.application_limits.as_deref());
    check_block(template, report);
    let own = queue.application_limits.as_deref().filter(|_| !is_root);
    for text in own.into_iter().chain(template).filter_map(|block| block.max_per_queue.as_ref()) {
        let message = "`globalqueuemaxapplication` has no effect here: it is for all leaves";
        let warning = Diagnostic::warning(Code::NoEffect, text.span, message);
        report.push(
            warning.help("write it for the partition, or `maximumapplications` for this queue"),
        );
    }
}

fn check_block(block: Option<&ApplicationLimits>, report: &mut Report) {
    let Some(block) = block else { return };
    if block.says_nothing() {
        let message = "`applicationlimits` is empty and has no effect";
        let warning = Diagnostic::warning(Code::NoEffect, block.span, message);
        report.push(warning.help("write a limit into it, or remove it"));
    }
    for (key, written) in block.counts() {
        if let Some(text) = written.filter(|text| count(text).is_none()) {
            let instead = "leave it out for no such limit";
            report.push(no_count(&format!("`{key}`"), text, instead));
        }
    }
    for (user, text) in &block.max_parallel_by_user {
        check_user(user, report);
        if count(text).is_none() {
            let what = format!("the number of applications of user `{}`", user.value);
            let instead = "leave the user out to have the number of all others";
            report.push(no_count(&what, text, instead));
        }
    }
    if let Some(text) = block.driver.as_ref().filter(|text| part(text).is_none()) {
        report.push(no_part(text));
    }
}

/// Not a number of applications; what may be done instead of writing one.
fn no_count(what: &str, text: &Text, instead: &str) -> Diagnostic {
    let found = match text.value.as_str() {
        "" => "has no value".to_owned(),
        value => format!("is {value}"),
    };
    let message = format!("{what} {found}; it is a whole number from 1 to {}", u64::MAX);
    let help = if text.value == "0" {
        format!(
            "{instead}, or write 1 or more: with 0 nothing could ever start; to restrict submitters, set `submitacl`"
        )
    } else {
        format!("write digits only, within these bounds, or {instead}")
    };
    Diagnostic::error(Code::ApplicationCount, text.span, message).help(help)
}

fn no_part(text: &Text) -> Diagnostic {
    let message = format!(
        "`maximumdriverresourcepercent` is {}; it is a factor from 0 to 1, with up to six decimals",
        text.value
    );
    let percent = decimal(&text.value).filter(|percent| *percent <= Decimal::HUNDRED);
    let help = match percent.and_then(hundredth) {
        Some(part) => format!("write {part} for {} percent", text.value),
        None => "write 0.1 for a tenth of the queue; 0 lets one driver start at a time".to_owned(),
    };
    Diagnostic::error(Code::ApplicationDriver, text.span, message).help(help)
}

/// A percentage as a factor; none where that has more decimals than there may be.
fn hundredth(percent: Decimal) -> Option<Decimal> {
    let millionths = percent.millionths();
    let text = format!("0.{:06}", millionths / 100);
    match millionths {
        100_000_000 => Some(Decimal::ONE),
        _ if millionths % 100 == 0 => Decimal::parse(&text),
        _ => None,
    }
}

fn check_user(user: &Text, report: &mut Report) {
    if is_user_name(&user.value) {
        return;
    }
    let (message, help) = match user.value.as_str() {
        "" => ("a number of applications is for no user".to_owned(), "name a user, or remove it"),
        "*" => (
            "`maxparallelappsbyuser` is for users by name, and `*` is none".to_owned(),
            "write `maxparallelappsperuser` for every user who is not named",
        ),
        name => (
            format!("`{name}` is not a user name"),
            "a user begins with a letter or _ and continues with letters, digits and : # / _ . @ -",
        ),
    };
    report.push(Diagnostic::error(Code::ApplicationUserName, user.span, message).help(help));
}
