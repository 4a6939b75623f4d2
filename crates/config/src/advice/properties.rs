//! Advice on properties: unknown keys, deprecated values, and keys without an effect.

use headroom_core::config::property::{
    BACKOFF, BACKOFF_DELAY, PREEMPTION_DELAY, PREEMPTION_POLICY, PRIORITY_OFFSET, PRIORITY_POLICY,
    PROPERTIES, QUOTA_PREEMPTION_DELAY, SORT_POLICY,
};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::{Partition, Text};
use crate::spelling::nearest;

use super::survey::{Place, Survey};

/// Prefixes that only known keys have.
const FAMILIES: [&str; 4] = ["application.", "priority.", "preemption.", "quota.preemption."];

pub(super) fn advise(partition: &Partition, survey: &Survey<'_>, report: &mut Report) {
    let mut with_max = vec![0_usize];
    for (_, place) in survey.iter() {
        let before = with_max.last().copied().unwrap_or_default();
        with_max.push(before + usize::from(!place.max.is_empty()));
    }
    for (position, place) in survey.iter() {
        let template = place.queue.template.as_deref().map(|template| &template.properties);
        for (key, value) in place.queue.properties.iter().chain(template.into_iter().flatten()) {
            unknown_key(key, report);
            old_value(key, value, report);
        }
        let has_max_below = with_max[place.end] > with_max[position];
        for (key, value) in &place.queue.properties {
            let scene = PropertyContext { partition, place, is_root: position == 0, has_max_below };
            if let Some((why, help)) = scene.without_effect(&key.value, &value.value) {
                let name = survey.name(position);
                let message = format!("`{}` has no effect for queue `{name}`: {why}", key.value);
                report.push(Diagnostic::warning(Code::PropertyLevel, key.span, message).help(help));
            }
        }
    }
}

fn unknown_key(key: &Text, report: &mut Report) {
    let written = key.value.as_str();
    let keys = PROPERTIES.map(|property| property.key);
    if keys.contains(&written) {
        return;
    }
    // Some authors use the spelling of other programs.
    let dotted = written.to_lowercase().replace(['-', '_'], ".");
    let help = match nearest(&dotted, &keys) {
        Some(known) if known == written.to_lowercase() => {
            format!("write `{known}`; keys are lower case")
        }
        Some(known) => format!("did you mean `{known}`?"),
        None => {
            let Some(family) = FAMILIES.into_iter().find(|family| dotted.starts_with(family))
            else {
                return; // Stored for other readers, as in the reference.
            };
            let known: Vec<&str> = keys.into_iter().filter(|key| key.starts_with(family)).collect();
            format!("use one of the keys that begin with `{family}`: {}", known.join(", "))
        }
    };
    let message = format!("the property `{written}` does not exist and has no effect");
    report.push(Diagnostic::warning(Code::PropertyKey, key.span, message).help(help));
}

fn old_value(key: &Text, value: &Text, report: &mut Report) {
    if key.value == SORT_POLICY && value.value == "stateaware" {
        let message = "`stateaware` is an obsolete name of `fifo`";
        let warning = Diagnostic::warning(Code::PropertyDeprecated, value.span, message);
        report.push(warning.help("write `fifo`"));
    }
}

/// The queue of a property.
struct PropertyContext<'a> {
    partition: &'a Partition,
    place: &'a Place<'a>,
    is_root: bool,
    /// Whether this queue or a descendant has a maximum.
    has_max_below: bool,
}

impl PropertyContext<'_> {
    /// Returns why the property has no effect here, and what to do. `None` if the property can have an effect.
    fn without_effect(&self, key: &str, value: &str) -> Option<(&'static str, &'static str)> {
        let only_dynamic = self.place.is_parent() && self.place.queue.children.is_empty();
        let fence = value.eq_ignore_ascii_case("fence");
        match key {
            PREEMPTION_POLICY | PREEMPTION_DELAY
                if self.partition.preemption.enabled == Some(false) =>
            {
                Some((
                    "the partition has `preemption.enabled: false`",
                    "remove the property, or remove `preemption.enabled: false`",
                ))
            }
            PRIORITY_POLICY | PRIORITY_OFFSET if self.is_root => Some((
                "the property orders a queue among its siblings, but root has no siblings",
                "move the property to queues below root",
            )),
            PREEMPTION_POLICY if self.is_root && fence => {
                Some(("root has no queue above", "remove the property"))
            }
            QUOTA_PREEMPTION_DELAY if self.partition.preemption.quota_enabled != Some(true) => {
                Some((
                    "the partition has no `preemption.quotapreemptionenabled: true`",
                    "set `preemption.quotapreemptionenabled: true` in the partition, or remove the \
                     delay",
                ))
            }
            QUOTA_PREEMPTION_DELAY if !self.has_max_below => Some((
                "neither this queue nor a queue below has a maximum",
                "set `resources.max` for the queue, or remove the delay",
            )),
            PREEMPTION_DELAY | BACKOFF | BACKOFF_DELAY if only_dynamic => Some((
                "only leaves use the property, and leaves that placement rules create below this \
                 queue do not inherit it",
                "move the property to `childtemplate.properties`",
            )),
            _ => None,
        }
    }
}
