//! Checks placement rules by themselves: names, filters, and rules that cannot be built.

use headroom_core::config::expression;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::raw::{Filter, Rule, Text};

use super::names::{is_group_name, is_identifier, is_queue_name, is_user_name};

/// Checks every rule, with the rules that find its parent.
pub(super) fn check(rules: &[Rule], report: &mut Report) {
    for rule in rules {
        let mut next = Some(rule);
        while let Some(rule) = next {
            check_one(rule, report);
            next = rule.parent.as_deref();
        }
    }
}

fn check_one(rule: &Rule, report: &mut Report) {
    let name = &rule.name;
    if is_identifier(&name.value) {
        if let Some(warning) = unbuildable(rule) {
            report.push(warning);
        }
    } else {
        let message = format!("`{}` is not a placement rule", name.value);
        let fault = Diagnostic::error(Code::RuleName, name.span, message)
            .help("set `name` to one of provided, user, fixed, tag, reject");
        report.push(fault);
    }
    check_filter(&rule.filter, report);
}

fn check_filter(filter: &Filter, report: &mut Report) {
    let kind = &filter.kind;
    if !matches!(kind.value.to_lowercase().as_str(), "" | "allow" | "deny") {
        let message =
            format!("`type` of the filter is `{}`, but it must be `allow` or `deny`", kind.value);
        let fault = Diagnostic::error(Code::RuleFilterType, kind.span, message)
            .help("write `allow` or `deny`");
        report.push(fault);
    }
    check_single(&filter.users, "user", is_user_name, Code::RuleFilterUser, report);
    check_single(&filter.groups, "group", is_group_name, Code::RuleFilterGroup, report);
}

/// Checks a list with one entry, which can be a regular expression. Longer lists contain names, and the scheduler
/// ignores invalid names.
fn check_single(
    list: &[Text],
    noun: &str,
    is_legal: fn(&str) -> bool,
    code: Code,
    report: &mut Report,
) {
    let [only] = list else {
        for entry in list.iter().filter(|entry| !is_legal(&entry.value)) {
            let message =
                format!("`{}` is not a valid {noun} name and matches no user", entry.value);
            let warning = Diagnostic::warning(Code::NoEffect, entry.span, message)
                .help("write a regular expression as the only entry of its list");
            report.push(warning);
        }
        return;
    };
    if is_legal(&only.value) {
        return;
    }
    let why = if expression::is_meant(&only.value) {
        match expression::compile(&only.value) {
            Ok(_) => return,
            Err(error) => format!("not a valid regular expression: {error}"),
        }
    } else {
        "not a regular expression, because it contains none of ^ $ * + ? ( ) [ { } ] |".to_owned()
    };
    let message =
        format!("`{}` is neither a valid {noun} name nor a regular expression", only.value);
    let fault = Diagnostic::error(code, only.span, message)
        .label(why)
        .help(format!("write one {noun} name, several names, or one regular expression"));
    report.push(fault);
}

/// Returns the fault of a rule that the reference cannot build. The reference detects the fault only when it builds the
/// rules. It then starts without rules, and rejects every application.
pub(crate) fn unbuildable(rule: &Rule) -> Option<Diagnostic> {
    let (name, value) = (&rule.name, &rule.value);
    let kind = name.value.to_lowercase();
    let consequence = "the partition starts without rules and rejects every application";
    let warning = match kind.as_str() {
        "recovery" => Diagnostic::warning(
            Code::RuleRecovery,
            name.span,
            format!("the recovery rule cannot be in a queue file; {consequence}"),
        )
        .help("remove the rule; the scheduler always adds this rule as the last rule"),
        "fixed" | "tag" if value.value.is_empty() => Diagnostic::warning(
            Code::RuleValue,
            name.span,
            format!("a `{kind}` rule has no `value`; {consequence}"),
        )
        .help("set `value` to the queue of a `fixed` rule, or to the tag name of a `tag` rule"),
        "provided" | "user" | "tag" | "reject" => return None,
        "fixed" => {
            let message = format!("{}; {consequence}", fixed_fault(rule)?);
            Diagnostic::warning(Code::RuleValue, value.span, message).help(
                "write queue names separated by dots, and begin with `root` only without a \
                       parent rule",
            )
        }
        _ => Diagnostic::warning(
            Code::RuleUnknown,
            name.span,
            format!("the placement rule `{}` does not exist; {consequence}", name.value),
        )
        .help("set `name` to one of provided, user, fixed, tag, reject"),
    };
    Some(warning)
}

fn fixed_fault(rule: &Rule) -> Option<String> {
    let path = rule.value.value.to_lowercase();
    if let Some(part) = path.split('.').find(|part| !is_queue_name(part)) {
        return Some(format!("`{part}` is not a valid queue name"));
    }
    let qualified = path == "root" || path.starts_with("root.");
    (qualified && rule.parent.is_some())
        .then(|| "a rule with a path from `root` cannot have a parent".to_owned())
}
