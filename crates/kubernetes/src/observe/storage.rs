//! Volumes, claims, classes, drivers, and devices.

use std::sync::Arc;

use headroom_pods::object::{
    Claim, CsiDriver, CsiNode, CsiStorageCapacity, DeviceClass, PersistentVolume,
    PersistentVolumeClaim, ResourceSlice, StorageClass, VolumeAttachment,
};
use headroom_pods::shim::{ClaimName, Notice};

use crate::client::path;
use crate::queue::{ClusterChange, Observed};
use crate::volumes::put;
use crate::watch::{Need, Source};

use super::{Follow, Seen};

/// Follows the kind of one table of the snapshot, by name.
macro_rules! table {
    ($follow:ident, $kind:ty, $path:expr, $tables:ident.$table:ident) => {
        $follow.kind(Source::new($path, Need::Optional), |seen: Seen<$kind>, out| {
            let name = seen.object().metadata.name.clone();
            let object = seen.existing();
            out.push(ClusterChange::observed(move |snapshot| {
                put(&mut snapshot.$tables().$table, &name, object);
            }));
        });
    };
}

pub(super) fn follow(follow: &mut Follow<'_>) {
    volumes(follow);
    classes(follow);
    drivers(follow);
    devices(follow);
}

fn volumes(follow: &mut Follow<'_>) {
    let volumes = Arc::clone(&follow.target.volumes);
    let source = Source::new(path::VOLUMES, Need::Optional);
    follow.kind(source, move |seen: Seen<PersistentVolume>, out| {
        let name = seen.object().metadata.name.clone();
        out.push(volumes.put_volume(&name, seen.existing()));
    });
    let volumes = Arc::clone(&follow.target.volumes);
    let source = Source::new(path::CLAIMS, Need::Optional);
    follow.kind(source, move |seen: Seen<PersistentVolumeClaim>, out| {
        let metadata = &seen.object().metadata;
        let deleting = metadata.is_deleting();
        let claim =
            ClaimName { namespace: metadata.namespace.clone(), name: metadata.name.clone() };
        let object = seen.existing();
        let is_gone = object.is_none();
        // The change comes first, because a task can be submitted by the notice.
        out.push(volumes.put_claim(&claim, object));
        out.push(Observed::Notice(if is_gone {
            Notice::ClaimGone { claim }
        } else {
            Notice::Claim { claim, deleting }
        }));
    });
}

fn classes(follow: &mut Follow<'_>) {
    let volumes = Arc::clone(&follow.target.volumes);
    let source = Source::new("/apis/storage.k8s.io/v1/storageclasses", Need::Optional);
    follow.kind(source, move |seen: Seen<StorageClass>, out| {
        let name = seen.object().metadata.name.clone();
        let class = seen.existing();
        volumes.put_class(&name, class.clone());
        out.push(ClusterChange::observed(move |snapshot| {
            put(&mut snapshot.storage_mut().classes, &name, class);
        }));
    });
}

fn drivers(follow: &mut Follow<'_>) {
    table!(follow, CsiNode, "/apis/storage.k8s.io/v1/csinodes", storage_mut.csi_nodes);
    table!(
        follow,
        VolumeAttachment,
        "/apis/storage.k8s.io/v1/volumeattachments",
        storage_mut.attachments
    );
    let volumes = Arc::clone(&follow.target.volumes);
    let source = Source::new("/apis/storage.k8s.io/v1/csidrivers", Need::Optional);
    follow.kind(source, move |seen: Seen<CsiDriver>, out| {
        let name = seen.object().metadata.name.clone();
        let driver = seen.existing();
        volumes.put_driver(&name, driver.clone());
        out.push(ClusterChange::observed(move |snapshot| {
            put(&mut snapshot.storage_mut().csi_drivers, &name, driver);
        }));
    });
    let volumes = Arc::clone(&follow.target.volumes);
    let source = Source::new("/apis/storage.k8s.io/v1/csistoragecapacities", Need::Optional);
    follow.kind(source, move |seen: Seen<CsiStorageCapacity>, out| {
        let metadata = &seen.object().metadata;
        let (namespace, name) = (metadata.namespace.clone(), metadata.name.clone());
        let capacity = seen.existing();
        volumes.put_capacity(&namespace, &name, capacity.clone());
        out.push(ClusterChange::observed(move |snapshot| {
            let capacities = &mut snapshot.storage_mut().capacities;
            match capacity {
                Some(capacity) => capacities.insert(namespace, name, capacity),
                None => drop(capacities.remove(&namespace, &name)),
            }
        }));
    });
}

fn devices(follow: &mut Follow<'_>) {
    let source = Source::new("/apis/resource.k8s.io/v1/resourceclaims", Need::Optional);
    follow.kind(source, |seen: Seen<Claim>, out| {
        out.push(ClusterChange::observed(move |snapshot| match seen {
            Seen::Applied(claim) => snapshot.devices_mut().put_claim(claim),
            Seen::Deleted(claim) => snapshot.devices_mut().remove_claim(&claim),
        }));
    });
    let source = Source::new("/apis/resource.k8s.io/v1/resourceslices", Need::Optional);
    follow.kind(source, |seen: Seen<ResourceSlice>, out| {
        let name = seen.object().metadata.name.clone();
        let slice = seen.existing();
        out.push(ClusterChange::observed(move |snapshot| snapshot.set_slice(&name, slice)));
    });
    let source = Source::new("/apis/resource.k8s.io/v1/deviceclasses", Need::Optional);
    follow.kind(source, |seen: Seen<DeviceClass>, out| {
        let name = seen.object().metadata.name.clone();
        let class = seen.existing();
        out.push(ClusterChange::observed(move |snapshot| snapshot.set_device_class(&name, class)));
    });
}
