//! User limits, sizes of asks, and limits of applications.

use headroom_core::userlimit::Formula;

use super::capacity::is_user;
use super::note::Kind;
use super::number::{self, Amounts};
use super::properties::Property;
use super::scope::Scope;
use super::template::Merged;
use super::write::Pairs;
use crate::user_limits;

/// Smallest ask in YARN if no file sets it.
const MINIMUM: [(&str, &str); 2] = [("memory", "1Gi"), ("vcore", "1")];

/// Returns `userlimits` of the partition.
pub(super) fn of_cluster(whole: &Scope<'_>, formula: Formula) -> Pairs {
    let mut pairs = Pairs::default();
    let calculator = calculator(whole);
    let (word, enforcement, calculator) = match formula {
        Formula::Smooth => {
            if let Some(property) = whole.get("resource-calculator") {
                let why = "the calculator is written as `componentwise`, because `smooth` splits \
                           each resource type separately";
                whole.tell(Kind::Adjusted, property, why, "");
            }
            ("smooth", "progress", "componentwise")
        }
        Formula::Yarn3 => ("yarn3", "overshoot", calculator),
        Formula::Yarn27 => ("yarn27", "overshoot", calculator),
    };
    pairs.push("formula", word);
    pairs.push("enforcement", enforcement);
    pairs.push("calculator", calculator);
    shares(whole, &mut pairs, formula == Formula::Smooth);
    let mut minimum = allocation(whole, "minimum");
    if minimum.is_empty() {
        minimum = MINIMUM.map(|(kind, amount)| (kind.to_owned(), amount.to_owned())).to_vec();
        whole.tell_absent(
            "yarn.scheduler.minimum-allocation-mb",
            "no file sets the minimum allocation, which YARN uses to round limits; the default of \
             YARN is 1 GiB and one core",
            "pass yarn-site.xml as an argument too, or set `minimumallocation`",
        );
    }
    if calculator == "memory" {
        minimum.retain(|(kind, _)| kind == "memory");
        if let Some(property) = whole.get_full("yarn.scheduler.minimum-allocation-vcores") {
            let why = "resource-calculator counts only memory, so other types are not rounded";
            whole.tell(Kind::NoEffect, property, why, "");
        }
    }
    pairs.push_amounts("minimumallocation", &minimum);
    pairs.push_amounts("maximumallocation", &allocation(whole, "maximum"));
    pairs
}

/// Returns the value of `calculator` for the calculator of the cluster.
fn calculator(whole: &Scope<'_>) -> &'static str {
    let Some(property) = whole.get("resource-calculator") else { return "memory" };
    match property.value.rsplit('.').next() {
        Some("DominantResourceCalculator") => "dominant",
        Some("DefaultResourceCalculator") => "memory",
        _ => {
            let why = "Headroom does not have this calculator, so only memory counts";
            let help = "set `calculator` to `memory`, `dominant` or `componentwise`";
            whole.tell(Kind::NoEquivalent, property, why, help);
            "memory"
        }
    }
}

/// Returns the amounts of `yarn.scheduler.minimum-allocation-mb` and `-vcores`, or of the maximum.
fn allocation(whole: &Scope<'_>, which: &str) -> Amounts {
    let mut amounts = Amounts::new();
    for (kind, suffix) in [("memory", "mb"), ("vcore", "vcores")] {
        let name = format!("yarn.scheduler.{which}-allocation-{suffix}");
        let Some(property) = whole.get_full(&name) else { continue };
        let amount = property.value.parse::<u64>().ok().filter(|amount| *amount > 0);
        let text = amount.and_then(|_| {
            if kind == "memory" {
                number::memory(&property.value)
            } else {
                Some(property.value.clone())
            }
        });
        match text {
            Some(text) => amounts.push((kind.to_owned(), text)),
            None => whole.tell(
                Kind::NoEquivalent,
                property,
                "the value is not an amount above 0",
                "correct the value in the queue file",
            ),
        }
    }
    amounts
}

/// Converts `minimum-user-limit-percent` and `user-limit-factor`.
fn shares(scope: &Scope<'_>, pairs: &mut Pairs, may_be_zero: bool) {
    floor_of(scope, pairs, may_be_zero);
    factor_of(scope, pairs);
}

fn floor_of(scope: &Scope<'_>, pairs: &mut Pairs, may_be_zero: bool) {
    if let Some((property, number)) = scope.number("minimum-user-limit-percent") {
        let text = number.to_string();
        if number.is_zero() && !may_be_zero {
            pairs.push("minimumuserlimitpercent", "1");
            let why = "the formula does not allow 0, so the value is written as 1";
            scope.tell(Kind::Adjusted, property, why, "set `formula: smooth`, which allows 0");
        } else if user_limits::percent(&text).is_some() {
            pairs.push("minimumuserlimitpercent", text);
        } else {
            let help = "set `minimumuserlimitpercent`";
            scope.tell(Kind::NoEquivalent, property, "the value must be 0 or from 1 to 100", help);
        }
    }
}

fn factor_of(scope: &Scope<'_>, pairs: &mut Pairs) {
    if let Some((property, number)) = scope.number("user-limit-factor") {
        let text = number.to_string();
        if user_limits::factor(&text).is_some() {
            pairs.push("userlimitfactor", text);
        } else {
            let why = "the value must be -1 for no user cap, or above 0 and at most 1000000";
            scope.tell(Kind::NoEquivalent, property, why, "set `userlimitfactor`");
        }
    }
}

/// Returns `userlimits` of a queue. Reports shares on a parent, which have no effect in YARN.
pub(super) fn of_queue(
    scope: &Scope<'_>,
    whole: &Scope<'_>,
    is_leaf: bool,
    formula: Formula,
) -> Pairs {
    let mut pairs = Pairs::default();
    if is_leaf {
        shares(scope, &mut pairs, formula == Formula::Smooth);
    } else {
        for name in ["minimum-user-limit-percent", "user-limit-factor"] {
            without_effect(scope, name);
        }
    }
    pairs.push_pairs("weights", weights(scope));
    pairs.push_amounts("maximumallocation", &largest(scope, whole));
    pairs
}

/// Reports a property on a parent queue that only leaves use.
fn without_effect(scope: &Scope<'_>, name: &str) {
    if let Some(property) = scope.get(name) {
        let why = "only leaves use this property";
        scope.tell(
            Kind::NoEffect,
            property,
            why,
            "if leaves need this setting, set it in the leaves",
        );
    }
}

fn weights(scope: &Scope<'_>) -> Pairs {
    let mut pairs = Pairs::default();
    let users = scope.below("user-settings");
    for (property, rest) in users.all() {
        let Some(user) = rest.strip_suffix(".weight") else { continue };
        let Some((_, number)) = users.number(&rest) else { continue };
        let text = number.to_string();
        if user_limits::weight(&text).is_none() || !is_user(user) {
            let why =
                "the value is not a weight of 0 or more, or the name is not a valid user name";
            scope.tell(Kind::NoEquivalent, property, why, "set `weights`");
        } else {
            pairs.push(user, text);
        }
    }
    pairs
}

/// Returns `maximum-allocation` of a queue. Other types are as in the cluster.
fn largest(scope: &Scope<'_>, whole: &Scope<'_>) -> Amounts {
    let mut own = Amounts::new();
    if let Some(property) = scope.get("maximum-allocation") {
        let text = property.value.trim_start_matches('[').trim_end_matches(']');
        match number::pairs(text) {
            Ok(amounts) => own = amounts,
            Err(why) => scope.tell(Kind::NoEquivalent, property, &why, "set `maximumallocation`"),
        }
    }
    for (kind, name) in
        [("memory", "maximum-allocation-mb"), ("vcore", "maximum-allocation-vcores")]
    {
        let Some((property, _)) = scope.count(name) else { continue };
        let amount = if kind == "memory" {
            number::memory(&property.value)
        } else {
            Some(property.value.clone())
        };
        if own.iter().any(|(known, _)| known == kind) {
            let why =
                "maximum-allocation of the queue sets the same value and overrides this property";
            scope.tell(Kind::NoEffect, property, why, "");
        } else if let Some(amount) = amount {
            own.push((kind.to_owned(), amount));
        } else {
            let why = "the value is above the maximum";
            scope.tell(Kind::NoEquivalent, property, why, "set `maximumallocation`");
        }
    }
    if own.is_empty() {
        return own;
    }
    for (kind, amount) in allocation(whole, "maximum") {
        if own.iter().all(|(known, _)| *known != kind) {
            own.push((kind, amount));
        }
    }
    own.sort();
    own
}

/// Returns `applicationlimits` of the partition. Missing properties have the defaults of YARN.
pub(super) fn applications_of_cluster(whole: &Scope<'_>) -> Pairs {
    let mut pairs = Pairs::default();
    let system = whole.count("maximum-applications").map_or(10_000, |(_, count)| count);
    pairs.push("maximumapplications", system.to_string());
    let per_queue = whole.count("global-queue-max-application");
    if let Some((_, count)) = per_queue {
        pairs.push("globalqueuemaxapplication", count.to_string());
    }
    if let Some((_, count)) = whole.below("user").count("max-parallel-apps") {
        pairs.push("maxparallelappsperuser", count.to_string());
    }
    pairs.push_pairs("maxparallelappsbyuser", parallel_by_user(whole));
    let driver = drivers(whole).unwrap_or_else(|| "0.1".to_owned());
    pairs.push("maximumdriverresourcepercent", driver);
    pairs
}

fn parallel_by_user(whole: &Scope<'_>) -> Pairs {
    let mut pairs = Pairs::default();
    let users = whole.below("user");
    for (property, rest) in users.all() {
        let Some(user) = rest.strip_suffix(".max-parallel-apps") else { continue };
        let Some((_, count)) = users.count(&rest) else { continue };
        if is_user(user) {
            pairs.push(user, count.to_string());
        } else {
            let why = "the name is not a valid user name";
            whole.tell(Kind::NoEquivalent, property, why, "set `maxparallelappsbyuser`");
        }
    }
    pairs
}

/// Returns `maximum-am-resource-percent`, a factor from 0 to 1.
fn drivers(scope: &Scope<'_>) -> Option<String> {
    let (property, number) = scope.number("maximum-am-resource-percent")?;
    let one = headroom_core::userlimit::Decimal::ONE;
    match number.decimal() {
        Some(part) if part <= one => Some(number.to_string()),
        Some(_) => {
            let why = "the value is written as 1, because drivers can use at most the whole queue";
            scope.tell(Kind::Adjusted, property, why, "write a factor, such as 0.1 for 10 percent");
            Some("1".to_owned())
        }
        None => {
            let why = "the value must be from 0 to 1";
            scope.tell(Kind::NoEquivalent, property, why, "set `maximumdriverresourcepercent`");
            None
        }
    }
}

/// Returns `applicationlimits` of a queue. `parallel` is the number of applications that can run at once.
pub(super) fn applications_of_queue(
    scope: &Scope<'_>,
    parallel: Option<u64>,
    is_leaf: bool,
) -> Pairs {
    let mut pairs = Pairs::default();
    if let Some((_, count)) = scope.count("maximum-applications") {
        pairs.push("maximumapplications", count.to_string());
    }
    if let Some(count) = parallel {
        pairs.push("maxparallelapps", count.to_string());
    }
    if is_leaf {
        if let Some(part) = drivers(scope) {
            pairs.push("maximumdriverresourcepercent", part);
        }
    } else {
        without_effect(scope, "maximum-am-resource-percent");
    }
    pairs
}

/// Returns the limit of running applications of a queue: its own number, or the number for all queues if this number is
/// less than the number of the ancestors.
pub(super) fn parallel(scope: &Scope<'_>, whole: &Scope<'_>, above: Option<u64>) -> Option<u64> {
    if let Some((_, own)) = scope.count("max-parallel-apps") {
        return Some(own);
    }
    let (_, all) = whole.count("max-parallel-apps")?;
    above.is_none_or(|above| all < above).then_some(all)
}

/// Returns the last word of a property that is a class of Hadoop.
pub(super) fn class(property: &Property) -> &str {
    property.value.rsplit('.').next().unwrap_or(&property.value)
}

/// Returns `userlimits` of a template.
pub(super) fn of_template(merged: &Merged<'_, '_>, whole: &Scope<'_>, formula: Formula) -> Pairs {
    let mut pairs = Pairs::default();
    let is_smooth = formula == Formula::Smooth;
    let floor = merged.with("minimum-user-limit-percent");
    floor_of(floor, &mut pairs, is_smooth);
    let factor = merged.with("user-limit-factor");
    if merged.flexible && factor.get("user-limit-factor").is_none() {
        // The default for queues that flexible creation creates.
        pairs.push("userlimitfactor", "-1");
    }
    factor_of(factor, &mut pairs);
    let mut named = Pairs::default();
    for scope in merged.nearest_last() {
        named.extend(weights(scope));
    }
    pairs.push_pairs("weights", named);
    let sizes = ["maximum-allocation", "maximum-allocation-mb", "maximum-allocation-vcores"];
    let with = sizes
        .iter()
        .map(|name| merged.with(name))
        .find(|scope| sizes.iter().any(|name| scope.get(name).is_some()));
    if let Some(scope) = with {
        pairs.push_amounts("maximumallocation", &largest(scope, whole));
    }
    pairs
}

/// Returns `applicationlimits` of a template.
pub(super) fn applications_of_template(merged: &Merged<'_, '_>) -> Pairs {
    let mut pairs = Pairs::default();
    if let Some((_, count)) = merged.with("maximum-applications").count("maximum-applications") {
        pairs.push("maximumapplications", count.to_string());
    }
    if let Some((_, count)) = merged.with("max-parallel-apps").count("max-parallel-apps") {
        pairs.push("maxparallelapps", count.to_string());
    }
    let drivers = drivers(merged.with("maximum-am-resource-percent"));
    // The default for queues that flexible creation creates.
    if let Some(part) = drivers.or_else(|| merged.flexible.then(|| "1".to_owned())) {
        pairs.push("maximumdriverresourcepercent", part);
    }
    pairs
}
