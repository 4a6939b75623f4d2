//! Checks that all types of all amounts are known.

use crate::books::{Application, Books, Meter};
use crate::resource::{ResourceTypes, Resources};
use crate::stored::Unsound;

use super::Outcome;

impl Books {
    pub(super) fn check_amounts(&self) -> Outcome {
        let types = &self.types;
        let known = |all: &[&Resources]| all.iter().all(|one| types.know(one));
        let may = |one: &Option<Resources>| one.as_ref().is_none_or(|one| types.know(one));
        for (id, resources, _) in self.shapes.iter() {
            let known = types.know(resources) && types.know(self.shapes.on_node(id));
            Unsound::unless(known, id, "the types of a size")?;
        }
        for (_, row) in self.queues.iter() {
            let known = may(&row.max)
                && may(&row.left)
                && may(&row.guaranteed)
                && known(&[&row.allocated, &row.pending, &row.preempting]);
            Unsound::unless(known, &row.path, "the types of its amounts")?;
        }
        for (_, row) in self.nodes.iter() {
            let known = known(&[&row.capacity, &row.allocated, &row.occupied, &row.available]);
            Unsound::unless(known, &row.name, "the types of its amounts")?;
        }
        for (_, row) in self.applications.iter() {
            let metered = row.metered.iter().all(|one| knows(types, &one.meter));
            let known = metered && amounts_of(row).all(|one| types.know(one));
            Unsound::unless(known, &row.name, "the types of its amounts")?;
        }
        for row in self.partitions.values() {
            let foreign = row.foreign.iter().all(|(_, one)| types.know(&one.resources));
            let mut meters = row.tenants.meters();
            let metered = meters.all(|(_, meter)| knows(types, meter));
            let known = foreign && metered && row.trackers.know_types(types);
            Unsound::unless(known, &row.name, "the types of its amounts")?;
            let weighed = row.settings.node_sort.weights.iter();
            let weighed =
                weighed.map(|(_, weight)| *weight).all(|one| one.is_finite() && one >= 0.0);
            Unsound::unless(weighed, &row.name, "the weights of types")?;
        }
        Ok(())
    }
}

fn knows(types: &ResourceTypes, meter: &Meter) -> bool {
    types.know(meter.rate()) && meter.types() <= types.len()
}

fn amounts_of(row: &Application) -> impl Iterator<Item = &Resources> {
    let own = [&row.pending, &row.allocated, &row.peak];
    let gang = row.gang.iter().flat_map(|gang| {
        let sizes = gang.groups.iter().map(|group| &group.size);
        [&gang.ask, &gang.placeholders].into_iter().chain(sizes)
    });
    let untold = row.untold.iter().map(|untold| &untold.amount);
    let usage = row.usage.iter().flat_map(|usage| {
        let all = [&usage.used, &usage.placeholders, &usage.preempted];
        all.into_iter().flat_map(|spent| spent.iter().map(|(_, spent)| spent))
    });
    own.into_iter().chain(gang).chain(untold).chain(usage)
}
