//! User limits of a leaf, and their simulation.

use headroom_api::wsv1::{
    Admitted, OtherUsers, SimulatedLimit, SimulatedLimits, UserLimit, UserLimitAmong,
    UserLimitCalculator, UserLimitEnforcement, UserLimitFormula, UserLimitInputs, UserLimits,
};
use headroom_core::userlimit::{Calculator, Decimal, Enforcement, Formula};
use headroom_core::view::{
    LeafView, RulesView, SimulatedLimitView, SimulationView, UserLimitView, UserLimitsView,
};

use super::value::resources;

/// Returns a leaf with user limits, for a caller who sees these users.
pub(crate) fn user_limits(view: &UserLimitsView, sees: impl Fn(&str) -> bool) -> UserLimits {
    let (seen, hidden): (Vec<&UserLimitView>, Vec<&UserLimitView>) =
        view.users.iter().partition(|user| sees(&user.user));
    UserLimits {
        queue_path: view.path.to_string(),
        partition: view.partition.to_string(),
        enabled: true,
        reason: String::new(),
        inputs: Some(inputs(&view.rules, &view.leaf)),
        users: seen.into_iter().map(user).collect(),
        others: (!hidden.is_empty()).then(|| others(&hidden)),
    }
}

fn inputs(rules: &RulesView, leaf: &LeafView) -> UserLimitInputs {
    UserLimitInputs {
        guaranteed: resources(&leaf.guaranteed),
        max: resources(&leaf.max),
        used: resources(&leaf.used),
        used_active: resources(&leaf.used_active),
        used_inactive: resources(&leaf.used_inactive),
        weight: number(leaf.active_weight),
        active_users: leaf.active,
        p: number(rules.floor),
        f: rules.factor.map_or(-1.0, number),
        formula: match rules.formula {
            Formula::Smooth => UserLimitFormula::Smooth,
            Formula::Yarn3 => UserLimitFormula::Yarn3,
            Formula::Yarn27 => UserLimitFormula::Yarn27,
        },
        enforcement: match rules.enforcement {
            Enforcement::Progress => UserLimitEnforcement::Progress,
            Enforcement::Strict => UserLimitEnforcement::Strict,
            Enforcement::Overshoot => UserLimitEnforcement::Overshoot,
        },
        calculator: match rules.calculator {
            Calculator::Componentwise => UserLimitCalculator::Componentwise,
            Calculator::Dominant => UserLimitCalculator::Dominant,
            Calculator::Memory => UserLimitCalculator::Memory,
        },
        total: resources(&leaf.total),
        step: resources(&rules.step),
        increment: resources(&rules.increment),
        maximum_allocation: resources(&rules.largest),
    }
}

fn user(view: &UserLimitView) -> UserLimit {
    let by_type = view.limited_by_type.iter();
    UserLimit {
        user: view.user.to_string(),
        soft_share: resources(&view.soft),
        hard_cap: resources(&view.hard),
        limit: resources(&view.limit),
        used: resources(&view.used),
        headroom: resources(&view.headroom),
        limited_by: view.limited_by.as_ref().map(ToString::to_string).unwrap_or_default(),
        limited_by_type: by_type.map(|(name, by)| (name.to_string(), by.to_string())).collect(),
        active: view.active,
        weight: number(view.weight),
        r: resources(&view.ask),
        running_apps: view.running,
        driver_limit: view.driver_limit.as_ref().map(resources),
        driver_used: resources(&view.driver_used),
        max_applications: view.max_applications,
    }
}

fn others(hidden: &[&UserLimitView]) -> OtherUsers {
    let mut sum = OtherUsers { users: hidden.len() as u64, ..OtherUsers::default() };
    let mut weight = Decimal::ZERO;
    for user in hidden {
        sum.active += u64::from(user.active);
        sum.running_apps += user.running;
        weight = weight.plus(user.weight);
        for (name, amount) in user.used.iter() {
            let of_type = sum.used.0.entry(name.to_string()).or_default();
            *of_type = of_type.saturating_add(amount.get());
        }
    }
    OtherUsers { weight: number(weight), ..sum }
}

/// Returns the result of a simulation.
pub(crate) fn simulated(view: &SimulationView) -> SimulatedLimits {
    let formula = view.rules.formula;
    SimulatedLimits {
        queue_path: view.path.to_string(),
        partition: view.partition.to_string(),
        inputs: inputs(&view.rules, &view.leaf),
        among: if view.among_all { UserLimitAmong::All } else { UserLimitAmong::Active },
        users: view.users.iter().map(|user| simulated_limit(user, formula)).collect(),
    }
}

fn simulated_limit(view: &SimulatedLimitView, formula: Formula) -> SimulatedLimit {
    // Each formula uses the names of its documentation page.
    let base = |of: Formula| (formula == of).then(|| resources(&view.base));
    let [progress, strict, overshoot] = view.admitted;
    SimulatedLimit {
        user: view.user.to_string(),
        active: view.active,
        weight: number(view.weight),
        used: resources(&view.used),
        r: resources(&view.ask),
        q: resources(&view.capacity),
        consumed: view.consumed.as_ref().map(resources),
        base: base(Formula::Yarn3),
        split: base(Formula::Smooth),
        whole: resources(&view.whole),
        a: resources(&view.equal),
        b: resources(&view.floor),
        cap: view.cap.as_ref().map(resources),
        soft: resources(&view.soft),
        hard: resources(&view.hard),
        limit: resources(&view.limit),
        admitted: Admitted { progress, strict, overshoot },
    }
}

/// Returns a decimal as a JSON number with at most 15 digits, which a parser reads without loss.
#[expect(clippy::cast_precision_loss, reason = "millionths up to a million are below 2^53")]
pub(crate) fn number(decimal: Decimal) -> f64 {
    decimal.millionths() as f64 / 1_000_000.0
}
