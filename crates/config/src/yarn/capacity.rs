//! Guarantees and maxima of queues: percentages, weights, and amounts.

use headroom_core::config::legal;

use super::label::Labels;
use super::note::Kind;
use super::number::{self, Amounts, Number};
use super::properties::Property;
use super::scope::Scope;
use super::tree::{Node, Tree};
use super::write::Pairs;

/// Guarantee of a queue.
enum Part {
    Percent(Number),
    Weight(Number),
    Absolute(Amounts),
    Absent,
    /// A value that a queue file cannot express.
    Other(String),
}

/// Unit of the guarantees of the child queues of a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Percent,
    Weight,
    Absolute,
    /// No child has a setting, or the queue has no children.
    Silent,
    /// Several units, or a unit that a queue file cannot express.
    Lost,
}

const LOST: &str = "set `capacity` for this queue and all its siblings";

/// The keys `capacity` and `resources` of a queue.
#[derive(Default)]
pub(super) struct Written {
    pub(super) capacity: Pairs,
    pub(super) resources: Pairs,
}

/// Returns the unit of the guarantees of the children of `parent`.
pub(super) fn mode_below(whole: &Scope<'_>, tree: &Tree, parent: &Node) -> Mode {
    let mut mode = Mode::Silent;
    for child in &parent.children {
        let found = match part(&whole.queue(&tree.nodes[*child].path)) {
            Part::Percent(_) => Mode::Percent,
            Part::Weight(_) => Mode::Weight,
            Part::Absolute(_) => Mode::Absolute,
            Part::Other(..) => Mode::Lost,
            Part::Absent => continue,
        };
        if mode == Mode::Silent {
            mode = found;
        } else if mode != found {
            return Mode::Lost;
        }
    }
    mode
}

fn part(scope: &Scope<'_>) -> Part {
    let Some(property) = scope.get("capacity") else { return Part::Absent };
    let text = &property.value;
    if let Some(found) = number::absolute(text) {
        return match found {
            Ok(amounts) => Part::Absolute(amounts),
            Err(why) => Part::Other(why),
        };
    }
    let weight = text.strip_suffix('w');
    let number = Number::read(weight.unwrap_or(text));
    let most = if weight.is_some() { 10_000 } else { 100 };
    let legal = number.filter(|number| {
        let most = headroom_core::userlimit::Decimal::whole(most);
        number.decimal().is_some_and(|decimal| decimal <= most)
    });
    match (legal, weight) {
        (Some(number), None) => Part::Percent(number),
        (Some(number), Some(_)) => Part::Weight(number),
        (None, None) => Part::Other("the value is not a percentage from 0 to 100".to_owned()),
        (None, Some(_)) => Part::Other("the value is not a weight from 0w to 10000w".to_owned()),
    }
}

/// Returns the guarantee and the maximum of a queue.
pub(super) fn of_queue(scope: &Scope<'_>, mode: Mode, labels: &Labels) -> Written {
    let mut written = Written::default();
    let part = part(scope);
    if let (Part::Percent(number) | Part::Weight(number), Some(property)) =
        (&part, scope.get("capacity"))
        && number.is_rounded
    {
        let why = format!("the value has more than six decimals and is written as {number}");
        scope.tell(Kind::Adjusted, property, &why, "");
    }
    let nothing = |word: &str| {
        scope.tell_absent(
            &scope.full("capacity"),
            "no file sets this property, so the queue has no guarantee",
            &format!("if the queue has {word} to the queue file"),
        );
    };
    let mut share = |word: &str, value: &str| {
        written.capacity.push("mode", word);
        written.capacity.push("value", value);
    };
    match (mode, part) {
        (Mode::Percent, Part::Percent(number)) => share("percent", &number.to_string()),
        (Mode::Weight, Part::Weight(number)) => share("weight", &number.to_string()),
        (Mode::Absolute, Part::Absolute(amounts)) => {
            written.capacity.push("mode", "absolute");
            let mut amounts = known_types(scope, "capacity", amounts);
            amounts.extend(labels.guaranteed.iter().cloned());
            written.resources.push_amounts("guaranteed", &amounts);
        }
        (Mode::Absolute, Part::Absent) => {
            written.capacity.push("mode", "absolute");
            written.resources.push_amounts("guaranteed", &labels.guaranteed);
            nothing("amounts, add these amounts");
        }
        (Mode::Percent | Mode::Silent, _) => {
            share("percent", "0");
            nothing("a percentage, add this percentage");
        }
        (Mode::Weight, _) => {
            share("weight", "0");
            nothing("a weight, add this weight");
        }
        (Mode::Lost | Mode::Absolute, part) => {
            share("weight", "0");
            lost(scope, part);
        }
    }
    let mut max = maximum(scope, mode, &mut written).unwrap_or_default();
    max.extend(labels.max.iter().cloned());
    written.resources.push_amounts("max", &max);
    written
}

fn lost(scope: &Scope<'_>, part: Part) {
    let why = match part {
        Part::Other(why) => format!("{why}, so the queue has no guarantee"),
        Part::Absent => {
            let why = "the siblings of the queue mix percentages, weights, and amounts, or have a \
                       value that cannot be converted, so the queue has no guarantee";
            scope.tell_absent(&scope.full("capacity"), why, LOST);
            return;
        }
        Part::Percent(_) | Part::Weight(_) | Part::Absolute(_) => {
            "the siblings of the queue mix percentages, weights, and amounts, or have a value that \
             cannot be converted, so the queue has no guarantee"
                .to_owned()
        }
    };
    if let Some(property) = scope.get("capacity") {
        scope.tell(Kind::NoEquivalent, property, &why, LOST);
    }
}

/// Returns the maximum of a queue: in percent of its parent, or as amounts.
fn maximum(scope: &Scope<'_>, mode: Mode, written: &mut Written) -> Option<Amounts> {
    let property = scope.get("maximum-capacity")?;
    match number::absolute(&property.value) {
        Some(Ok(amounts)) => return Some(known_types(scope, "maximum-capacity", amounts)),
        Some(Err(why)) => {
            scope.tell(Kind::NoEquivalent, property, &why, "set `resources.max`");
            return None;
        }
        None => {}
    }
    let (property, number) = scope.number("maximum-capacity")?;
    // A negative value counts as absent, and 100 is the default.
    if number.is_negative || number.to_string() == "100" {
        return None;
    }
    if mode == Mode::Absolute {
        let why = "the capacity of the queue is an amount, so its maximum must be an amount too";
        scope.tell(Kind::NoEquivalent, property, why, "set `resources.max`");
    } else {
        written.capacity.push("maximum", number.to_string());
    }
    None
}

/// Returns the amounts that a queue file accepts. Zeros are omitted, because they have no effect in YARN either.
fn known_types(scope: &Scope<'_>, name: &str, amounts: Amounts) -> Amounts {
    let Some(property) = scope.get(name) else { return amounts };
    let mut known = Amounts::new();
    for (kind, amount) in amounts {
        if amount.starts_with(|one: char| one != '0') {
            if !matches!(kind.as_str(), "memory" | "vcore") {
                let why =
                    format!("the resource type {kind} must have the name that nodes and asks use");
                let help =
                    "compare the name of the type with the names that your resource manager sends";
                scope.tell(Kind::Adjusted, property, &why, help);
            }
            known.push((kind, amount));
        }
    }
    known
}

/// Returns whether the value is all of a resource, which is true for root.
pub(super) fn is_of_root(property: &Property) -> bool {
    let number = Number::read(property.value.trim_end_matches('w'));
    let is_whole = number.is_some_and(|number| number.is_negative || number.to_string() == "100");
    is_whole || property.value.ends_with('w')
}

/// Reports settings of root, which has the total of the nodes.
pub(super) fn of_root(scope: &Scope<'_>) {
    for name in ["capacity", "maximum-capacity"] {
        let Some(property) = scope.get(name) else { continue };
        if !is_of_root(property) {
            let why = "the capacity of root is the sum of the nodes, and cannot be set";
            scope.tell(Kind::NoEquivalent, property, why, "limit the queues below root");
        }
    }
}

/// Returns the weight of created queues, if their siblings have weights too, and their maximum from `largest`.
pub(super) fn of_template(
    scope: &Scope<'_>,
    largest: &Scope<'_>,
    mode: Mode,
    otherwise: Option<&str>,
) -> Pairs {
    let mut pairs = weight_of_template(scope, mode, otherwise);
    let Some(property) = largest.get("maximum-capacity") else { return pairs };
    let number = match number::absolute(&property.value) {
        Some(_) => None,
        None => largest.number("maximum-capacity").map(|(_, number)| number),
    };
    match number {
        // A negative value counts as absent, and 100 is the default.
        Some(number) if number.is_negative || number.to_string() == "100" => {}
        Some(number) if !pairs.is_empty() => pairs.push("maximum", number.to_string()),
        Some(_) => {
            let why = "a template can have a maximum in percent only together with a weight";
            let help = "set `capacity: {mode: weight, value: 1, maximum: …}` or `resources.max` in \
                        the template";
            largest.tell(Kind::NoEquivalent, property, why, help);
        }
        None if property.value.starts_with('[') => {
            let why = "amounts of a template are not converted";
            let help = "set `resources.max` in the template";
            largest.tell(Kind::NoEquivalent, property, why, help);
        }
        None => {}
    }
    pairs
}

fn weight_of_template(scope: &Scope<'_>, mode: Mode, otherwise: Option<&str>) -> Pairs {
    let mut pairs = Pairs::default();
    let beside_weights = matches!(mode, Mode::Weight | Mode::Silent);
    let value = match part(scope) {
        Part::Weight(number) if beside_weights => number.to_string(),
        Part::Absent if beside_weights => match otherwise {
            Some(value) => value.to_owned(),
            None => return pairs,
        },
        Part::Absent => return pairs,
        Part::Percent(_) | Part::Weight(_) | Part::Absolute(_) | Part::Other(..) => {
            if let Some(property) = scope.get("capacity") {
                let why = "the capacity of created queues must be a weight, and their siblings must \
                           have weights too";
                let help = "set weights in the siblings, and `capacity: {mode: weight, value: 1}` \
                            in the template";
                scope.tell(Kind::NoEquivalent, property, why, help);
            }
            return pairs;
        }
    };
    pairs.push("mode", "weight");
    pairs.push("value", value);
    pairs
}

/// Returns whether a queue file can have this user name.
pub(super) fn is_user(name: &str) -> bool {
    legal::is_user_name(name)
}
