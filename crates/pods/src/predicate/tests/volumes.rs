//! Volumes and their claims.

use crate::object::{
    CsiNode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment,
};

use crate::predicate::VolumeStep;

use super::*;

impl Cluster {
    /// Adds a claim of the namespace `lab` for 1 GiB.
    fn claim(mut self, name: &str, volume: &str, class: &str, mode: &str) -> Self {
        let bound =
            if volume.is_empty() { "" } else { r#""pv.kubernetes.io/bind-completed":"yes""# };
        let claim: PersistentVolumeClaim = read(&format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"lab","uid":"{name}","annotations":{{{bound}}}}},
            "spec":{{"volumeName":"{volume}","storageClassName":"{class}","accessModes":["{mode}"],
            "resources":{{"requests":{{"storage":"1Gi"}}}}}},"status":{{"phase":"Bound"}}}}"#
        ));
        self.0.storage_mut().claims.insert("lab".into(), name.into(), Arc::new(claim));
        self
    }

    fn volume(mut self, name: &str, labels: &str, spec: &str) -> Self {
        let volume: PersistentVolume = read(&format!(
            r#"{{"metadata":{{"name":"{name}","labels":{}}},"status":{{"phase":"Available"}},"spec":{{{spec}}}}}"#,
            map(labels)
        ));
        self.0.storage_mut().volumes.insert(name.into(), Arc::new(volume));
        self
    }

    fn class(mut self, name: &str, mode: &str, more: &str) -> Self {
        let class: StorageClass = read(&format!(
            r#"{{"metadata":{{"name":"{name}"}},"volumeBindingMode":"{mode}"{more}}}"#
        ));
        self.0.storage_mut().classes.insert(name.into(), Arc::new(class));
        self
    }
}

fn using(name: &str, claims: &[&str]) -> PodFacts {
    let volumes: Vec<_> = claims
        .iter()
        .map(|claim| {
            format!(r#"{{"name":"{claim}","persistentVolumeClaim":{{"claimName":"{claim}"}}}}"#)
        })
        .collect();
    pod(name, "", &format!(r#"{{"volumes":[{}]}}"#, volumes.join(",")))
}

/// Returns what must be done for the volumes of a pod that fits on a node.
fn steps(cluster: &Cluster, pod: &PodFacts, node: &str) -> Vec<String> {
    let prepared = Prepared::new(&cluster.0, pod, Mode::Allocate, Options::default());
    let steps = prepared.volume_steps(cluster.0.node(node).expect("a node")).expect("volumes");
    let text = |step: &VolumeStep<'_>| match step {
        VolumeStep::Bind { claim, volume } => {
            format!("{} gets {}", claim.metadata.name, volume.metadata.name)
        }
        VolumeStep::Create { claim } => format!("{} gets a new volume", claim.metadata.name),
    };
    steps.iter().map(text).collect()
}

const LATE: &str = "WaitForFirstConsumer";
const NONE: &str = r#","provisioner":"kubernetes.io/no-provisioner""#;
const SMALL: &str =
    r#""capacity":{"storage":"1Gi"},"storageClassName":"late","accessModes":["ReadWriteOnce"]"#;

#[test]
fn four_plugins_refuse_a_pod_without_its_claim() {
    let cluster = Cluster::default().node("n", "", "");
    assert_eq!(
        cluster.refusing(&using("p", &["gone"]), "n"),
        [
            Plugin::VolumeRestrictions,
            Plugin::NodeVolumeLimits,
            Plugin::VolumeBinding,
            Plugin::VolumeZone
        ]
    );
}

#[test]
fn a_claim_for_one_pod_has_one_user() {
    let mut cluster = Cluster::default()
        .node("n", "", "")
        .node("m", "", "")
        .claim("c", "v", "", "ReadWriteOncePod")
        .volume("v", "", "");
    let newcomer = using("p", &["c"]);
    assert!(cluster.fits(&newcomer, "n"));
    cluster.0.put_pod("m", Arc::new(using("user", &["c"])));
    assert_eq!(cluster.refusing(&newcomer, "n"), [Plugin::VolumeRestrictions]);
}

#[test]
fn a_claim_without_volume_finds_the_smallest_or_gets_a_new_one() {
    let affinity = |zone: &str| {
        format!(
            r#""nodeAffinity":{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":
            [{{"key":"zone","operator":"In","values":["{zone}"]}}]}}]}}}},{SMALL}"#
        )
    };
    let zones = || {
        Cluster::default()
            .node("a", "zone=a", "")
            .node("b", "zone=b", "")
            .claim("c1", "", "late", "ReadWriteOnce")
            .claim("c2", "", "late", "ReadWriteOnce")
    };
    let newcomer = using("p", &["c1"]);
    let cluster = zones().class("late", LATE, NONE).volume("v", "", &affinity("a"));
    assert!(cluster.fits(&newcomer, "a"));
    assert_eq!(cluster.refusing(&newcomer, "b"), [Plugin::VolumeBinding]);
    assert_eq!(steps(&cluster, &newcomer, "a"), ["c1 gets v"]);
    assert!(!cluster.fits(&using("p", &["c1", "c2"]), "a"), "one volume serves one claim");
    let allowed = r#","provisioner":"csi.example.com","allowedTopologies":[{"matchLabelExpressions":
        [{"key":"zone","values":["b"]}]}]"#;
    let cluster = zones().class("late", LATE, allowed);
    assert!(!cluster.fits(&newcomer, "a"));
    assert_eq!(steps(&cluster, &newcomer, "b"), ["c1 gets a new volume"]);
    let cluster = zones().class("late", "Immediate", allowed);
    let prepared = Prepared::new(&cluster.0, &newcomer, Mode::Allocate, Options::default());
    let refusal = prepared.plugin_refusal(Plugin::VolumeBinding).expect("a refusal");
    assert_eq!(refusal.reasons(), ["pod has unbound immediate PersistentVolumeClaims"]);
}

#[test]
fn a_volume_in_two_zones_is_near_nodes_of_both() {
    let zone = "topology.kubernetes.io/zone";
    let cluster = Cluster::default()
        .node("a", &format!("{zone}=a"), "")
        .node("b", &format!("{zone}=b"), "")
        .node("c", &format!("{zone}=c"), "")
        .node("out", "", "")
        .claim("c", "v", "", "ReadWriteOnce")
        .volume("v", "failure-domain.beta.kubernetes.io/zone=a__b", "");
    let newcomer = using("p", &["c"]);
    let fits: Vec<_> = ["a", "b", "c", "out"].map(|node| cluster.fits(&newcomer, node)).into();
    assert_eq!(fits, [true, true, false, true]);
}

#[test]
fn a_driver_attaches_a_limited_number_of_volumes() {
    let csi = |name: &str| format!(r#""csi":{{"driver":"d","volumeHandle":"{name}"}}"#);
    let mut cluster = Cluster::default().node("n", "", "");
    for number in 1..=3 {
        let volume = format!("v{number}");
        cluster = cluster.volume(&volume, "", &csi(&volume)).claim(
            &format!("c{number}"),
            &volume,
            "",
            "ReadWriteMany",
        );
    }
    let node: CsiNode = read(r#"{"spec":{"drivers":[{"name":"d","allocatable":{"count":2}}]}}"#);
    cluster.0.storage_mut().csi_nodes.insert("n".into(), Arc::new(node));
    cluster.0.put_pod("n", Arc::new(using("user", &["c1", "c2"])));
    assert!(cluster.fits(&using("p", &["c1", "c2"]), "n"), "both are attached already");
    assert_eq!(cluster.refusing(&using("p", &["c3"]), "n"), [Plugin::NodeVolumeLimits]);
    cluster.0.remove_pod("n", "user");
    assert!(cluster.fits(&using("p", &["c3", "c1"]), "n"));
    let attachment: VolumeAttachment =
        read(r#"{"spec":{"nodeName":"n","attacher":"d","source":{"persistentVolumeName":"v2"}}}"#);
    cluster.0.storage_mut().attachments.insert("a".into(), Arc::new(attachment));
    assert!(!cluster.fits(&using("p", &["c3", "c1"]), "n"), "an attached volume takes a place");
}
