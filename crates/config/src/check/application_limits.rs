//! Checks each block `applicationlimits` by itself.

use headroom_core::userlimit::Decimal;

use crate::application_limits::{count, part};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::{ApplicationLimits, Queue, Text};
use crate::user_limits::decimal;

use super::Tree;
use super::names::is_user_name;

/// Checks the block of a partition. [`check_queue`] checks the blocks of queues and templates.
pub(super) fn check(tree: &Tree, report: &mut Report) {
    check_block(tree.partition.application_limits.as_deref(), report);
}

/// Checks the blocks of a queue. A template is checked wherever it is written.
pub(super) fn check_queue(queue: &Queue, is_root: bool, report: &mut Report) {
    check_block(queue.application_limits.as_deref(), report);
    let template = queue.template.as_deref();
    let template = template.and_then(|template| template.application_limits.as_deref());
    check_block(template, report);
    let own = queue.application_limits.as_deref().filter(|_| !is_root);
    for text in own.into_iter().chain(template).filter_map(|block| block.max_per_queue.as_ref()) {
        let message =
            "`globalqueuemaxapplication` has an effect only in the partition, for all leaves";
        let warning = Diagnostic::warning(Code::NoEffect, text.span, message);
        report
            .push(warning.help(
                "move the key to the partition, or set `maximumapplications` for this queue",
            ));
    }
}

fn check_block(block: Option<&ApplicationLimits>, report: &mut Report) {
    let Some(block) = block else { return };
    if block.says_nothing() {
        let message = "`applicationlimits` is empty and has no effect";
        let warning = Diagnostic::warning(Code::NoEffect, block.span, message);
        report.push(warning.help("set a limit in `applicationlimits`, or remove the block"));
    }
    for (key, written) in block.counts() {
        if let Some(text) = written.filter(|text| count(text).is_none()) {
            let instead = "remove the key to have no limit";
            report.push(no_count(&format!("`{key}`"), text, instead));
        }
    }
    for (user, text) in &block.max_parallel_by_user {
        check_user(user, report);
        if count(text).is_none() {
            let what = format!("the number of applications of user `{}`", user.value);
            let instead = "remove the user to apply `maxparallelappsperuser`";
            report.push(no_count(&what, text, instead));
        }
    }
    if let Some(text) = block.driver.as_ref().filter(|text| part(text).is_none()) {
        report.push(no_part(text));
    }
}

/// Returns the fault of an invalid number of applications. `instead` is the alternative.
fn no_count(what: &str, text: &Text, instead: &str) -> Diagnostic {
    let found = match text.value.as_str() {
        "" => "has no value".to_owned(),
        value => format!("is {value}"),
    };
    let message = format!("{what} {found}, but it must be a whole number from 1 to {}", u64::MAX);
    let help = if text.value == "0" {
        format!(
            "{instead}, or write 1 or more, because with 0 nothing can start; to restrict who can \
             submit, set `submitacl`"
        )
    } else {
        format!("write a number in this range, in digits only, or {instead}")
    };
    Diagnostic::error(Code::ApplicationCount, text.span, message).help(help)
}

fn no_part(text: &Text) -> Diagnostic {
    let message = format!(
        "`maximumdriverresourcepercent` is {}, but it must be a factor from 0 to 1, with up to six \
         decimals",
        text.value
    );
    let percent = decimal(&text.value).filter(|percent| *percent <= Decimal::HUNDRED);
    let help = match percent.and_then(hundredth) {
        Some(part) => format!("write {part} for {} percent", text.value),
        None => "write 0.1 for a tenth of the queue; 0 lets one driver start at a time".to_owned(),
    };
    Diagnostic::error(Code::ApplicationDriver, text.span, message).help(help)
}

/// Returns a percentage as a fraction. `None` if the percentage has too many decimals.
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
        "" => (
            "an entry of `maxparallelappsbyuser` names no user".to_owned(),
            "name a user, or remove the entry",
        ),
        "*" => (
            "`maxparallelappsbyuser` is for users by name, but `*` is not a user name".to_owned(),
            "set `maxparallelappsperuser` for every user who is not named",
        ),
        name => (
            format!("`{name}` is not a valid user name"),
            "a user name begins with a letter or _ and continues with letters, digits and : # / _ \
             . @ -",
        ),
    };
    report.push(Diagnostic::error(Code::ApplicationUserName, user.span, message).help(help));
}
