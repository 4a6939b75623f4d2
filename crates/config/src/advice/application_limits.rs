//! Advice on limits of applications that were probably not meant. Such limits have no effect, or let a queue use up
//! amounts that it shares with other queues. Source: user-headroom §5.1 and §11.

use std::collections::BTreeMap;

use crate::application_limits::count;
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::raw::{ApplicationLimits, Partition, Text};

use super::capacity::guarantees;
use super::survey::Survey;

pub(super) fn advise(partition: &Partition, survey: &Survey<'_>, report: &mut Report) {
    let of_partition = partition.application_limits.as_deref();
    let of_root = survey.get(0).queue.application_limits.as_deref();
    hidden(of_partition, of_root, report);
    let whole = Counts::default().with(of_partition);
    // A number of the root replaces that of its partition.
    let root = of_root.map_or(whole, |own| whole.replaced(own));
    let everywhere = root.max_parallel;
    loose(of_partition, Counts::default(), root, everywhere, report);
    let mut all: Vec<Counts> = Vec::new();
    let mut nearest: Vec<Option<Written>> = Vec::new();
    let mut fallers = Fallers::default();
    for (position, place) in survey.iter() {
        if report.is_full_of_warnings() {
            break;
        }
        let own = place.queue.application_limits.as_deref();
        let own_max = own.and_then(|block| written(block.max.as_ref()));
        let here = match place.above {
            None => root,
            Some(above) => {
                let name = || format!("queue `{}`", survey.name(position));
                over_parent(own, all[above], name, report);
                all[above].with(own)
            }
        };
        let above = place.above.map_or(whole, |above| all[above]);
        loose(own, above, here, everywhere, report);
        if let Some(template) = &place.queue.template {
            let made = template.application_limits.as_deref();
            let name = || format!("a queue made below `{}`", survey.name(position));
            over_parent(made, here, name, report);
            loose(made, here, here.with(made), everywhere, report);
        }
        let above = place.above.and_then(|above| nearest[above]);
        if !place.is_parent() {
            let guarantees = guarantees(place.queue);
            fallers.note(position, guarantees, above.filter(|_| own_max.is_none()));
        }
        all.push(here);
        nearest.push(if position == 0 { root.max } else { own_max.or(above) });
    }
    fallers.tell(survey, report);
}

/// A number with its place in the file.
#[derive(Clone, Copy)]
struct Written {
    number: u64,
    span: Span,
}

fn written(text: Option<&Text>) -> Option<Written> {
    let text = text?;
    Some(Written { number: count(text)?, span: text.span })
}

/// The smallest numbers on the path to root.
#[derive(Clone, Copy, Default)]
struct Counts {
    max: Option<Written>,
    max_parallel: Option<Written>,
    /// Whether a leaf, and the partition, have a number for each user.
    per_user: bool,
    parallel_per_user: bool,
}

impl Counts {
    fn of(block: &ApplicationLimits) -> Self {
        Self {
            max: written(block.max.as_ref()),
            max_parallel: written(block.max_parallel.as_ref()),
            per_user: block.max_per_user.is_some(),
            parallel_per_user: block.max_parallel_per_user.is_some(),
        }
    }

    /// Returns the numbers below `block`. Without a block, returns the same numbers.
    fn with(self, block: Option<&ApplicationLimits>) -> Self {
        let own = block.map(Self::of).unwrap_or_default();
        let smaller = |own: Option<Written>, above: Option<Written>| {
            own.into_iter().chain(above).min_by_key(|one| one.number)
        };
        Self {
            max: smaller(own.max, self.max),
            max_parallel: smaller(own.max_parallel, self.max_parallel),
            per_user: own.per_user || self.per_user,
            parallel_per_user: own.parallel_per_user || self.parallel_per_user,
        }
    }

    fn replaced(self, block: &ApplicationLimits) -> Self {
        let own = Self::of(block);
        Self {
            max: own.max.or(self.max),
            max_parallel: own.max_parallel.or(self.max_parallel),
            ..self.with(Some(block))
        }
    }
}

/// Reports numbers of a partition that its root queue overrides.
fn hidden(
    partition: Option<&ApplicationLimits>,
    root: Option<&ApplicationLimits>,
    report: &mut Report,
) {
    let Some((partition, root)) = partition.zip(root) else { return };
    let by_user =
        |block: &ApplicationLimits| block.max_parallel_by_user.first().map(|one| one.0.span);
    let span = |text: Option<&Text>| text.map(|text| text.span);
    let counts = partition.counts().into_iter().zip(root.counts());
    let keys = counts.map(|((key, above), (_, own))| (key, span(above), span(own))).chain([
        ("maxparallelappsbyuser", by_user(partition), by_user(root)),
        (
            "maximumdriverresourcepercent",
            span(partition.driver.as_ref()),
            span(root.driver.as_ref()),
        ),
    ]);
    for (key, above, own) in keys {
        let Some((above, own)) = above.zip(own) else { continue };
        let message = format!(
            "`{key}` of the partition has no effect, because the root queue sets its own value"
        );
        let warning =
            Diagnostic::warning(Code::NoEffect, above, message).also(own, "the value that applies");
        report.push(warning.help("remove one of the two settings"));
    }
}

/// Reports numbers of a queue that exceed the numbers of an ancestor.
fn over_parent(
    own: Option<&ApplicationLimits>,
    above: Counts,
    name: impl Fn() -> String,
    report: &mut Report,
) {
    let Some(own) = own.map(Counts::of) else { return };
    for (key, own, above) in [
        ("maximumapplications", own.max, above.max),
        ("maxparallelapps", own.max_parallel, above.max_parallel),
    ] {
        let both = own.zip(above).filter(|(own, above)| own.number > above.number);
        let Some((own, above)) = both else { continue };
        let message = format!(
            "`{key}` of {} is {}, but a queue above allows {}, so the lower number applies",
            name(),
            own.number,
            above.number
        );
        let warning = Diagnostic::warning(Code::ApplicationsOverAbove, own.span, message);
        let help =
            format!("write {} or less, or raise the number of the queue above", above.number);
        report.push(warning.also(above.span, "the lower number").help(help));
    }
}

/// Reports numbers for each user that exceed the number for all users together. Does not report a number that replaces
/// a number of an ancestor, because only such a number can remove the ancestor's number. The same applies to numbers
/// for users by name.
fn loose(
    block: Option<&ApplicationLimits>,
    above: Counts,
    here: Counts,
    everywhere: Option<Written>,
    report: &mut Report,
) {
    let Some(block) = block else { return };
    let mut compare = |key: &str, own: Option<&Text>, all: Option<Written>, does: &str| {
        let both = written(own).zip(all).filter(|(own, all)| own.number > all.number);
        let Some((own, all)) = both else { return };
        let message = format!(
            "`{key}` is {} and has no effect, because all users together {does} at most {}",
            own.number, all.number
        );
        let help = match all.number {
            1 => "remove the key".to_owned(),
            number => format!("write less than {number}, or remove the key"),
        };
        let warning = Diagnostic::warning(Code::ApplicationsLoose, own.span, message);
        report.push(warning.also(all.span, "of all users").help(help));
    };
    if !above.per_user {
        let own = block.max_per_user.as_ref();
        compare("maximumapplicationsperuser", own, here.max, "have");
    }
    if !above.parallel_per_user {
        // A user's applications are counted in the whole partition.
        let own = block.max_parallel_per_user.as_ref();
        compare("maxparallelappsperuser", own, everywhere, "start");
    }
}

/// Leaves without a guarantee and without their own number, by the place of the nearest ancestor's number.
#[derive(Default)]
struct Fallers {
    below: BTreeMap<Span, Below>,
    /// Whether any leaf has a guarantee.
    shares: bool,
}

struct Below {
    /// Number of the ancestor.
    number: u64,
    /// The first of these leaves.
    first: usize,
    leaves: usize,
}

impl Fallers {
    fn note(&mut self, position: usize, guarantees: bool, above: Option<Written>) {
        self.shares |= guarantees;
        if let Some(above) = above.filter(|_| !guarantees) {
            let none = Below { number: above.number, first: position, leaves: 0 };
            self.below.entry(above.span).or_insert(none).leaves += 1;
        }
    }

    /// Reports these leaves only if some leaf has a guarantee. Otherwise, the file does not divide the capacity.
    fn tell(self, survey: &Survey<'_>, report: &mut Report) {
        for (span, below) in self.below.into_iter().filter(|_| self.shares) {
            let more = match below.leaves {
                1 => String::new(),
                2 => " (and one more queue)".to_owned(),
                more => format!(" (and {} more queues)", more - 1),
            };
            let message = format!(
                "queue `{}`{more} has neither a guarantee nor `maximumapplications`, so the queue \
                 can use all {} applications that a queue above allows",
                survey.name(below.first),
                below.number
            );
            let place = survey.get(below.first).queue.name.span;
            let warning = Diagnostic::warning(Code::ApplicationsNoShare, place, message);
            report.push(
                warning
                    .also(span, "the number of the queue above")
                    .help("set `maximumapplications` or `resources.guaranteed` for the queue"),
            );
        }
    }
}
