//! Checks that a child queue does not allow more running applications than its parent.

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::Queue;

/// Checks every pair of parent and child.
pub(super) fn check(parent: &Queue, report: &mut Report) {
    let most = &parent.max_applications;
    for child in &parent.children {
        let own = &child.max_applications;
        let name = &child.name.value;
        if most.value > 0 && own.value == 0 {
            let message = format!(
                "queue `{name}` has no `maxapplications`, but its parent `{}` has {}",
                parent.name.value, most.value
            );
            let fault = Diagnostic::error(Code::ApplicationsMissing, child.name.span, message)
                .also(most.span, "the limit")
                .help(format!(
                    "set `maxapplications` of `{name}` to a number from 1 to {}",
                    most.value
                ));
            report.push(fault);
        } else if most.value > 0 && own.value > most.value {
            let message = format!(
                "`maxapplications` of queue `{name}` is {}, but that of its parent `{}` is {}",
                own.value, parent.name.value, most.value
            );
            let fault = Diagnostic::error(Code::ApplicationsOverParent, own.span, message)
                .also(most.span, "the limit")
                .help(format!(
                    "write {} or less, or raise `maxapplications` of the parent",
                    most.value
                ));
            report.push(fault);
        }
        check(child, report);
    }
}
