//! `VolumeZone`: a node must be in the zones and regions of the volumes that are bound.

use crate::object::{BindingMode, Labels, Text};

use super::claim::{ClaimName, class_of_claim};
use super::{Context, NodeFacts, Predicate, Preparation, Refusal, ZoneRefusal};

const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";
const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";

/// Labels of volumes and nodes that name a zone or region, each with the label that nodes can have instead.
const KEYS: [(&str, &str); 4] =
    [(BETA_ZONE, ZONE), (BETA_REGION, REGION), (ZONE, ZONE), (REGION, REGION)];

/// Text between the zones of a volume that is in several.
const SEPARATOR: &str = "__";

/// State of the predicate.
#[derive(Clone, Debug)]
pub(super) struct VolumeZone<'a> {
    places: Vec<Place<'a>>,
}

/// Zones or regions of a volume.
#[derive(Clone, Debug)]
struct Place<'a> {
    key: &'static str,
    other_key: &'static str,
    values: &'a str,
}

impl<'a> Predicate<'a> for VolumeZone<'a> {
    fn prepare(context: Context<'a>) -> Preparation<Self> {
        let mut places = Vec::new();
        for name in context.pod.claim_names() {
            match labels_of_volume(context, name) {
                Ok(labels) => places.extend(labels.into_iter().flat_map(places_of)),
                Err(refusal) => return Preparation::Refuse(Refusal::Zone(refusal)),
            }
        }
        if places.is_empty() { Preparation::Skip } else { Preparation::check(Self { places }) }
    }

    fn check(&self, _context: Context<'a>, node: &NodeFacts) -> Result<(), Refusal> {
        let labels = node.labels();
        // A node outside all zones and regions can reach every volume.
        if !KEYS.iter().any(|(key, _)| labels.contains(key)) {
            return Ok(());
        }
        let is_near = |place: &Place<'_>| {
            let value = labels.get(place.key).or_else(|| labels.get(place.other_key));
            value.is_some_and(|value| zones(place.values).any(|zone| *value == zone))
        };
        if self.places.iter().all(is_near) {
            return Ok(());
        }
        Err(Refusal::Zone(ZoneRefusal::OtherZone))
    }
}

/// Returns the labels of the volume that serves a claim, or nothing if the claim is bound when a pod uses it.
fn labels_of_volume<'a>(
    context: Context<'a>,
    name: &'a Text,
) -> Result<Option<&'a Labels>, ZoneRefusal> {
    let storage = context.snapshot.storage();
    let claim = ClaimName { name: name.as_str().into(), is_ephemeral: false };
    let claim = claim.find(context, context.pod).map_err(ZoneRefusal::Claim)?;
    let volume = &claim.spec.volume_name;
    if let Some(name) = volume.non_empty() {
        let found = storage.volumes.get(name).map(|volume| Some(&volume.metadata.labels));
        return found.ok_or_else(|| ZoneRefusal::NoVolume { volume: volume.clone() });
    }
    let name: Text = class_of_claim(claim).into();
    if name.is_empty() {
        return Err(ZoneRefusal::NoVolumeNorClass);
    }
    let Some(class) = storage.classes.get(&name) else {
        return Err(ZoneRefusal::NoClass { class: name });
    };
    match class.volume_binding_mode {
        None => Err(ZoneRefusal::NoBindingMode { class: name }),
        Some(BindingMode::WaitForFirstConsumer) => Ok(None),
        Some(BindingMode::Immediate | BindingMode::Unknown) => Err(ZoneRefusal::Unbound),
    }
}

/// Returns the zones that labels of a volume name.
pub(super) fn zone_of(labels: &Labels) -> Option<&str> {
    labels.get(ZONE).or_else(|| labels.get(BETA_ZONE)).map(Text::as_str)
}

/// Returns the zones and regions that labels name. A label with an empty zone does not count.
fn places_of(labels: &Labels) -> impl Iterator<Item = Place<'_>> {
    KEYS.into_iter().filter_map(|(key, other_key)| {
        let values = labels.get(key)?.as_str();
        zones(values).all(|zone| !zone.is_empty()).then_some(Place { key, other_key, values })
    })
}

fn zones(text: &str) -> impl Iterator<Item = &str> {
    text.split(SEPARATOR).map(str::trim)
}
