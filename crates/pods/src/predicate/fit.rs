//! `NodeResourcesFit`: the requests of a pod must fit in addition to those of the pods on the node.

use super::amounts::Resource;
use super::{Context, NodeFacts, Predicate, Preparation, Refusal, Shortage};

/// State of the predicate.
#[derive(Clone, Debug)]
pub(super) struct NodeResourcesFit {
    /// Positive requests, and whether a class of devices backs the resource.
    requests: Vec<(Resource, i64, bool)>,
}

impl<'a> Predicate<'a> for NodeResourcesFit {
    fn prepare(context: Context<'a>) -> Preparation<Self> {
        let devices = context.snapshot.devices();
        let requests = context
            .pod
            .requested()
            .iter()
            .filter(|(_, amount)| *amount > 0)
            .map(|(resource, amount)| {
                let is_backed = devices.backing_class(resource.name()).is_some();
                (resource.clone(), amount, is_backed)
            })
            .collect();
        Preparation::check(Self { requests })
    }

    fn check(&self, _context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        let limit = node.max_pods();
        let count = i64::try_from(node.pods().len()).unwrap_or(i64::MAX);
        let too_many = (count >= limit).then_some(Shortage::Pods { limit });
        let short = self.requests.iter().filter_map(|(resource, requested, is_backed)| {
            let (used, offered) = (node.used().get(resource), node.offered().get(resource));
            // A node without the resource takes the pod if DynamicResources finds devices for it.
            let is_counted = !is_backed || offered != 0;
            let is_short = is_counted && *requested > offered.saturating_sub(used);
            is_short.then(|| Shortage::Resource {
                resource: resource.clone(),
                requested: *requested,
                used,
                offered,
            })
        });
        let shortages: Vec<_> = too_many.into_iter().chain(short).collect();
        if shortages.is_empty() { Ok(()) } else { Err(Refusal::Fit(shortages)) }
    }
}
