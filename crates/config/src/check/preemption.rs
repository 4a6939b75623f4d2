//! Checks words in `preemption` of a queue. No-starvation NS-43.

use headroom_core::config::WithinQueue;
use headroom_core::config::property::read_span;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::Queue;

/// Checks the block of one queue.
pub(super) fn check(queue: &Queue, report: &mut Report) {
    let block = &queue.preemption;
    if let Some(word) =
        block.within_queue.as_ref().filter(|word| WithinQueue::of_word(&word.value).is_none())
    {
        let message = format!("`preemption.withinqueue` cannot be `{}`", word.value);
        let fault = Diagnostic::error(Code::PreemptionWithin, word.span, message)
            .help("write `none`, or `priority` (asks can have allocations of a lower priority in their leaf stopped)");
        report.push(fault);
    }
    if let Some(span) = block.min_runtime.as_ref().filter(|span| read_span(&span.value).is_none()) {
        let message = format!("`preemption.minruntime` is `{}`, which is no duration", span.value);
        let fault = Diagnostic::error(Code::PreemptionRuntime, span.span, message)
            .help("write a duration, such as `30s`, `5m`, or `1h30m`, or `0`");
        report.push(fault);
    }
}
