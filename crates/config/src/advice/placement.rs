//! Advice on placement rules that never place an application.

use std::collections::BTreeMap;

use crate::check::names::{is_group_name, is_user_name};
use crate::check::unbuildable;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::raw::{Filter, Rule, Text};

use super::survey::Survey;

pub(super) fn advise(rules: &[Rule], survey: &Survey<'_>, report: &mut Report) {
    if rules.iter().any(|rule| chain(rule).any(|link| unbuildable(link).is_some())) {
        return; // Then no rule is active, which is already reported.
    }
    let scene = PlacementContext::of(survey);
    let mut catch_all: Option<Span> = None;
    let mut made = false;
    for rule in rules {
        if let Some(before) = catch_all {
            let message = "no application reaches this rule, because an earlier rule places or \
                           rejects every application";
            let warning = Diagnostic::warning(Code::RuleNever, rule.name.span, message)
                .also(before, "the earlier rule")
                .help(
                    "move this rule before the earlier rule, or add a `filter` to the earlier rule",
                );
            report.push(warning);
            continue;
        }
        match scene.outcome(rule, made) {
            Outcome::Never(warning) => report.push(*warning),
            Outcome::Always => catch_all = Some(rule.name.span),
            Outcome::Depends => {}
        }
        made |= chain(rule).any(|link| link.create);
    }
}

/// Returns a rule and the rules that find its parent.
fn chain(rule: &Rule) -> impl Iterator<Item = &Rule> {
    std::iter::successors(Some(rule), |link| link.parent.as_deref())
}

/// Result of a rule for all submitters.
enum Outcome {
    Never(Box<Diagnostic>),
    /// The rule places or rejects every application.
    Always,
    Depends,
}

/// The configured queues, by path.
struct PlacementContext<'s, 'a> {
    survey: &'s Survey<'a>,
    /// Positions by parent and name in lower case.
    children: BTreeMap<(usize, String), usize>,
    /// For each queue, whether every user can submit.
    open: Vec<bool>,
}

impl<'s, 'a> PlacementContext<'s, 'a> {
    fn of(survey: &'s Survey<'a>) -> Self {
        let mut scene = Self { survey, children: BTreeMap::new(), open: Vec::new() };
        for (position, place) in survey.iter() {
            let above = place.above.is_some_and(|above| scene.open[above]);
            scene.open.push(above || place.grants.everybody);
            if let Some(parent) = place.above {
                let name = place.queue.name.value.to_lowercase();
                scene.children.entry((parent, name)).or_insert(position);
            }
        }
        scene
    }

    /// Returns the result of a rule. `made` specifies whether an earlier rule creates queues.
    fn outcome(&self, rule: &Rule, made: bool) -> Outcome {
        for link in chain(rule) {
            if audience(&link.filter) == Audience::Nobody {
                return never_by_filter(link);
            }
        }
        let fixed = is_fixed(rule);
        let for_all = chain(rule).all(|link| audience(&link.filter) == Audience::Everybody);
        let rejects = rule.name.value.eq_ignore_ascii_case("reject");
        if rejects && rule.parent.is_none() {
            return if for_all { Outcome::Always } else { Outcome::Depends };
        }
        let outcome = if fixed { self.fixed(rule, made) } else { Outcome::Depends };
        match outcome {
            Outcome::Always if !for_all => Outcome::Depends,
            Outcome::Depends if for_all && self.always_by_user(rule, made) => Outcome::Always,
            other => other,
        }
    }

    /// Returns the result of a chain of `fixed` rules.
    fn fixed(&self, rule: &Rule, made: bool) -> Outcome {
        match self.find(rule) {
            // A target with `parent: true` is refused elsewhere.
            Some(at) if self.survey.get(at).queue.parent => Outcome::Depends,
            Some(at) if self.survey.get(at).is_parent() => {
                let target = self.survey.get(at).queue;
                let message = format!(
                    "the rule selects queue `{}`, which is a parent and accepts no applications",
                    self.survey.name(at)
                );
                let warning = Diagnostic::warning(Code::RuleNever, rule.value.span, message)
                    .also(target.name.span, "this queue is a parent")
                    .help("set `value` to a leaf below this queue");
                Outcome::Never(Box::new(warning))
            }
            Some(at) if self.open[at] => Outcome::Always,
            // The rule creates the queue as a leaf, unless it was created as a parent before.
            None if !made && rule.create && rule.parent.is_none() && self.open[0] => {
                Outcome::Always
            }
            Some(_) | None => Outcome::Depends,
        }
    }

    /// Returns whether a `user` rule finds or creates a queue for every user, where every user can submit.
    fn always_by_user(&self, rule: &Rule, made: bool) -> bool {
        if made || !rule.create || !rule.name.value.eq_ignore_ascii_case("user") {
            return false;
        }
        let parent = match rule.parent.as_deref() {
            None => Some(0),
            Some(parent) if is_fixed(parent) => self.find(parent),
            Some(_) => None,
        };
        let Some(parent) = parent else {
            return false;
        };
        // A user can have the name of a parent queue. The next rule would then apply.
        let place = self.survey.get(parent);
        let below = parent + 1..place.end;
        let names_parent = below.into_iter().any(|at| {
            let child = self.survey.get(at);
            child.above == Some(parent) && child.is_parent()
        });
        self.open[parent] && place.is_parent() && !names_parent
    }

    /// Returns the configured queue that a chain of `fixed` rules selects.
    fn find(&self, rule: &Rule) -> Option<usize> {
        let mut links: Vec<&Rule> = chain(rule).collect();
        links.reverse();
        let path: Vec<String> = links.iter().map(|link| link.value.value.to_lowercase()).collect();
        let path = path.join(".");
        let below_root =
            if path == "root" { "" } else { path.strip_prefix("root.").unwrap_or(&path) };
        let mut at = 0;
        for part in below_root.split('.').filter(|part| !part.is_empty()) {
            at = *self.children.get(&(at, part.to_owned()))?;
        }
        Some(at)
    }
}

fn is_fixed(rule: &Rule) -> bool {
    chain(rule).all(|link| link.name.value.eq_ignore_ascii_case("fixed"))
}

fn never_by_filter(rule: &Rule) -> Outcome {
    let denies = rule.filter.kind.value.eq_ignore_ascii_case("deny");
    let (message, help) = if denies {
        (
            "the filter denies every user, because it names neither users nor groups",
            "name the users or groups to deny, or remove the filter",
        )
    } else {
        (
            "the filter allows no user, because no entry is a valid name",
            "write a regular expression as the only entry of its list, and names without blanks",
        )
    };
    let listed = rule.filter.users.first().or(rule.filter.groups.first());
    let span = listed.map_or(rule.filter.kind.span, |first| first.span);
    Outcome::Never(Box::new(Diagnostic::warning(Code::RuleNever, span, message).help(help)))
}

/// Users whom a filter accepts.
#[derive(PartialEq, Eq)]
enum Audience {
    Everybody,
    Some,
    Nobody,
}

fn audience(filter: &Filter) -> Audience {
    let denies = filter.kind.value.eq_ignore_ascii_case("deny");
    let (users, groups) = (&filter.users, &filter.groups);
    let names_somebody = counts(users, is_user_name) || counts(groups, is_group_name);
    match (denies, users.is_empty() && groups.is_empty()) {
        (false, true) => Audience::Everybody,
        (true, true) => Audience::Nobody,
        _ if names_somebody => Audience::Some,
        (false, false) => Audience::Nobody,
        (true, false) => Audience::Everybody,
    }
}

/// Returns whether a list can match a name. A single entry is a name or an expression. In a longer list, only valid
/// names count.
fn counts(list: &[Text], is_legal: fn(&str) -> bool) -> bool {
    match list {
        [] => false,
        [_] => true,
        several => several.iter().any(|entry| is_legal(&entry.value)),
    }
}
