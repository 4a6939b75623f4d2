//! Advice on resources: types that were probably misspelled, and zeros without effect.

use std::collections::BTreeMap;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::raw::{Pairs, Partition, Resources, UserLimits};
use crate::spelling::letters_apart;
use crate::vector::Vector;

use super::survey::Survey;

pub(super) fn advise(partition: &Partition, survey: &Survey<'_>, report: &mut Report) {
    let mut doubtful = Doubtful::default();
    for (position, place) in survey.iter() {
        let own = (position > 0).then_some(&place.queue.resources);
        let template = place.queue.template.as_deref().map(|template| &template.resources);
        for (whose, resources) in [("queue", own), ("template of queue", template)] {
            let Some(resources) = resources else { continue };
            zeros(&format!("{whose} `{}`", place.queue.name.value), resources, report);
            doubtful.look_at(resources.max.as_ref());
            doubtful.look_at(resources.guaranteed.as_ref());
        }
        let of_template =
            place.queue.template.as_deref().and_then(|template| template.user_limits.as_deref());
        for limits in place.queue.user_limits.as_deref().into_iter().chain(of_template) {
            doubtful.look_at_all(limits);
        }
        for limit in &place.queue.limits.value {
            doubtful.look_at(limit.max_resources.as_ref());
        }
    }
    if let Some(limits) = &partition.user_limits {
        doubtful.look_at_all(limits);
    }
    for (name, _) in &partition.node_sort.weights {
        doubtful.note(&name.value, name.span);
    }
    doubtful.tell(report);
}

/// Reports a vector with only zeros, which is dropped as a whole.
fn zeros(whose: &str, resources: &Resources, report: &mut Report) {
    let vectors = [
        (
            "max",
            &resources.max,
            "no maximum applies",
            "set at least one type to an amount above 0; other types can be 0",
        ),
        (
            "guaranteed",
            &resources.guaranteed,
            "nothing is guaranteed",
            "remove `guaranteed`, or set at least one type to an amount above 0",
        ),
    ];
    for (key, pairs, consequence, help) in vectors {
        let Some(pairs) = pairs else { continue };
        let vector = Vector::of(Some(pairs));
        if !vector.is_empty() && vector.len() == pairs.value.len() && vector.is_zero() {
            let message =
                format!("`{key}` of {whose} contains only zeros and is ignored: {consequence}");
            report.push(Diagnostic::warning(Code::ResourceZeros, pairs.span, message).help(help));
        }
    }
}

/// Types that resemble `vcore` or `memory`, with their first place and their number.
#[derive(Default)]
struct Doubtful<'a>(BTreeMap<&'a str, (Span, usize, &'static str)>);

impl<'a> Doubtful<'a> {
    fn look_at(&mut self, pairs: Option<&'a Pairs>) {
        for (name, _) in pairs.into_iter().flat_map(|pairs| &pairs.value) {
            self.note(&name.value, name.span);
        }
    }

    fn look_at_all(&mut self, limits: &'a UserLimits) {
        for pairs in [&limits.minimum_allocation, &limits.increment, &limits.maximum_allocation] {
            self.look_at(pairs.as_ref());
        }
    }

    fn note(&mut self, name: &'a str, span: Span) {
        if let Some((_, places, _)) = self.0.get_mut(name) {
            *places += 1;
        } else if let Some(meant) = meant_by(name) {
            self.0.insert(name, (span, 1, meant));
        }
    }

    fn tell(self, report: &mut Report) {
        for (name, (span, places, meant)) in self.0 {
            let more = match places {
                1 => String::new(),
                2 => " (also in one other place)".to_owned(),
                more => format!(" (also in {} other places)", more - 1),
            };
            let unit = if meant == "vcore" { "cores" } else { "bytes" };
            let message =
                format!("`{name}` is a separate resource type, different from `{meant}`{more}");
            let warning = Diagnostic::warning(Code::ResourceType, span, message)
                .help(format!("write `{meant}`, in {unit}, unless nodes report `{name}`"));
            report.push(warning);
        }
    }
}

/// Returns the type with a unit that was probably meant.
fn meant_by(name: &str) -> Option<&'static str> {
    if matches!(name, "vcore" | "memory") || name.len() > 12 {
        return None;
    }
    let lower = name.to_lowercase();
    match lower.as_str() {
        "cpu" | "cpus" | "core" | "cores" | "vcpu" | "vcpus" | "millicores" => Some("vcore"),
        "mem" | "ram" | "memory_mb" | "memory-mb" | "mem_mb" => Some("memory"),
        other if letters_apart(other, "vcore") <= 1 => Some("vcore"),
        other if letters_apart(other, "memory") <= 2 => Some("memory"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_look_like_the_two_with_a_unit_are_recognised() {
        for (name, expected) in [
            ("vcore", None),
            ("memory", None),
            ("vcores", Some("vcore")),
            ("Vcore", Some("vcore")),
            ("CPU", Some("vcore")),
            ("Memory", Some("memory")),
            ("memroy", Some("memory")),
            ("mem", Some("memory")),
            ("pods", None),
            ("nvidia.com/gpu", None),
            ("hugepages-2Mi", None),
            ("ephemeral-storage", None),
        ] {
            assert_eq!(meant_by(name), expected, "looking at {name}");
        }
    }
}
