//! Checks for running queues below stopped queues, and for invalid lifetimes. User headroom §10 (C12, C27).

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::life::{SECONDS_MAX, seconds, start};
use crate::raw::{Queue, Text};

use headroom_core::config::QueueStart;

/// Checks all queues of a tree.
pub(super) fn check(root: &Queue, report: &mut Report) {
    below(root, None, report);
}

/// Checks a queue and its descendants. `stopped` is the `state` of the nearest stopped ancestor.
fn below(queue: &Queue, stopped: Option<&Text>, report: &mut Report) {
    let word = queue.start.as_ref();
    let state = word.and_then(start);
    if let Some(word) = word {
        check_word(word, state, stopped, report);
    }
    check_lifetimes(queue, report);
    let stopped = word.filter(|_| state == Some(QueueStart::Stopped)).or(stopped);
    for child in &queue.children {
        below(child, stopped, report);
    }
}

fn check_word(word: &Text, state: Option<QueueStart>, stopped: Option<&Text>, report: &mut Report) {
    match (state, stopped) {
        (None, _) => {
            let message = format!("`state` is `{}`, but it must be running or stopped", word.value);
            let help = match word.value.to_lowercase().as_str() {
                "running" | "stopped" => format!("write {}", word.value.to_lowercase()),
                _ => "write `running` or `stopped`, or remove `state` to run whenever all queues \
                      above run"
                    .to_owned(),
            };
            report.push(Diagnostic::error(Code::QueueStateWord, word.span, message).help(help));
        }
        (Some(QueueStart::Running), Some(above)) => {
            let message = "`state: running` is set below a stopped queue";
            let fault = Diagnostic::error(Code::QueueRunsBelowStopped, word.span, message)
                .also(above.span, "this setting stops all queues below")
                .help("set `state: running` in the queue above, or remove `state` from this queue");
            report.push(fault);
        }
        _ => {}
    }
}

fn check_lifetimes(queue: &Queue, report: &mut Report) {
    let maximum = queue.maximum_lifetime.as_ref();
    let default = queue.default_lifetime.as_ref();
    for (key, text) in
        [("maximumapplicationlifetime", maximum), ("defaultapplicationlifetime", default)]
    {
        if let Some(text) = text.filter(|text| seconds(text).is_none()) {
            let message = format!(
                "`{key}` is {}, but it must be a whole number of seconds from 0 to {SECONDS_MAX}",
                text.value
            );
            let help = if text.value.starts_with('-') {
                "remove the key to inherit the lifetime of the queue above, or write 0 for no \
                 lifetime"
            } else {
                "write seconds, in digits only, such as 86400 for a day"
            };
            report.push(Diagnostic::error(Code::LifetimeSeconds, text.span, message).help(help));
        }
    }
    let (Some(maximum), Some(default)) = (maximum, default) else { return };
    let (Some(most), Some(usual)) = (seconds(maximum), seconds(default)) else { return };
    if most > 0 && usual > most {
        let message = format!(
            "`defaultapplicationlifetime` is {usual} s, but `maximumapplicationlifetime` is {most} \
             s"
        );
        let fault = Diagnostic::error(Code::LifetimeOverMaximum, default.span, message)
            .also(maximum.span, "the maximum lifetime")
            .help("lower `defaultapplicationlifetime`, or raise `maximumapplicationlifetime`");
        report.push(fault);
    }
}
