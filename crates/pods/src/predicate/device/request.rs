//! Requests for devices: of claims, and of extended resources that classes back.

use std::borrow::Cow;

use crate::object::{
    AllocationMode, Claim, ClaimConstraint, DeviceClass, DeviceRequest, DeviceSelector,
    DeviceToleration, Effect, ExactRequest, Taint, TolerationOperator,
};
use crate::predicate::{Context, DeviceRefusal};

use super::cel::Condition;
use super::pool::Candidate;

/// Devices for one claim.
#[derive(Clone, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) claim: &'a Claim,
    pub(super) requests: Vec<Request<'a>>,
    pub(super) constraints: &'a [ClaimConstraint],
}

/// A request with its alternatives, the preferred first.
#[derive(Clone, Debug)]
pub(super) struct Request<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) alternatives: Vec<Alternative<'a>>,
}

/// Devices of one class.
#[derive(Clone, Debug)]
pub(super) struct Alternative<'a> {
    /// Name within the request. Empty without alternatives.
    pub(super) name: &'a str,
    /// Number of devices, or nothing for all that match.
    pub(super) count: Option<usize>,
    /// Whether devices that others use are allowed too.
    pub(super) admin_access: bool,
    conditions: Vec<(&'a str, Condition)>,
    tolerations: &'a [DeviceToleration],
}

impl<'a> Wanted<'a> {
    /// Returns what a claim asks for.
    pub(super) fn of_claim(context: Context<'a>, claim: &'a Claim) -> Result<Self, DeviceRefusal> {
        let devices = &claim.spec.devices;
        let requests = devices.requests.iter().map(|request| Request::new(context, request));
        Ok(Self {
            claim,
            requests: requests.collect::<Result<_, _>>()?,
            constraints: &devices.constraints,
        })
    }
}

impl<'a> Request<'a> {
    fn new(context: Context<'a>, request: &'a DeviceRequest) -> Result<Self, DeviceRefusal> {
        let new = |name: &'a str, full_name: String, exact: &'a ExactRequest| {
            Alternative::new(context, name, &full_name, exact)
        };
        let alternatives = match &request.exactly {
            Some(exact) => vec![new("", request.name.to_string(), exact)?],
            None => request
                .first_available
                .iter()
                .map(|sub| new(&sub.name, format!("{}/{}", request.name, sub.name), &sub.request))
                .collect::<Result<_, _>>()?,
        };
        if alternatives.is_empty() {
            return Err(DeviceRefusal::UnknownRequest { request: request.name.clone() });
        }
        Ok(Self { name: Cow::Borrowed(request.name.as_str()), alternatives })
    }
}

impl<'a> Alternative<'a> {
    /// Returns one device of a class, for an extended resource.
    pub(super) fn of_class(class: &'a DeviceClass) -> Result<Self, DeviceRefusal> {
        Ok(Self {
            name: "",
            count: Some(1),
            admin_access: false,
            conditions: conditions(&class.spec.selectors)?,
            tolerations: &[],
        })
    }

    fn new(
        context: Context<'a>,
        name: &'a str,
        full_name: &str,
        exact: &'a ExactRequest,
    ) -> Result<Self, DeviceRefusal> {
        let class_name = &exact.device_class_name;
        let unknown = || DeviceRefusal::UnknownRequest { request: full_name.into() };
        if class_name.is_empty() {
            return Err(unknown());
        }
        let class = context.snapshot.devices().classes.get(class_name);
        let class = class.ok_or_else(|| DeviceRefusal::NoClass {
            request: full_name.into(),
            class: class_name.clone(),
        })?;
        let mut all_conditions = conditions(&class.spec.selectors)?;
        all_conditions.extend(conditions(&exact.selectors)?);
        let count = match exact.allocation_mode {
            AllocationMode::ExactCount => {
                Some(usize::try_from(exact.count.max(1)).unwrap_or(usize::MAX))
            }
            AllocationMode::All => None,
            AllocationMode::Unknown => return Err(unknown()),
        };
        Ok(Self {
            name,
            count,
            admin_access: exact.admin_access == Some(true),
            conditions: all_conditions,
            tolerations: &exact.tolerations,
        })
    }

    /// Returns whether the device is one that is asked for, whoever uses it.
    pub(super) fn matches(&self, candidate: &Candidate<'_>) -> Result<bool, DeviceRefusal> {
        for (text, condition) in &self.conditions {
            match condition.holds(&candidate.slice.driver, candidate.device) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(fault) => {
                    return Err(DeviceRefusal::Selector {
                        expression: (*text).into(),
                        fault: fault.to_string().into(),
                    });
                }
            }
        }
        Ok(true)
    }

    /// Returns whether the request tolerates the taints of the device.
    pub(super) fn tolerates(&self, candidate: &Candidate<'_>) -> bool {
        let taints = candidate.device.taints.iter();
        let mut refusing = taints.filter(|taint| match taint.effect {
            Effect::NoSchedule | Effect::NoExecute => true,
            Effect::PreferNoSchedule | Effect::Unknown => false,
        });
        refusing.all(|taint| self.tolerations.iter().any(|toleration| covers(toleration, taint)))
    }
}

fn conditions(selectors: &[DeviceSelector]) -> Result<Vec<(&str, Condition)>, DeviceRefusal> {
    let expressions = selectors.iter().filter_map(|selector| selector.cel.as_ref());
    expressions
        .map(|cel| {
            let text = cel.expression.as_str();
            Condition::parse(text).map(|condition| (text, condition)).map_err(|fault| {
                DeviceRefusal::Selector {
                    expression: cel.expression.clone(),
                    fault: fault.to_string().into(),
                }
            })
        })
        .collect()
}

fn covers(toleration: &DeviceToleration, taint: &Taint) -> bool {
    let DeviceToleration { key, operator, value, effect } = toleration;
    effect.is_none_or(|effect| effect == taint.effect)
        && (key.is_empty() || *key == taint.key)
        && match operator {
            TolerationOperator::Equal => *value == taint.value,
            TolerationOperator::Exists => true,
            TolerationOperator::Gt | TolerationOperator::Lt | TolerationOperator::Unknown => false,
        }
}
