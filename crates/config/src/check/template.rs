//! The template of dynamic leaves.

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Stage};
use crate::raw::{ApplicationLimits, Pairs, Queue, Template};
use crate::vector::report_quantities;

/// Returns whether a template is empty. The queue then has no template.
pub(crate) fn is_absent(template: &Template) -> bool {
    let says_nothing = |pairs: &Option<Pairs>| {
        let mut entries = pairs.iter().flat_map(|pairs| &pairs.value);
        entries.all(|(key, value)| key.value.is_empty() || value.value.is_empty())
    };
    let mut properties = template.properties.iter();
    template.max_applications.value == 0
        && properties.all(|(key, value)| key.value.is_empty() || value.value.is_empty())
        && says_nothing(&template.resources.max)
        && says_nothing(&template.resources.guaranteed)
        && template.user_limits.is_none()
        && template.application_limits.as_deref().is_none_or(ApplicationLimits::says_nothing)
        && template.capacity.is_none()
}

/// Checks the quantities of a template. Only the template of a parent is used.
pub(super) fn check(queue: &Queue, report: &mut Report) {
    let Some(template) = &queue.template else {
        return;
    };
    if !queue.parent && queue.children.is_empty() {
        let message = format!(
            "`childtemplate` of queue `{}` has no effect, because the queue is a leaf",
            queue.name.value
        );
        let warning = Diagnostic::warning(Code::NoEffect, template.span, message)
            .help("set `parent: true` for the queue, or remove `childtemplate`");
        report.push(warning);
    } else if !is_absent(template) {
        let resources = &template.resources;
        report_quantities(resources.max.as_ref(), Stage::Building, report);
        report_quantities(resources.guaranteed.as_ref(), Stage::Building, report);
    }
}
