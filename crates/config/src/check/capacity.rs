//! Checks each block `capacity`, and the blocks of siblings together. User headroom §4.

mod label;

use headroom_core::userlimit::Decimal;

use crate::capacity::{MODES, Mode, mode, percent, weight};
use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report, Span};
use crate::raw::{Capacity, Queue, Text};
use crate::vector::Vector;

/// Largest difference of the sum of siblings' percentages to 100, in millionths of a percent.
const TOLERANCE: i64 = 100_000;

/// Checks the blocks of a queue, its template, and its children.
pub(super) fn check_queue(queue: &Queue, is_root: bool, report: &mut Report) {
    if let Some(block) = &queue.capacity {
        if is_root {
            let message = "the root queue must not have a `capacity`";
            let fault = Diagnostic::error(Code::CapacityRoot, block.span, message)
                .help("remove `capacity`; the capacity of root is the sum of the nodes");
            report.push(fault);
        } else {
            check_block(block, &format!("queue `{}`", queue.name.value), report);
            computed_alone(queue, block, report);
        }
    }
    check_template(queue, report);
    check_siblings(queue, report);
    label::check_queue(queue, is_root, report);
    has_something(queue, is_root, report);
}

fn check_block(block: &Capacity, name: &str, report: &mut Report) {
    let Some(mode) = mode(block) else {
        report.push(no_mode(block, name));
        return;
    };
    if mode == Mode::Absolute {
        let written = [("value", &block.value), ("maximum", &block.maximum)];
        for (key, text) in written.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?)))
        {
            let amounts = if key == "value" { "guaranteed" } else { "max" };
            let message =
                format!("`capacity` of {name} has `mode: absolute`, but also sets `{key}`");
            let fault = Diagnostic::error(Code::CapacityAbsolute, text.span, message);
            report.push(fault.help(format!(
                "set the amounts in `resources.{amounts}` and remove `{key}`, or use another mode"
            )));
        }
        return;
    }
    check_value(block, mode, name, report);
    let Some(text) = &block.maximum else { return };
    let Some(maximum) = percent(text) else {
        let message = format!(
            "`maximum` of {name} is {}, but it must be a number from 0 to 100, with up to six \
             decimals",
            text.value
        );
        let fault = Diagnostic::error(Code::CapacityMaximum, text.span, message);
        report.push(fault.help(
            "write a percentage of the maximum of the parent, or remove `maximum` for 100 percent",
        ));
        return;
    };
    let value = block.value.as_ref().filter(|_| mode == Mode::Percent);
    let value = value.and_then(|text| Some((text, percent(text)?)));
    if let Some((least, value)) = value.filter(|(_, value)| *value > maximum) {
        let message = format!(
            "{name} has a guarantee of {value} percent, but a maximum of {maximum} percent"
        );
        let fault = Diagnostic::error(Code::CapacityOverMaximum, text.span, message)
            .label("too little")
            .also(least.span, "guaranteed")
            .help(format!("set `maximum` to {value} or more, or lower `value`"));
        report.push(fault);
    }
}

fn no_mode(block: &Capacity, name: &str) -> Diagnostic {
    let (span, message) = match &block.mode {
        Some(text) => {
            (text.span, format!("`mode` of {name} is `{}`, which is not a mode", text.value))
        }
        None => (block.span, format!("`capacity` of {name} has no `mode`")),
    };
    let [first, second, third] = MODES.map(|(word, _)| word);
    Diagnostic::error(Code::CapacityMode, span, message)
        .help(format!("set `mode` to `{first}`, `{second}` or `{third}`"))
}

fn check_value(block: &Capacity, mode: Mode, name: &str, report: &mut Report) {
    let (bounds, help) = match mode {
        Mode::Percent => ("0 to 100", "set `value` to a percentage of the guarantee of the parent"),
        _ => (
            "0 to 10000",
            "set `value` to a weight, such as 2 for twice the fraction of a sibling with 1",
        ),
    };
    let (span, found) = match &block.value {
        None => (block.span, "is missing".to_owned()),
        Some(text) => {
            let is_legal = if mode == Mode::Percent { percent(text) } else { weight(text) };
            if is_legal.is_some() {
                return;
            }
            (text.span, format!("is {}", text.value))
        }
    };
    let message = format!(
        "`value` of {name} {found}, but it must be a number from {bounds}, with up to six decimals"
    );
    report.push(Diagnostic::error(Code::CapacityValue, span, message).help(help));
}

/// Checks that a computed guarantee is not set explicitly too.
fn computed_alone(queue: &Queue, block: &Capacity, report: &mut Report) {
    let written = queue.resources.guaranteed.as_ref().filter(|pairs| !pairs.value.is_empty());
    let Some((pairs, mode)) = written.zip(mode(block)).filter(|(_, mode)| *mode != Mode::Absolute)
    else {
        return;
    };
    let message = format!(
        "queue `{}`: `resources.guaranteed` and a `capacity` by {} both set the guarantee",
        queue.name.value,
        mode.word()
    );
    let fault = Diagnostic::error(Code::CapacityGuaranteed, pairs.span, message)
        .also(block.span, "the capacity")
        .help("remove one of the two, or set `mode: absolute` to use the amounts");
    report.push(fault);
}

/// Checks that the template has a weight. The number of created leaves is unknown, so percentages cannot add up.
fn check_template(queue: &Queue, report: &mut Report) {
    let template = queue.template.as_deref();
    let Some((template, block)) =
        template.and_then(|template| Some((template, template.capacity.as_deref()?)))
    else {
        return;
    };
    let name = format!("the template of queue `{}`", queue.name.value);
    let found = mode(block);
    if found.is_none_or(|mode| mode == Mode::Weight) {
        check_block(block, &name, report);
    } else {
        let text = block.mode.as_ref().map_or(block.span, |text| text.span);
        let message = format!("`capacity` of {name} must have `mode: weight`");
        let fault = Diagnostic::error(Code::CapacityTemplate, text, message);
        report.push(fault.help(
            "set `mode: weight`, or remove `capacity` and set amounts in `resources`; other modes \
             need a known number of queues",
        ));
    }
    let pairs = template.resources.guaranteed.as_ref().filter(|pairs| !pairs.value.is_empty());
    if let Some(pairs) = pairs.filter(|_| found == Some(Mode::Weight)) {
        let message = format!(
            "{name}: `resources.guaranteed` and a `capacity` by weight both set the guarantee"
        );
        let fault = Diagnostic::error(Code::CapacityGuaranteed, pairs.span, message)
            .also(block.span, "the capacity")
            .help("remove one of the two settings");
        report.push(fault);
    }
}

/// Checks that all siblings have one mode, and that percentages add up. Created queues count as siblings.
fn check_siblings(parent: &Queue, report: &mut Report) {
    let of_template = parent
        .template
        .as_deref()
        .and_then(|template| template.capacity.as_deref())
        .and_then(|block| (mode(block)? == Mode::Weight).then_some((block.span, Mode::Weight)));
    let blocks = || parent.children.iter().filter_map(|child| child.capacity.as_deref());
    let first = blocks().find_map(|block| Some((block.span, mode(block)?)));
    let Some((span, first)) = first.or(of_template) else { return };
    for child in &parent.children {
        let (place, found) = match &child.capacity {
            None => (child.name.span, "has no `capacity`".to_owned()),
            Some(block) => match mode(block).filter(|mode| *mode != first) {
                Some(mode) => (block.span, format!("has a `capacity` by {}", mode.word())),
                None => continue,
            },
        };
        let message = format!(
            "queue `{}` {found}, but a sibling has a `capacity` by {}",
            child.name.value,
            first.word()
        );
        let fault = Diagnostic::error(Code::CapacitySiblings, place, message)
            .also(span, "the sibling")
            .help(
                "set the same `mode` in `capacity` of the queue and all its siblings, or remove \
                 `capacity` from all of them",
            );
        report.push(fault);
    }
    if let Some((place, _)) = of_template.filter(|_| first != Mode::Weight) {
        let message = format!(
            "the template of queue `{}` has a `capacity` by weight, but child queues have a \
             `capacity` by {}",
            parent.name.value,
            first.word()
        );
        let fault = Diagnostic::error(Code::CapacitySiblings, place, message)
            .also(span, "one of them")
            .help("set `mode: weight` in the child queues, or remove `capacity` from the template");
        report.push(fault);
    }
    if first == Mode::Percent {
        check_sum(parent, span, report);
    }
}

fn check_sum(parent: &Queue, first: Span, report: &mut Report) {
    let mut values: Vec<&Text> = Vec::new();
    for child in &parent.children {
        let block = child.capacity.as_deref().filter(|block| mode(block) == Some(Mode::Percent));
        // An invalid percentage is already reported, and the sum is unknown then.
        let Some(text) = block.and_then(|block| block.value.as_ref()) else { return };
        values.push(text);
    }
    let message = |sum| {
        format!(
            "the percentages of the queues below `{}` add up to {sum}, but they must add up to 100",
            parent.name.value
        )
    };
    is_whole(&values, first, message, report);
}

/// Checks that percentages add up to 100.
fn is_whole(
    values: &[&Text],
    first: Span,
    message: impl Fn(Decimal) -> String,
    report: &mut Report,
) {
    let Some(all) = values.iter().map(|text| percent(text)).collect::<Option<Vec<Decimal>>>()
    else {
        return;
    };
    let sum = all.into_iter().fold(Decimal::ZERO, Decimal::plus);
    let is_whole = (sum.millionths() - Decimal::HUNDRED.millionths()).abs() <= TOLERANCE;
    // Zeros everywhere are intended: there are no guarantees, and all siblings can use everything.
    if is_whole || sum == Decimal::ZERO {
        return;
    }
    let mut fault = Diagnostic::error(Code::CapacitySum, first, message(sum))
        .help("correct the percentages, or set `mode: weight`, which allows any numbers");
    for text in values.iter().take(3) {
        fault = fault.also(text.span, format!("{} here", text.value));
    }
    report.push(fault);
}

/// Checks that the parent has a guarantee, because a fraction of nothing is nothing.
fn has_something(parent: &Queue, is_root: bool, report: &mut Report) {
    let guaranteed = || Vector::of(parent.resources.guaranteed.as_ref());
    if is_root || parent.capacity.is_some() || !guaranteed().is_zero() {
        return;
    }
    let part = |block: &&Capacity| mode(block).is_some_and(|mode| mode != Mode::Absolute);
    let blocks = parent.children.iter().filter_map(|child| child.capacity.as_deref());
    let Some(block) = blocks.into_iter().find(part) else { return };
    let message = format!(
        "queue `{}` has no guarantee, so its child queues cannot have fractions of a guarantee",
        parent.name.value
    );
    let fault = Diagnostic::error(Code::CapacityOfNothing, block.span, message)
        .also(parent.name.span, "the queue above")
        .help("set `capacity` or `resources.guaranteed` for the queue above");
    report.push(fault);
}
