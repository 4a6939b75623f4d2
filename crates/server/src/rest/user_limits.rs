//! User limits of a leaf, and simulations with other numbers. Not part of the reference.

use std::collections::BTreeMap;
use std::fmt;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use headroom_api::wsv1::{
    Resources, SimulatedUser, UserLimitAmong, UserLimitCalculator, UserLimitEnforcement,
    UserLimitFormula, UserLimits, UserLimitsSimulation,
};
use headroom_config::user_limits::{FACTOR, PERCENT, WEIGHT, factor, percent, weight};
use headroom_core::Name;
use headroom_core::config::UserLimitsConfig;
use headroom_core::config::legal::is_user_name;
use headroom_core::id::QueueId;
use headroom_core::resource::{Amounts, Quantity};
use headroom_core::userlimit::{Calculator, Enforcement, Formula};
use headroom_core::view::{SimulatedUser as User, Simulation, SimulationView, UserLimitsView};
use serde_json::Value;

use crate::convert::user_limits::{simulated, user_limits};

use super::refusal::{Answer, Refusal};
use super::request::{RestRequest, Seen, check_queue_path};
use super::visible::Extent;

/// Largest size of a simulation, in bytes.
const BODY_BYTES_MAX: usize = 256 << 10;
/// Maximum number of users of a simulation.
const USERS_MAX: usize = 500;
/// Maximum number of resource types in an amount of a simulation.
const TYPES_MAX: usize = 32;
/// Maximum number of characters of the input that a message shows.
const SHOWN_MAX: usize = 60;
/// Units of amounts, for messages.
const UNITS: &str = "bytes of memory, thousandths of a core of vcore, and counts of other types";

pub(crate) async fn get_user_limits(asked: RestRequest) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let path = asked.decoded("queue");
    let look = move |seen: &Seen| {
        let queue = find(seen, &partition, path)?;
        let view = UserLimitsView::of(seen.books(), queue);
        let sees = sees(seen, queue);
        Ok(view.map_or_else(|| none(seen, queue), |view| user_limits(&view, sees)))
    };
    asked.object(look).await
}

pub(crate) async fn simulate_user_limits(
    asked: RestRequest,
    body: Result<Bytes, BytesRejection>,
) -> Answer {
    let partition = asked.parameter("partition").to_owned();
    let path = asked.decoded("queue");
    let look = move |seen: &Seen| {
        let queue = find(seen, &partition, path)?;
        if seen.sight.extent(seen.books(), queue) < Extent::Figures {
            // The caller sees the name of the queue but no figures, and a simulation would reveal them.
            return Err(Refusal::no_queue());
        }
        let simulation = simulation(&read(body)?)?;
        let found = SimulationView::of(seen.books(), queue, &simulation, &sees(seen, queue));
        found.map(|view| simulated(&view)).map_err(|error| Refusal::bad(error.to_string()))
    };
    asked.object(look).await
}

fn find(seen: &Seen, partition: &str, path: Result<String, Refusal>) -> Result<QueueId, Refusal> {
    let partition = seen.partition(partition)?;
    let path = path?;
    check_queue_path(&path)?;
    seen.queue(partition, &path)
}

/// Returns which users of a queue the caller sees. A caller who sees the whole queue sees all its users.
fn sees(seen: &Seen, queue: QueueId) -> impl Fn(&str) -> bool {
    let all = seen.sight.extent(seen.books(), queue) == Extent::All;
    move |user| all || seen.sight.sees_user(user)
}

/// Returns the answer for a queue whose users have no shares, with the reason and the setting that is needed.
fn none(seen: &Seen, queue: QueueId) -> UserLimits {
    let books = seen.books();
    let row = books.queue(queue);
    let path = &row.path;
    let reason = if !row.leaf {
        format!(
            "{path} is a parent queue, but users share only leaves. Request a leaf below this \
             queue."
        )
    } else if row.settings.user_limits.is_some() {
        format!(
            "{path} contains recovered applications without a queue, so its users have no shares"
        )
    } else {
        format!(
            "no `userlimits` apply to {path}, so only `limits` apply to its users. To share the \
             queue among its users, set `userlimits: {{}}` for this queue, for a queue above, or \
             for the partition."
        )
    };
    UserLimits {
        queue_path: path.to_string(),
        partition: books.partition(row.partition).name.to_string(),
        reason,
        ..UserLimits::default()
    }
}

/// Parses the body as strictly as a queue file.
fn read(body: Result<Bytes, BytesRejection>) -> Result<UserLimitsSimulation, Refusal> {
    let too_large = || {
        let why = format!(
            "the body is larger than {BODY_BYTES_MAX} bytes, which is the limit of a simulation"
        );
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
    };
    let bytes = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        _ => Refusal::bad(error.body_text()),
    })?;
    if bytes.len() > BODY_BYTES_MAX {
        return Err(too_large());
    }
    match bytes.trim_ascii_start().first() {
        None => {
            return Err(Refusal::bad(
                "the body is empty. Send `{}` to keep all values of the queue.",
            ));
        }
        // A list would be parsed as the fields of an object in their order.
        Some(b'[') => {
            return Err(Refusal::bad("the body begins with `[`, but it must be an object: `{…}`"));
        }
        Some(_) => {}
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        let whole = serde_json::from_slice::<Value>(&bytes).ok();
        let wrong = whole.as_ref().and_then(wrong_number);
        Refusal::bad(wrong.unwrap_or_else(|| format!("the body: {error}")))
    })
}

/// Returns the first field of a body with a number of the wrong kind, and the allowed values.
fn wrong_number(body: &Value) -> Option<String> {
    const AMOUNTS: [&str; 7] = ["total", "Q", "Qmax", "U", "r", "step", "increment"];
    const NUMBERS: [(&str, &str); 2] = [("p", PERCENT), ("f", FACTOR)];
    let users = body.get("users").and_then(Value::as_array).into_iter().flatten();
    let of_users = users.enumerate().find_map(|(place, user)| {
        let below = |name: &str| format!("users[{place}].{name}");
        ["used", "r"]
            .iter()
            .find_map(|name| wrong_amount(user.get(name), &below(name)))
            .or_else(|| wrong_decimal(user.get("weight"), &below("weight"), WEIGHT))
    });
    let amounts = || AMOUNTS.iter().find_map(|name| wrong_amount(body.get(name), name));
    let numbers =
        || NUMBERS.iter().find_map(|(name, rule)| wrong_decimal(body.get(name), name, rule));
    of_users.or_else(amounts).or_else(numbers)
}

fn wrong_amount(of: Option<&Value>, field: &str) -> Option<String> {
    let (name, amount) = of?.as_object()?.iter().find(|(_, amount)| !amount.is_i64())?;
    Some(format!(
        "`{field}` has {} of {:?}, but an amount must be a whole number from 0 to {}, without exponent and unit: {UNITS}",
        shown(&amount.to_string()),
        shown(name),
        i64::MAX
    ))
}

fn wrong_decimal(of: Option<&Value>, field: &str, rule: &str) -> Option<String> {
    let number = of.filter(|number| !number.is_number() && !number.is_null())?;
    Some(format!("`{field}` is {}, which is not a number; {rule}", shown(&number.to_string())))
}

/// Returns the input, shortened for a message.
fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN_MAX).collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        short.push('…');
    }
    short
}

fn simulation(from: &UserLimitsSimulation) -> Result<Simulation, Refusal> {
    let users = from.users.as_ref();
    if let Some(count) = users.map(Vec::len).filter(|count| *count > USERS_MAX) {
        return Err(Refusal::bad(format!(
            "`users` has {count} entries, but at most {USERS_MAX} are allowed. Merge users with equal values."
        )));
    }
    each_once(users.map_or(&[], Vec::as_slice))?;
    let users = users.map(|all| all.iter().enumerate().map(user).collect::<Result<Vec<_>, _>>());
    let rules = UserLimitsConfig {
        formula: from.formula.map(formula),
        enforcement: from.enforcement.map(enforcement),
        calculator: from.calculator.map(calculator),
        floor: from.p.map(|p| decimal("p", p, percent, PERCENT)).transpose()?,
        factor: from.f.map(|f| decimal("f", f, factor, FACTOR)).transpose()?,
        minimum_allocation: size("step", from.step.as_ref())?,
        increment: size("increment", from.increment.as_ref())?,
        ..UserLimitsConfig::default()
    };
    Ok(Simulation {
        total: amounts("total", from.total.as_ref())?,
        guaranteed: amounts("Q", from.guaranteed.as_ref())?,
        max: amounts("Qmax", from.max.as_ref())?,
        used: amounts("U", from.used.as_ref())?,
        users: users.transpose()?,
        ask: amounts("r", from.r.as_ref())?,
        rules,
        among_all: from.among == Some(UserLimitAmong::All),
    })
}

/// Checks that each user occurs once. Two entries with the same name would count as two users.
fn each_once(users: &[SimulatedUser]) -> Result<(), Refusal> {
    let mut places = BTreeMap::new();
    for (place, one) in users.iter().enumerate() {
        if let Some(earlier) = places.insert(one.user.as_str(), place) {
            return Err(Refusal::bad(format!(
                "`users[{place}].user` is {:?}, like `users[{earlier}].user`, but each user can occur only once. Add up \
                 their usage.",
                one.user
            )));
        }
    }
    Ok(())
}

fn user((place, from): (usize, &SimulatedUser)) -> Result<User, Refusal> {
    let field = |name: &str| format!("users[{place}].{name}");
    if !is_user_name(&from.user) {
        return Err(Refusal::bad(format!(
            "`{}` is {:?}, but a user name must begin with a letter or _ and continue with letters, digits, and : # / _ . @ -",
            field("user"),
            from.user
        )));
    }
    let of_weight = |number| decimal(field("weight"), number, weight, WEIGHT);
    Ok(User {
        name: Name::new(&from.user),
        used: amounts(field("used"), Some(&from.used))?.unwrap_or_default(),
        weight: from.weight.map(of_weight).transpose()?,
        active: from.active.unwrap_or(true),
        ask: amounts(field("r"), from.r.as_ref())?,
    })
}

/// Parses a number by the rule of the queue file.
fn decimal<T>(
    field: impl fmt::Display,
    number: f64,
    read: impl Fn(&str) -> Option<T>,
    rule: &str,
) -> Result<T, Refusal> {
    read(&number.to_string()).ok_or_else(|| Refusal::bad(format!("`{field}` is {number}; {rule}")))
}

fn amounts(field: impl fmt::Display, from: Option<&Resources>) -> Result<Option<Amounts>, Refusal> {
    let Some(Resources(from)) = from else { return Ok(None) };
    if from.len() > TYPES_MAX {
        return Err(Refusal::bad(format!(
            "`{field}` names {} resource types, but at most {TYPES_MAX} are allowed",
            from.len()
        )));
    }
    let amount = |(name, amount): (&String, &i64)| {
        if name.is_empty() || *amount < 0 {
            let why = format!(
                "`{field}` has {amount} of {name:?}, but an amount must be 0 or more, of a type with a name: {UNITS}"
            );
            return Err(Refusal::bad(why));
        }
        Ok((Name::new(name), Quantity::of(*amount)))
    };
    from.iter().map(amount).collect::<Result<Amounts, _>>().map(Some)
}

/// Parses an amount for rounding. As in the queue file, the amount must be above zero for each type.
fn size(field: &str, from: Option<&Resources>) -> Result<Option<Amounts>, Refusal> {
    let sizes = amounts(field, from)?;
    let zero = sizes.iter().flat_map(Amounts::iter).find(|(_, amount)| *amount == Quantity::ZERO);
    match zero {
        Some((name, _)) => Err(Refusal::bad(format!(
            "`{field}` has 0 of {name}, but the amount must be above 0. Set more, or omit {name}."
        ))),
        None => Ok(sizes),
    }
}

fn formula(from: UserLimitFormula) -> Formula {
    match from {
        UserLimitFormula::Smooth => Formula::Smooth,
        UserLimitFormula::Yarn3 => Formula::Yarn3,
        UserLimitFormula::Yarn27 => Formula::Yarn27,
    }
}

fn enforcement(from: UserLimitEnforcement) -> Enforcement {
    match from {
        UserLimitEnforcement::Progress => Enforcement::Progress,
        UserLimitEnforcement::Strict => Enforcement::Strict,
        UserLimitEnforcement::Overshoot => Enforcement::Overshoot,
    }
}

fn calculator(from: UserLimitCalculator) -> Calculator {
    match from {
        UserLimitCalculator::Componentwise => Calculator::Componentwise,
        UserLimitCalculator::Dominant => Calculator::Dominant,
        UserLimitCalculator::Memory => Calculator::Memory,
    }
}
