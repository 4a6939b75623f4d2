//! Checks `userlimits`: each block alone, and the combined settings at leaves.
//!
//! The settings of a leaf can come from several blocks. The work depends on the written blocks, and not on the settings
//! that leaves inherit.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use headroom_core::resource::exact;
use headroom_core::userlimit::{Decimal, Formula};

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span, Stage};
use crate::raw::{At, Pairs, Queue, Rule, Text, UserLimits};
use crate::user_limits::{
    CALCULATORS, ENFORCEMENTS, FACTOR, FORMULAS, PERCENT, WEIGHT, factor, meaning, percent, weight,
};
use crate::vector::{Measure, Vector, report_quantities, show};

use super::Tree;
use super::names::is_user_name;
use super::template::is_absent;

/// Checks all blocks of a partition.
pub(super) fn check(tree: &Tree, report: &mut Report) {
    let creates = tree.partition.rules.iter().any(makes_queues);
    let (weights, seen) = (Weights::default(), BTreeSet::new());
    let mut walk = Walk { creates, weights, of_partition: None, seen, report };
    let own = tree.partition.user_limits.as_deref();
    let here = walk.enter(own, &InForce::default());
    walk.of_partition.clone_from(&here.maximum);
    walk.queue(&tree.root, &here, false);
}

fn makes_queues(rule: &Rule) -> bool {
    std::iter::successors(Some(rule), |rule| rule.parent.as_deref()).any(|rule| rule.create)
}

/// Settings that apply to a queue, without weights.
#[derive(Clone, Default)]
struct InForce<'a> {
    formula: Option<&'a Text>,
    floor: Floor,
    minimum: Option<Rc<Bound>>,
    maximum: Option<Rc<Bound>>,
}

/// Value of `minimumuserlimitpercent`.
#[derive(Clone, Copy, Default)]
enum Floor {
    /// Absent, so the default applies.
    #[default]
    Absent,
    /// Invalid, and already reported.
    Wrong,
    /// This percentage, at this place.
    Written(Decimal, Span),
}

/// An amount for each type, and their place.
struct Bound {
    span: Span,
    amounts: Vector,
}

/// The weights that apply, and the weights that apply again after the block that replaces them.
#[derive(Default)]
struct Weights<'a> {
    /// Weights by user. The last weight applies.
    of_users: BTreeMap<&'a str, Vec<At<Decimal>>>,
    /// Weights that apply, in ascending order.
    in_force: BTreeSet<(Decimal, &'a str)>,
}

impl<'a> Weights<'a> {
    fn enter(&mut self, user: &'a str, weight: At<Decimal>) {
        let of_user = self.of_users.entry(user).or_default();
        if let Some(hidden) = of_user.last() {
            self.in_force.remove(&(hidden.value, user));
        }
        self.in_force.insert((weight.value, user));
        of_user.push(weight);
    }

    fn leave(&mut self, user: &'a str) {
        let Some(of_user) = self.of_users.get_mut(user) else { return };
        if let Some(gone) = of_user.pop() {
            self.in_force.remove(&(gone.value, user));
        }
        if let Some(back) = of_user.last() {
            self.in_force.insert((back.value, user));
        }
    }
}

/// State of the traversal.
struct Walk<'a, 'r> {
    /// Whether rules create queues. Each parent can then get leaves.
    creates: bool,
    weights: Weights<'a>,
    /// `maximumallocation` of the partition, after its own block.
    of_partition: Option<Rc<Bound>>,
    /// Pairs of places that are already compared.
    seen: BTreeSet<(Span, Span)>,
    report: &'r mut Report,
}

impl<'a> Walk<'a, '_> {
    /// Checks a queue and its descendants. `has_template` specifies whether an ancestor has a template.
    fn queue(&mut self, queue: &'a Queue, above: &InForce<'a>, has_template: bool) {
        let here = self.enter(queue.user_limits.as_deref(), above);
        if !queue.parent && queue.children.is_empty() {
            self.judge(&here);
        } else {
            let own = queue.template.as_deref();
            let own = own.filter(|template| !is_absent(template));
            if let Some(template) = own {
                let made = self.enter(template.user_limits.as_deref(), &here);
                self.judge(&made);
                self.leave(template.user_limits.as_deref());
            } else if !has_template && (self.creates || queue.children.is_empty()) {
                self.judge(&here);
            }
            for child in &queue.children {
                self.queue(child, &here, has_template || own.is_some());
            }
        }
        self.leave(queue.user_limits.as_deref());
    }

    /// Checks one block. Returns the settings that apply in this queue and below.
    fn enter(&mut self, block: Option<&'a UserLimits>, above: &InForce<'a>) -> InForce<'a> {
        let mut here = above.clone();
        let Some(block) = block else { return here };
        check_words(block, self.report);
        check_factor(block, self.report);
        here.formula = block.formula.as_ref().or(above.formula);
        if let Some(text) = &block.floor {
            here.floor = check_floor(text, self.report);
        }
        for (user, text) in &block.weights {
            check_user(user, self.report);
            if let Some(value) = weight(&text.value) {
                self.weights.enter(&user.value, At { value, span: text.span });
            } else {
                self.report.push(no_weight(user, text));
            }
        }
        check_amounts("increment", block.increment.as_ref(), self.report);
        let minimum = block.minimum_allocation.as_ref();
        here.minimum = check_amounts("minimumallocation", minimum, self.report).or(here.minimum);
        let maximum = block.maximum_allocation.as_ref();
        let maximum = check_amounts("maximumallocation", maximum, self.report);
        if let (Some(of_queue), Some(of_partition)) = (&maximum, &self.of_partition) {
            maximum_fits_partition(of_queue, of_partition, self.report);
        }
        here.maximum = maximum.or(here.maximum);
        here
    }

    /// Removes the weights of a block.
    fn leave(&mut self, block: Option<&'a UserLimits>) {
        let weights = block.into_iter().flat_map(|block| &block.weights);
        for (user, _) in weights.filter(|(_, text)| weight(&text.value).is_some()) {
            self.weights.leave(&user.value);
        }
    }

    /// Checks the settings of a leaf.
    fn judge(&mut self, here: &InForce<'_>) {
        self.floor_fits_formula(here);
        self.weights_fit_floor(here.floor);
        if let (Some(minimum), Some(maximum)) = (&here.minimum, &here.maximum)
            && self.seen.insert((minimum.span, maximum.span))
        {
            minimum_fits_maximum(minimum, maximum, self.report);
        }
    }

    fn floor_fits_formula(&mut self, here: &InForce<'_>) {
        let (Floor::Written(Decimal::ZERO, floor), Some(formula)) = (here.floor, here.formula)
        else {
            return;
        };
        let smooth = meaning(&FORMULAS, formula).is_none_or(|formula| formula == Formula::Smooth);
        if smooth || !self.seen.insert((floor, formula.span)) {
            return;
        }
        let message = format!(
            "`minimumuserlimitpercent` is 0, but with the formula `{}` it must be from 1 to 100",
            formula.value
        );
        let fault = Diagnostic::error(Code::UserLimitPercent, floor, message)
            .also(formula.span, "the formula")
            .help("write 1 or more, or set `formula: smooth`, which needs no minimum");
        self.report.push(fault);
    }

    fn weights_fit_floor(&mut self, floor: Floor) {
        let (percent, place) = match floor {
            Floor::Absent => (Decimal::HUNDRED, None),
            Floor::Wrong => return,
            Floor::Written(percent, place) => (percent, Some(place)),
        };
        let most = i128::from(Decimal::HUNDRED.millionths()) * millionths(Decimal::ONE);
        for (weight, user) in self.weights.in_force.iter().rev() {
            if millionths(*weight) * millionths(percent) <= most || self.report.is_full() {
                break;
            }
            let span = self.weights.of_users[user].last().map_or(Span::default(), |at| at.span);
            if self.seen.insert((span, place.unwrap_or_default())) {
                self.report.push(too_heavy(user, *weight, span, (percent, place)));
            }
        }
    }
}

fn millionths(decimal: Decimal) -> i128 {
    decimal.millionths().into()
}

fn check_words(block: &UserLimits, report: &mut Report) {
    let mut check = |key: &str, written: &Option<Text>, words: [&str; 3]| {
        let Some(text) = written.as_ref().filter(|text| !words.contains(&text.value.as_str()))
        else {
            return;
        };
        let message = format!("`{key}` is `{}`, which is not one of its values", text.value);
        let [first, second, third] = words;
        let fault = Diagnostic::error(Code::UserLimitWord, text.span, message)
            .help(format!("write `{first}`, `{second}` or `{third}`"));
        report.push(fault);
    };
    check("formula", &block.formula, FORMULAS.map(|(word, _)| word));
    check("enforcement", &block.enforcement, ENFORCEMENTS.map(|(word, _)| word));
    check("calculator", &block.calculator, CALCULATORS.map(|(word, _)| word));
}

fn check_factor(block: &UserLimits, report: &mut Report) {
    if let Some(text) = block.factor.as_ref().filter(|text| factor(&text.value).is_none()) {
        let message = format!("`userlimitfactor` is {}, but {FACTOR}", text.value);
        let fault = Diagnostic::error(Code::UserLimitFactor, text.span, message)
            .help("write how many times the guarantee one user can use, or -1 for no user cap");
        report.push(fault);
    }
}

/// Checks a percentage by itself.
fn check_floor(text: &Text, report: &mut Report) -> Floor {
    if let Some(percent) = percent(&text.value) {
        return Floor::Written(percent, text.span);
    }
    let message = format!("`minimumuserlimitpercent` is {}, but {PERCENT}", text.value);
    let fault = Diagnostic::error(Code::UserLimitPercent, text.span, message).help(
        "write the minimum share of a user as a percentage of the queue, or 0 for no minimum",
    );
    report.push(fault);
    Floor::Wrong
}

fn check_user(user: &Text, report: &mut Report) {
    if is_user_name(&user.value) {
        return;
    }
    let (message, help) = match user.value.as_str() {
        "" => {
            ("an entry of `weights` names no user".to_owned(), "name a user, or remove the entry")
        }
        "*" => (
            "`weights` are for users by name, but `*` is not a user name".to_owned(),
            "remove the entry `*`; unnamed users have the weight 1",
        ),
        name => (
            format!("`{name}` is not a valid user name"),
            "a user name begins with a letter or _ and continues with letters, digits and : # / _ \
             . @ -",
        ),
    };
    report.push(Diagnostic::error(Code::UserLimitUserName, user.span, message).help(help));
}

fn no_weight(user: &Text, text: &Text) -> Diagnostic {
    let message = if text.value.is_empty() {
        format!("the weight of user `{}` has no value", user.value)
    } else {
        format!("the weight of user `{}` is {}, but {WEIGHT}", user.value, text.value)
    };
    Diagnostic::error(Code::UserLimitWeight, text.span, message)
        .help("write a weight, such as 2 for twice the share of other users, or 0.5 for half")
}

fn too_heavy(
    user: &str,
    weight: Decimal,
    span: Span,
    (percent, place): (Decimal, Option<Span>),
) -> Diagnostic {
    let most = most_of(percent);
    let message = format!(
        "the weight of user `{user}` is {weight}, but it can be at most {most}, which is 100 \
         divided by `minimumuserlimitpercent`, {percent}"
    );
    let fault = Diagnostic::error(Code::UserLimitWeight, span, message);
    let Some(place) = place else {
        return fault.help(format!(
            "write {most} or less, or set `minimumuserlimitpercent`, which defaults to 100"
        ));
    };
    fault
        .also(place, "the percentage")
        .help(format!("write {most} or less, or lower `minimumuserlimitpercent`"))
}

/// Returns the largest weight for a percentage, rounded down.
fn most_of(percent: Decimal) -> String {
    let one = millionths(Decimal::ONE);
    let most = millionths(Decimal::HUNDRED) * one / millionths(percent).max(1);
    let text = format!("{}.{:06}", most / one, most % one);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Checks the amounts of a key. Returns the amounts, or `None` if the key is absent.
fn check_amounts(key: &str, pairs: Option<&Pairs>, report: &mut Report) -> Option<Rc<Bound>> {
    let pairs = pairs?;
    report_quantities(Some(pairs), Stage::Validation, report);
    let amounts = Vector::of(Some(pairs));
    for (resource, measure) in amounts.iter().filter(|(_, measure)| measure.amount.get() <= 0) {
        let message =
            format!("`{key}` is {}, but it must be above 0", show(resource, measure.amount));
        let fault = Diagnostic::error(Code::UserLimitZero, measure.span, message)
            .help(format!("write an amount above 0, or remove {resource}"));
        report.push(fault);
    }
    Some(Rc::new(Bound { span: pairs.span, amounts }))
}

fn minimum_fits_maximum(minimum: &Bound, maximum: &Bound, report: &mut Report) {
    // The shorter side is iterated, because the other can be shared by many queues.
    let types = if minimum.amounts.len() < maximum.amounts.len() { minimum } else { maximum };
    for (resource, _) in types.amounts.iter() {
        let both = minimum.amounts.get(resource).zip(maximum.amounts.get(resource));
        if let Some((least, most)) = both.filter(|(least, most)| least.amount > most.amount) {
            report.push(minimum_over_maximum(resource, least, most));
        }
    }
}

/// Checks that a queue does not allow larger asks than its partition.
fn maximum_fits_partition(of_queue: &Bound, of_partition: &Bound, report: &mut Report) {
    for (resource, own) in of_queue.amounts.iter() {
        let Some(most) = of_partition.amounts.get(resource) else { continue };
        if own.amount <= most.amount {
            continue;
        }
        let message = format!(
            "`maximumallocation` of the queue is {}, but that of the partition is {}",
            show(resource, own.amount),
            show(resource, most.amount)
        );
        let fault = Diagnostic::error(Code::UserLimitMaximumOverPartition, own.span, message)
            .label("too much")
            .also(most.span, "the maximum of the partition")
            .help(format!(
                "write {} or less, or raise `maximumallocation` of the partition",
                exact(resource, most.amount)
            ));
        report.push(fault);
    }
}

fn minimum_over_maximum(resource: &str, least: Measure, most: Measure) -> Diagnostic {
    let message = format!(
        "`minimumallocation` is {}, but `maximumallocation` is {}",
        show(resource, least.amount),
        show(resource, most.amount)
    );
    Diagnostic::error(Code::UserLimitMinimumOverMaximum, least.span, message)
        .label("too much")
        .also(most.span, "the maximum")
        .help(format!(
            "write {} or less, or raise `maximumallocation`",
            exact(resource, most.amount)
        ))
}
