//! Advice on user limits that were probably not meant: values too large for a queue, and settings that can block a
//! queue. Source: user-headroom §7.

use std::collections::BTreeSet;
use std::rc::Rc;

use headroom_core::config::UserFactor;
use headroom_core::resource::{Quantity, exact};
use headroom_core::userlimit::Decimal;

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::raw::{Partition, Text, UserLimits};
use crate::user_limits::factor;
use crate::vector::{Measure, Vector, show, smallest};

use super::capacity::{guarantees, times_guaranteed};
use super::survey::Survey;

pub(super) fn advise(partition: &Partition, survey: &Survey<'_>, report: &mut Report) {
    let mut reported = BTreeSet::new();
    let mut all: Vec<InForce<'_>> = Vec::new();
    let outermost = InForce::default().below(partition.user_limits.as_deref());
    for (position, place) in survey.iter() {
        let above = place.above.map_or(&outermost, |above| &all[above]);
        let here = above.below(place.queue.user_limits.as_deref());
        let template = place.queue.template.as_deref();
        if report.is_full_of_warnings() {
            break;
        }
        if !place.is_parent() {
            let scene = UserLimitContext { survey, position, of_template: None };
            words(&here, &mut reported, report);
            no_share(&scene, &here, report);
            amounts(&scene, &here, report);
        } else if let Some(template) = template {
            let made = here.below(template.user_limits.as_deref());
            let guaranteed = Vector::of(template.resources.guaranteed.as_ref());
            let of_template = Some((guaranteed, Vector::of(template.resources.max.as_ref())));
            words(&made, &mut reported, report);
            amounts(&UserLimitContext { survey, position, of_template }, &made, report);
        }
        all.push(here);
    }
}

/// Settings that apply to a queue. Each setting is from the nearest block that sets it.
#[derive(Clone, Default)]
struct InForce<'a> {
    /// The nearest block.
    block: Option<&'a UserLimits>,
    formula: Option<&'a Text>,
    enforcement: Option<&'a Text>,
    factor: Option<&'a Text>,
    maximum: Option<Rc<Vector>>,
}

impl<'a> InForce<'a> {
    /// Returns the settings below `block`. Without a block, returns the same settings.
    fn below(&self, block: Option<&'a UserLimits>) -> Self {
        let Some(block) = block else { return self.clone() };
        let maximum = block.maximum_allocation.as_ref();
        let maximum = maximum.map(|pairs| Rc::new(Vector::of(Some(pairs))));
        Self {
            block: Some(block),
            formula: block.formula.as_ref().or(self.formula),
            enforcement: block.enforcement.as_ref().or(self.enforcement),
            factor: block.factor.as_ref().or(self.factor),
            maximum: maximum.or_else(|| self.maximum.clone()),
        }
    }
}

/// A leaf, or the leaves that rules create below a queue with a template.
struct UserLimitContext<'a> {
    survey: &'a Survey<'a>,
    position: usize,
    /// Guarantee and maximum of the template.
    of_template: Option<(Vector, Vector)>,
}

impl UserLimitContext<'_> {
    fn name(&self) -> String {
        let name = self.survey.name(self.position);
        match self.of_template {
            Some(_) => format!("a queue made below `{name}`"),
            None => format!("queue `{name}`"),
        }
    }

    fn guaranteed(&self) -> Vector {
        match &self.of_template {
            Some((guaranteed, _)) => guaranteed.clone(),
            None => Vector::of(self.survey.get(self.position).queue.resources.guaranteed.as_ref()),
        }
    }

    /// Returns the smallest maximum on the path to root.
    fn room(&self, resource: &str) -> Option<Measure> {
        let own = self.of_template.iter().map(|(_, max)| max);
        let path = self.survey.path(self.position).map(|(_, place)| &place.max);
        // The maximum of root is the total of the nodes.
        smallest(own.chain(path).chain(self.survey.nodes()).filter_map(|max| max.get(resource)))
    }
}

impl UserLimitContext<'_> {
    fn is_of_nodes(&self, room: Measure) -> bool {
        self.survey.nodes().is_some() && room.span == self.survey.get(0).queue.name.span
    }
}

/// Reports problematic values of `enforcement` and `formula`. Reports each value once, regardless of the number of
/// leaves.
fn words(here: &InForce<'_>, reported: &mut BTreeSet<Span>, report: &mut Report) {
    if let Some(text) = here.enforcement.filter(|text| text.value == "strict")
        && reported.insert(text.span)
    {
        let message = "with `enforcement: strict`, nothing starts if the next ask of every user \
                       needs more than the rest of their share, even in an empty cluster";
        let warning = Diagnostic::warning(Code::UserLimitStrict, text.span, message);
        report.push(
            warning.help(
                "write `progress`, with which a user below their share can start one more ask",
            ),
        );
    }
    if let Some(text) = here.formula.filter(|text| text.value.starts_with("yarn"))
        && reported.insert(text.span)
    {
        let message = format!(
            "the formula `{}` has dead zones: at times no user can start another ask, or \
             preemption frees less than the ask of a user needs",
            text.value
        );
        let warning = Diagnostic::warning(Code::UserLimitDeadZone, text.span, message);
        report.push(warning.help(
            "write `smooth`, which has no dead zones, unless you need the results of \
             CapacityScheduler",
        ));
    }
}

fn no_share(scene: &UserLimitContext<'_>, here: &InForce<'_>, report: &mut Report) {
    let Some(block) = here.block else { return };
    let queue = scene.survey.get(scene.position).queue;
    if guarantees(queue) {
        return;
    }
    let own = queue.user_limits.as_deref().map(|own| own.span);
    let message = format!(
        "the users of {} have neither a fair share nor a user cap, because the queue has no \
         guarantee",
        scene.name()
    );
    let warning =
        Diagnostic::warning(Code::UserLimitNoShare, own.unwrap_or(queue.name.span), message);
    let warning = if own.is_none() {
        warning.also(block.span, "the `userlimits` that apply")
    } else {
        warning
    };
    report.push(warning.help("set `resources.guaranteed` or `capacity` for the queue"));
}

/// Compares amounts with the guarantee of the queue by type. Only the first type is reported.
fn amounts(scene: &UserLimitContext<'_>, here: &InForce<'_>, report: &mut Report) {
    let written = here.factor.zip(here.factor.and_then(|text| factor(&text.value)));
    let factor = written.and_then(|(text, factor)| match factor {
        UserFactor::Times(times) => Some((text, times)),
        UserFactor::Off => None,
    });
    if factor.is_none() && here.maximum.is_none() {
        return;
    }
    let guaranteed = scene.guaranteed();
    let some = || guaranteed.iter().filter(|(_, measure)| measure.amount > Quantity::ZERO);
    if let Some((text, times)) = factor {
        loose_part(scene, (text, times), report);
        let loose = some().find_map(|(resource, share)| {
            let room = scene.room(resource)?;
            (of(share, times) > one_of(room)).then_some((resource, share, room))
        });
        if let Some((resource, share, room)) = loose {
            report.push(loose_factor(scene, (text, times), resource, (share, room)));
        }
    }
    if let Some(maximum) = &here.maximum {
        let large = some().find_map(|(resource, share)| {
            let most = maximum.get(resource)?;
            let is_large = i128::from(most.amount.get()) * 4 > i128::from(share.amount.get());
            is_large.then_some((resource, share, most))
        });
        if let Some((resource, share, most)) = large {
            report.push(large_maximum(scene, resource, share, most));
        }
    }
}

/// Compares the factor with the maximum of the queue, if both are fractions of the cluster.
fn loose_part(scene: &UserLimitContext<'_>, (text, times): (&Text, Decimal), report: &mut Report) {
    if scene.of_template.is_some() {
        return;
    }
    let Some((most, least)) = times_guaranteed(scene.survey, scene.position) else { return };
    let one = u128::try_from(Decimal::ONE.millionths()).unwrap_or(1);
    let wanted = u128::try_from(times.millionths()).unwrap_or(0);
    let both = wanted.checked_mul(least).zip(most.checked_mul(one));
    if both.is_none_or(|(user, queue)| user <= queue) {
        return;
    }
    let hundredths = most.saturating_mul(100) / least;
    let message = format!(
        "`userlimitfactor` is {times}: one user of {} can use that many times the guarantee of the \
         queue, but the queue itself at most {}.{:02} times",
        scene.name(),
        hundredths / 100,
        hundredths % 100
    );
    report.push(Diagnostic::warning(Code::UserLimitLoose, text.span, message).help(LESS));
}

/// Advice if one user can use more than the queue.
const LESS: &str = "write a smaller factor, with which later users reach their share sooner, or -1 \
                    if one user can use the whole queue";

/// Returns `times` times an amount, in millionths.
fn of(measure: Measure, times: Decimal) -> i128 {
    i128::from(measure.amount.get()) * i128::from(times.millionths())
}

fn one_of(measure: Measure) -> i128 {
    of(measure, Decimal::ONE)
}

fn loose_factor(
    scene: &UserLimitContext<'_>,
    (text, times): (&Text, Decimal),
    resource: &str,
    (share, room): (Measure, Measure),
) -> Diagnostic {
    let message = format!(
        "`userlimitfactor` is {times}: one user of {} can use that many times {}, but the queue \
         itself at most {}",
        scene.name(),
        show(resource, share.amount),
        show(resource, room.amount)
    );
    Diagnostic::warning(Code::UserLimitLoose, text.span, message)
        .also(share.span, "guaranteed")
        .also(room.span, if scene.is_of_nodes(room) { "all nodes" } else { "the maximum" })
        .help(LESS)
}

fn large_maximum(
    scene: &UserLimitContext<'_>,
    resource: &str,
    share: Measure,
    most: Measure,
) -> Diagnostic {
    let quarter = Quantity::of(share.amount.get() / 4);
    let message = format!(
        "`maximumallocation` is {}, which is more than a quarter of the guarantee of {} of {}",
        show(resource, most.amount),
        show(resource, share.amount),
        scene.name()
    );
    Diagnostic::warning(Code::UserLimitLarge, most.span, message)
        .also(share.span, "guaranteed")
        .help(format!(
            "write {} or less; large asks wait longest, and leave the least for other users",
            exact(resource, quarter)
        ))
}
