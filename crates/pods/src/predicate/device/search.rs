//! Search for free devices that serve all requests.
//!
//! The search tries devices in their order and takes back choices that lead nowhere. It ends after [`MAX_STEPS`]
//! choices, and then no devices are found.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::object::{Attribute, ClaimConstraint, Device, SliceSpec, Text};
use crate::predicate::DeviceRefusal;
use crate::quantity::Quantity;

use super::pool::{Candidate, OnNode, counters_of};
use super::request::{Alternative, Request};
use super::{DeviceChoice, DeviceNodes, DeviceTarget};

/// Most devices that one claim can have.
pub(super) const MAX_DEVICES: usize = 32;

/// Most choices that a search tries.
const MAX_STEPS: usize = 20_000;

/// Most requests and most devices of a search.
const MAX_CHOICES: usize = 256;

/// What a claim needs on one node.
pub(super) struct Asked<'s, 'a> {
    pub(super) target: DeviceTarget<'a>,
    pub(super) requests: Vec<&'s Request<'a>>,
    pub(super) constraints: &'a [ClaimConstraint],
}

/// Returns devices on the node that serve all claims together, or nothing if there are none.
pub(super) fn search<'a>(
    on_node: &OnNode<'a>,
    asked: &[Asked<'_, 'a>],
) -> Result<Option<Vec<DeviceChoice<'a>>>, DeviceRefusal> {
    let requests: Vec<_> = asked
        .iter()
        .enumerate()
        .flat_map(|(claim, asked)| asked.requests.iter().map(move |request| (claim, *request)))
        .collect();
    if requests.len() > MAX_CHOICES {
        return Ok(None);
    }
    let matching = requests.iter().map(|(_, it)| vec![None; it.alternatives.len()]).collect();
    let mut search = Search {
        on_node,
        asked,
        requests,
        matching,
        taken: vec![false; on_node.candidates.len()],
        counters: on_node.counters.clone(),
        chosen: Vec::new(),
        steps: 0,
    };
    if !search.serve(0)? {
        return Ok(None);
    }
    Ok(Some(search.chosen.iter().map(|chosen| choice(on_node, asked, chosen)).collect()))
}

fn choice<'a>(
    on_node: &OnNode<'a>,
    asked: &[Asked<'_, 'a>],
    chosen: &Chosen<'_>,
) -> DeviceChoice<'a> {
    let Candidate { slice, device, .. } = on_node.candidates[chosen.candidate];
    let request = if chosen.alternative.name.is_empty() {
        chosen.request.to_owned()
    } else {
        format!("{}/{}", chosen.request, chosen.alternative.name)
    };
    DeviceChoice {
        target: asked[chosen.claim].target,
        request,
        driver: &slice.driver,
        pool: &slice.pool.name,
        device: &device.name,
        admin_access: chosen.alternative.admin_access,
        nodes: nodes(slice, device),
        binding_conditions: &device.binding_conditions,
        binding_failure_conditions: &device.binding_failure_conditions,
    }
}

fn nodes<'a>(slice: &'a SliceSpec, device: &'a Device) -> DeviceNodes<'a> {
    if device.binds_to_node == Some(true) {
        return DeviceNodes::One;
    }
    let (selector, all) = if slice.per_device_node_selection {
        (device.node_selector.as_ref(), device.all_nodes == Some(true))
    } else {
        (slice.node_selector.as_ref(), slice.all_nodes)
    };
    match selector {
        _ if all => DeviceNodes::All,
        Some(selector) => DeviceNodes::Selected(selector),
        None => DeviceNodes::One,
    }
}

struct Search<'s, 'a> {
    on_node: &'s OnNode<'a>,
    asked: &'s [Asked<'s, 'a>],
    /// All requests with the positions of their claims.
    requests: Vec<(usize, &'s Request<'a>)>,
    /// Candidates that match each alternative of each request, once they are known.
    matching: Vec<Vec<Option<Rc<[usize]>>>>,
    /// Candidates that a request of this search takes.
    taken: Vec<bool>,
    counters: Vec<BTreeMap<(&'a str, &'a str), Quantity>>,
    chosen: Vec<Chosen<'s>>,
    steps: usize,
}

/// A device chosen for a request.
struct Chosen<'s> {
    claim: usize,
    request: &'s str,
    alternative: &'s Alternative<'s>,
    candidate: usize,
}

impl<'s, 'a> Search<'s, 'a> {
    /// Serves the requests from this position on.
    fn serve(&mut self, position: usize) -> Result<bool, DeviceRefusal> {
        let Some((_, request)) = self.requests.get(position) else { return Ok(true) };
        for (index, alternative) in request.alternatives.iter().enumerate() {
            let matching = self.matching(position, index, alternative)?;
            let missing = match alternative.count {
                Some(count) => count,
                // All devices of a pool are known only if the pool is complete.
                None if self.on_node.is_incomplete || matching.is_empty() => continue,
                None => matching.len(),
            };
            if missing > MAX_DEVICES || missing > matching.len() {
                continue;
            }
            let part = Pick { position, alternative, matching: &matching, missing };
            if self.pick(&part)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the candidates that match an alternative. Each is compared once in a search.
    fn matching(
        &mut self,
        position: usize,
        index: usize,
        alternative: &Alternative<'a>,
    ) -> Result<Rc<[usize]>, DeviceRefusal> {
        if let Some(matching) = &self.matching[position][index] {
            return Ok(Rc::clone(matching));
        }
        let mut matching = Vec::new();
        for (candidate, it) in self.on_node.candidates.iter().enumerate() {
            if alternative.matches(it)? {
                matching.push(candidate);
            }
        }
        let matching: Rc<[usize]> = matching.into();
        self.matching[position][index] = Some(Rc::clone(&matching));
        Ok(matching)
    }

    /// Picks the missing devices of a request, and serves the later requests.
    fn pick(&mut self, part: &Pick<'_, 's, 'a>) -> Result<bool, DeviceRefusal> {
        if part.missing == 0 {
            return self.serve(part.position + 1);
        }
        let (claim, request) = self.requests[part.position];
        let in_claim = self.chosen.iter().filter(|chosen| chosen.claim == claim).count();
        if in_claim >= MAX_DEVICES || self.chosen.len() >= MAX_CHOICES {
            return Ok(false);
        }
        // The order of the devices of one request does not matter, so only later devices follow.
        for (index, &candidate) in part.matching.iter().enumerate() {
            if part.matching.len() - index < part.missing {
                break;
            }
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Ok(false);
            }
            if !self.take(claim, request, part.alternative, candidate) {
                // All devices are wanted, so none can be left out.
                if part.alternative.count.is_none() {
                    return Ok(false);
                }
                continue;
            }
            let rest =
                Pick { matching: &part.matching[index + 1..], missing: part.missing - 1, ..*part };
            if self.pick(&rest)? {
                return Ok(true);
            }
            self.put_back();
        }
        Ok(false)
    }

    /// Takes a device for a request if that is allowed.
    fn take(
        &mut self,
        claim: usize,
        request: &'s Request<'a>,
        alternative: &'s Alternative<'a>,
        position: usize,
    ) -> bool {
        let candidate = &self.on_node.candidates[position];
        let is_free = alternative.admin_access || !(candidate.in_use || self.taken[position]);
        let chosen = Chosen { claim, request: &request.name, alternative, candidate: position };
        if !is_free || !alternative.tolerates(candidate) || !self.keeps_constraints(&chosen) {
            return false;
        }
        if !alternative.admin_access {
            let counters = &self.counters[candidate.pool];
            let mut needed = counters_of(candidate.device);
            if !needed.all(|(key, amount)| counters.get(&key).is_some_and(|left| *left >= amount)) {
                return false;
            }
            self.count(position, Quantity::negated);
            self.taken[position] = true;
        }
        self.chosen.push(chosen);
        true
    }

    fn put_back(&mut self) {
        let Some(chosen) = self.chosen.pop() else { return };
        // A device that is only monitored was not taken.
        let others = self.chosen.iter().any(|other| other.candidate == chosen.candidate);
        if self.taken[chosen.candidate] && !others {
            self.count(chosen.candidate, |amount| amount);
            self.taken[chosen.candidate] = false;
        }
    }

    fn count(&mut self, position: usize, change: fn(Quantity) -> Quantity) {
        let candidate = &self.on_node.candidates[position];
        for (key, amount) in counters_of(candidate.device) {
            if let Some(left) = self.counters[candidate.pool].get_mut(&key) {
                *left = left.saturating_add(change(amount));
            }
        }
    }

    fn keeps_constraints(&self, new: &Chosen<'_>) -> bool {
        self.asked[new.claim].constraints.iter().all(|constraint| {
            if !is_about(constraint, new) {
                return true;
            }
            let others = || {
                self.chosen
                    .iter()
                    .filter(|chosen| chosen.claim == new.claim && is_about(constraint, chosen))
            };
            let value = |name: &Text, chosen: &Chosen<'_>| {
                attribute(&self.on_node.candidates[chosen.candidate], name)
            };
            let same = constraint.match_attribute.as_ref().is_none_or(|name| {
                let own = value(name, new);
                own.is_some() && others().all(|other| value(name, other) == own)
            });
            let distinct = constraint.distinct_attribute.as_ref().is_none_or(|name| {
                let own = value(name, new);
                own.is_some() && others().all(|other| value(name, other) != own)
            });
            same && distinct
        })
    }
}

/// What remains to be picked for a request.
#[derive(Clone, Copy)]
struct Pick<'m, 's, 'a> {
    position: usize,
    alternative: &'s Alternative<'a>,
    /// Candidates that match and follow those that were picked.
    matching: &'m [usize],
    missing: usize,
}

/// Returns whether a constraint is about the request of a device.
fn is_about(constraint: &ClaimConstraint, chosen: &Chosen<'_>) -> bool {
    constraint.requests.is_empty()
        || constraint.requests.iter().any(|name| match name.split_once('/') {
            None => name.as_str() == chosen.request,
            Some((request, alternative)) => {
                request == chosen.request && alternative == chosen.alternative.name
            }
        })
}

/// Returns an attribute of a device. A name without domain is in the domain of the driver.
fn attribute<'a>(candidate: &Candidate<'a>, name: &str) -> Option<&'a Attribute> {
    let attributes = &candidate.device.attributes;
    attributes.get(name).or_else(|| match name.split_once('/') {
        Some((domain, name)) if candidate.slice.driver == *domain => attributes.get(name),
        Some(_) | None => None,
    })
}
