//! Checks that a limit of a queue does not exceed the limits of its ancestors.

use std::collections::{BTreeMap, BTreeSet};

use headroom_core::resource::exact;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::raw::{At, Limit, Queue, Text};
use crate::vector::{Excess, Measure, Vector, show, smallest};

/// The limits of a queue by name, and the limits of its ancestors.
struct Scope<'a> {
    own: BTreeMap<&'a str, (&'a Vector, &'a At<u64>)>,
    above: Option<&'a Scope<'a>>,
}

impl<'a> Scope<'a> {
    /// Returns the limits of a name, from this queue up to root.
    fn of(&self, name: &str) -> impl Iterator<Item = &(&'a Vector, &'a At<u64>)> {
        let scopes = std::iter::successors(Some(self), |scope| scope.above);
        scopes.filter_map(move |scope| scope.own.get(name))
    }

    /// Returns the smallest limit of a type for a name, from this queue up to root.
    fn room(&self, name: &str, resource: &str) -> Option<Measure> {
        smallest(self.of(name).filter_map(|(limit, _)| limit.get(resource)))
    }
}

/// Checks the limits of all users, and then the limits of all groups.
pub(super) fn check(root: &Queue, report: &mut Report) {
    check_queue(root, None, "user", Limit::users, report);
    check_queue(root, None, "group", Limit::groups, report);
}

fn check_queue(
    queue: &Queue,
    above: Option<&Scope<'_>>,
    noun: &str,
    names_of: fn(&Limit) -> &[Text],
    report: &mut Report,
) {
    let vectors = queue.limits.value.iter();
    let vectors: Vec<Vector> =
        vectors.map(|limit| Vector::of(limit.max_resources.as_ref())).collect();
    let mut own = BTreeMap::new();
    for (limit, resources) in queue.limits.value.iter().zip(&vectors) {
        // Names with the same ancestors' limits share a positive result.
        let mut fitting = BTreeSet::new();
        for name in names_of(limit) {
            if let Some(above) = above {
                let who = Who { noun, name: &name.value, queue: &queue.name.value };
                check_resources(&who, resources, above, &mut fitting, report);
                check_applications(&who, limit, name.span, above, report);
            }
            own.insert(name.value.as_str(), (resources, &limit.max_applications));
        }
    }
    let here = Scope { own, above };
    // Queues without limits are skipped, so that a lookup costs only the number of limits.
    let below = if here.own.is_empty() { above } else { Some(&here) };
    for child in &queue.children {
        check_queue(child, below, noun, names_of, report);
    }
}

/// Name and kind of a limit, for messages.
struct Who<'a> {
    noun: &'a str,
    name: &'a str,
    queue: &'a str,
}

fn check_resources(
    who: &Who<'_>,
    own: &Vector,
    above: &Scope<'_>,
    fitting: &mut BTreeSet<Vec<usize>>,
    report: &mut Report,
) {
    let (code, name) = if above.of(who.name).next().is_some() {
        (Code::LimitResourcesOverAncestor, who.name)
    } else {
        (Code::LimitResourcesOverWildcard, "*")
    };
    let limits: Vec<&Vector> = above.of(name).map(|(limit, _)| *limit).collect();
    let places = limits.iter().map(|limit| std::ptr::from_ref(*limit).addr());
    let places: Vec<usize> = places.collect();
    if report.is_full() || fitting.contains(&places) {
        return;
    }
    let mut fits = true;
    for resource in shared_types(own, &limits) {
        let room = above.room(name, resource);
        if let (Some(wanted), Some(room)) = (own.get(resource), room)
            && wanted.amount > room.amount
        {
            fits = false;
            let excess = Excess { resource, wanted, room };
            report.push(who.too_much(code, &excess));
        }
    }
    if fits {
        fitting.insert(places);
    }
}

/// Returns a superset of the types that a limit and the limits of its ancestors share: the types of the shorter side,
/// because a file can have very many.
fn shared_types<'v>(own: &'v Vector, above: &[&'v Vector]) -> BTreeSet<&'v str> {
    let named_above: usize = above.iter().map(|limit| limit.len()).sum();
    if named_above < own.len() {
        let types = above.iter().flat_map(|limit| limit.iter());
        types.map(|(resource, _)| resource).collect()
    } else {
        own.iter().map(|(resource, _)| resource).collect()
    }
}

fn check_applications(
    who: &Who<'_>,
    limit: &Limit,
    named: Span,
    above: &Scope<'_>,
    report: &mut Report,
) {
    let own = &limit.max_applications;
    let (code, most) = match above.of(who.name).next() {
        Some((_, most)) => (Code::LimitApplicationsOverAncestor, most),
        None => match above.of("*").next() {
            Some((_, most)) => (Code::LimitApplicationsOverWildcard, most),
            None => return,
        },
    };
    if most.value == 0 {
        return; // Unlimited.
    }
    if own.value == 0 {
        report.push(who.no_number(code, named, most));
    } else if own.value > most.value {
        report.push(who.too_many(code, own, most));
    }
}

impl Who<'_> {
    fn too_much(&self, code: Code, excess: &Excess<'_>) -> Diagnostic {
        let most = show(excess.resource, excess.room.amount);
        let message = format!(
            "{} `{}` has a limit of {} in queue `{}`, but {} allows {most}",
            self.noun,
            self.name,
            show(excess.resource, excess.wanted.amount),
            self.queue,
            source(code)
        );
        Diagnostic::error(code, excess.wanted.span, message)
            .label("too much")
            .also(excess.room.span, "limited here")
            .help(format!(
                "write {} or less, or raise the limit above",
                exact(excess.resource, excess.room.amount)
            ))
    }

    fn too_many(&self, code: Code, own: &At<u64>, most: &At<u64>) -> Diagnostic {
        let message = format!(
            "{} `{}` has a limit of {} applications in queue `{}`, but {} allows {}",
            self.noun,
            self.name,
            own.value,
            self.queue,
            source(code),
            most.value
        );
        Diagnostic::error(code, own.span, message)
            .label("too many")
            .also(most.span, "limited here")
            .help(format!("write {} or less", most.value))
    }

    fn no_number(&self, code: Code, named: Span, most: &At<u64>) -> Diagnostic {
        let message = format!(
            "the limit of {} `{}` in queue `{}` sets no `maxapplications`, but {} allows {}",
            self.noun,
            self.name,
            self.queue,
            source(code),
            most.value
        );
        Diagnostic::error(code, named, message)
            .also(most.span, "limited here")
            .help(format!("set `maxapplications` to {} or less", most.value))
    }
}

/// Returns whose limit a fault compares with.
fn source(code: Code) -> &'static str {
    if matches!(code, Code::LimitResourcesOverWildcard | Code::LimitApplicationsOverWildcard) {
        "the wildcard above"
    } else {
        "a queue above"
    }
}
