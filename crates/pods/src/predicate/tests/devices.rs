//! Devices and their claims.

use crate::object::{Claim, DeviceClass, ResourceSlice, Text};
use crate::predicate::{
    DeviceOffers, DeviceReadiness, DeviceRefusal, DeviceTarget, Devices, EXTENDED_CLAIM, readiness,
};

use super::*;

impl Cluster {
    /// Adds a class `gpu` of all devices, which backs `example.com/gpu`.
    fn class_of_devices(mut self) -> Self {
        let class: DeviceClass = read(
            r#"{"metadata":{"name":"gpu"},"spec":{"extendedResourceName":"example.com/gpu",
            "selectors":[{"cel":{"expression":"device.driver == 'd'"}}]}}"#,
        );
        self.0.set_device_class(&"gpu".into(), Some(Arc::new(class)));
        self
    }

    /// Adds a slice of the pool of a node, which has `slices` slices.
    fn slice(mut self, node: &str, slices: u32, devices: &str, more: &str) -> Self {
        let slice: ResourceSlice = read(&format!(
            r#"{{"spec":{{"driver":"d","nodeName":"{node}","devices":[{devices}]{more},
            "pool":{{"name":"{node}","generation":1,"resourceSliceCount":{slices}}}}}}}"#
        ));
        self.0.set_slice(&node.into(), Some(Arc::new(slice)));
        self
    }

    fn device_claim(mut self, name: &str, requests: &str, more: &str, status: &str) -> Self {
        let claim: Claim = read(&format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"lab"}},
            "spec":{{"devices":{{"requests":[{requests}]{more}}}}},"status":{{{status}}}}}"#
        ));
        self.0.devices_mut().put_claim(Arc::new(claim));
        self
    }

    /// Returns the names of the devices that a pod gets on a node.
    fn devices(&self, pod: &PodFacts, node: &str) -> Result<Vec<String>, Refusal> {
        let prepared = Prepared::new(&self.0, pod, Mode::Allocate, Options::default());
        let choices = prepared.device_choices(self.0.node(node).expect("a node"))?;
        Ok(choices.iter().map(|choice| format!("{}:{}", choice.request, choice.device)).collect())
    }
}

fn claiming() -> PodFacts {
    pod("p", "", r#"{"resourceClaims":[{"name":"r","resourceClaimName":"mine"}]}"#)
}

fn request(name: &str, more: &str) -> String {
    format!(r#"{{"name":"{name}","exactly":{{"deviceClassName":"gpu"{more}}}}}"#)
}

const TWO: &str = r#"{"name":"d0","attributes":{"model":{"string":"small"}}},
    {"name":"d1","attributes":{"model":{"string":"big"}}}"#;

fn cluster(requests: &str, more: &str) -> Cluster {
    Cluster::default()
        .node("n", "", "")
        .class_of_devices()
        .slice("n", 1, TWO, "")
        .device_claim("mine", requests, more, "")
}

fn none() -> Result<Vec<String>, Refusal> {
    Err(Refusal::Device(DeviceRefusal::NoDevices))
}

#[test]
fn a_claim_gets_free_devices_that_match() {
    let big = r#","selectors":[{"cel":{"expression":"device.attributes['d'].model == 'big'"}}]"#;
    let first = r#"{"name":"q","firstAvailable":[
        {"name":"many","deviceClassName":"gpu","count":3},{"name":"few","deviceClassName":"gpu"}]}"#;
    for (requests, expected) in [
        (request("q", ""), Ok(vec!["q:d0".to_owned()])),
        (request("q", big), Ok(vec!["q:d1".to_owned()])),
        (request("q", r#","count":3"#), none()),
        (
            request("q", r#","allocationMode":"All""#),
            Ok(vec!["q:d0".to_owned(), "q:d1".to_owned()]),
        ),
        (first.to_owned(), Ok(vec!["q/few:d0".to_owned()])),
        // The first request leaves the only big device to the second.
        (
            format!("{},{}", request("any", ""), request("big", big)),
            Ok(vec!["any:d0".to_owned(), "big:d1".to_owned()]),
        ),
    ] {
        assert_eq!(cluster(&requests, "").devices(&claiming(), "n"), expected, "{requests}");
    }
}

#[test]
fn devices_in_use_are_taken_unless_they_are_only_monitored() {
    let status =
        r#""allocation":{"devices":{"results":[{"driver":"d","pool":"n","device":"d0"}]}}"#;
    let with = |more: &str| {
        cluster(&request("q", more), "")
            .device_claim("other", "", "", status)
            .devices(&claiming(), "n")
    };
    assert_eq!(with(""), Ok(vec!["q:d1".to_owned()]));
    assert_eq!(with(r#","count":2"#), none());
    assert_eq!(with(r#","allocationMode":"All""#), none());
    assert_eq!(
        with(r#","count":2,"adminAccess":true"#),
        Ok(vec!["q:d0".to_owned(), "q:d1".to_owned()])
    );
}

#[test]
fn constraints_compare_attributes() {
    for (constraint, expected) in [
        (r#"{"matchAttribute":"d/model"}"#, none()),
        (r#"{"matchAttribute":"d/gone"}"#, none()),
        (
            r#"{"matchAttribute":"d/model","requests":["other"]}"#,
            Ok(vec!["q:d0".to_owned(), "q:d1".to_owned()]),
        ),
        (r#"{"distinctAttribute":"d/model"}"#, Ok(vec!["q:d0".to_owned(), "q:d1".to_owned()])),
    ] {
        let more = format!(r#","constraints":[{constraint}]"#);
        let found = cluster(&request("q", r#","count":2"#), &more).devices(&claiming(), "n");
        assert_eq!(found, expected, "{constraint}");
    }
}

#[test]
fn taints_counters_and_missing_slices_make_devices_unusable() {
    let taint = r#"{"name":"d0","taints":[{"key":"k","effect":"NoSchedule"}]},{"name":"d1"}"#;
    let tolerant = r#","tolerations":[{"key":"k","operator":"Exists"}]"#;
    let counters = r#","sharedCounters":[{"name":"s","counters":{"memory":{"value":"4"}}}]"#;
    let part = |name: &str, memory: u32| {
        format!(
            r#"{{"name":"{name}","consumesCounters":[{{"counterSet":"s","counters":{{"memory":{{"value":"{memory}"}}}}}}]}}"#
        )
    };
    let parts = format!("{},{},{}", part("whole", 4), part("half", 2), part("rest", 2));
    for (slices, devices, more, request_more, expected) in [
        (1, taint, "", "", Ok(vec!["q:d1".to_owned()])),
        (1, taint, "", tolerant, Ok(vec!["q:d0".to_owned()])),
        (
            1,
            parts.as_str(),
            counters,
            r#","count":2"#,
            Ok(vec!["q:half".to_owned(), "q:rest".to_owned()]),
        ),
        (1, parts.as_str(), counters, r#","count":3"#, none()),
        (2, TWO, "", "", none()),
    ] {
        let cluster = cluster(&request("q", request_more), "").slice("n", slices, devices, more);
        assert_eq!(cluster.devices(&claiming(), "n"), expected, "{devices} {request_more}");
    }
}

#[test]
fn a_class_backs_an_extended_resource_where_the_node_does_not_offer_it() {
    let offered = r#""status":{"allocatable":{"example.com/gpu":"1","pods":"10"}}"#;
    let cluster = cluster("", "").node("m", "", offered);
    let asking = |count: u32| {
        pod(
            "p",
            "",
            &format!(
                r#"{{"containers":[{{"name":"c","resources":{{"requests":{{"example.com/gpu":"{count}"}}}}}}]}}"#
            ),
        )
    };
    assert!(cluster.fits(&asking(2), "n"));
    assert_eq!(cluster.refusing(&asking(3), "n"), [Plugin::DynamicResources]);
    assert!(cluster.fits(&asking(1), "m"));
    assert_eq!(cluster.refusing(&asking(2), "m"), [Plugin::NodeResourcesFit]);
    let pod = asking(1);
    let prepared = Prepared::new(&cluster.0, &pod, Mode::Allocate, Options::default());
    let choices = prepared.device_choices(cluster.0.node("n").expect("a node")).expect("devices");
    assert!(matches!(choices[0].target, DeviceTarget::Extended));
    assert!(prepared.extended_claim(cluster.0.node("m").expect("a node")).is_none());
}

/// Returns the requests of the claim for `example.com/gpu`, and the requests that each container uses.
fn extended(init: &[(&str, u32, &str)], main: &[(&str, u32)]) -> (Vec<String>, Vec<String>) {
    let container = |name: &str, count: u32, more: &str| {
        format!(
            r#"{{"name":"{name}"{more},"resources":{{"requests":{{"cpu":"1","example.com/gpu":"{count}","memory":"1"}}}}}}"#
        )
    };
    let init: Vec<_> =
        init.iter().map(|(name, count, more)| container(name, *count, more)).collect();
    let main: Vec<_> = main.iter().map(|(name, count)| container(name, *count, "")).collect();
    let spec =
        format!(r#"{{"initContainers":[{}],"containers":[{}]}}"#, init.join(","), main.join(","));
    let (pod, cluster) = (pod("p", "", &spec), cluster("", ""));
    let prepared = Prepared::new(&cluster.0, &pod, Mode::Allocate, Options::default());
    let claim = prepared.extended_claim(cluster.0.node("n").expect("a node")).expect("a claim");
    let requests = claim.requests.iter().map(|request| {
        let exactly = request.exactly.as_ref().expect("devices of a class");
        format!("{}: {} of {}", request.name, exactly.count, exactly.device_class_name)
    });
    let mappings =
        claim.mappings.iter().map(|it| format!("{}: {}", it.container_name, it.request_name));
    (requests.collect(), mappings.collect())
}

#[test]
fn the_claim_for_extended_resources_has_a_request_for_each_container() {
    // The resource is the second of each container by name.
    assert_eq!(
        extended(&[], &[("a", 1), ("none", 0), ("b", 2)]),
        (
            vec![
                "container-0-request-1: 1 of gpu".into(),
                "container-2-request-1: 2 of gpu".into()
            ],
            vec!["a: container-0-request-1".into(), "b: container-2-request-1".into()]
        )
    );
    // An init container uses the devices of later containers, and the largest rest of them is shared.
    assert_eq!(
        extended(&[("i", 1, ""), ("j", 3, ""), ("k", 2, "")], &[("a", 1)]),
        (
            vec![
                "container-1-request-1: 2 of gpu".into(),
                "container-3-request-1: 1 of gpu".into()
            ],
            vec![
                "a: container-3-request-1".into(),
                "i: container-3-request-1".into(),
                "j: container-3-request-1".into(),
                "j: container-1-request-1".into(),
                "k: container-3-request-1".into(),
                "k: container-1-request-1".into()
            ]
        )
    );
    // A sidecar that starts earlier keeps its devices.
    let sidecar = r#","restartPolicy":"Always""#;
    assert_eq!(
        extended(&[("s", 1, sidecar), ("i", 1, "")], &[]),
        (
            vec![
                "container-0-request-1: 1 of gpu".into(),
                "container-1-request-1: 1 of gpu".into()
            ],
            vec!["s: container-0-request-1".into(), "i: container-1-request-1".into()]
        )
    );
}

#[test]
fn a_claim_of_an_earlier_bind_refuses_all_nodes_until_it_is_deleted() {
    let spec = r#"{"containers":[{"name":"c","resources":{"requests":{"example.com/gpu":"1"}}}]}"#;
    let pod = pod("p", "", spec);
    let uid = &pod.pod().metadata.uid;
    let mut cluster = cluster("", "");
    assert!(cluster.fits(&pod, "n"));
    let claim: Claim = read(&format!(
        r#"{{"metadata":{{"name":"p-x","namespace":"lab","annotations":{{"{EXTENDED_CLAIM}":"true"}},
        "ownerReferences":[{{"kind":"Pod","name":"p","uid":"{uid}","controller":true}}]}}}}"#
    ));
    cluster.0.devices_mut().put_claim(Arc::new(claim));
    assert_eq!(cluster.refusing(&pod, "n"), [Plugin::DynamicResources]);
    let prepared = Prepared::new(&cluster.0, &pod, Mode::Allocate, Options::default());
    assert_eq!(prepared.idle_device_claim().expect("a claim").metadata.name, "p-x");
}

#[test]
fn devices_that_keep_a_pod_from_nodes_are_idle_if_no_other_pod_uses_them() {
    let allocated = |more: &str| {
        let status = format!(
            r#""allocation":{{"devices":{{"results":[{{"driver":"d","pool":"n","device":"d0",
            "bindingConditions":["attached"],"bindingFailureConditions":["broken"]}}]}},
            "nodeSelector":{{"nodeSelectorTerms":[{{"matchFields":[
            {{"key":"metadata.name","operator":"In","values":["n"]}}]}}]}}}}{more}"#
        );
        cluster(&request("q", ""), "").node("m", "", "").device_claim("mine", "", "", &status)
    };
    let pod = claiming();
    let uid = &pod.pod().metadata.uid;
    let reserved =
        |uid: &str| format!(r#","reservedFor":[{{"resource":"pods","name":"p","uid":"{uid}"}}]"#);
    for (more, is_idle) in
        [(String::new(), true), (reserved(uid), true), (reserved("other"), false)]
    {
        let cluster = allocated(&more);
        assert!(cluster.fits(&pod, "n"));
        assert_eq!(cluster.refusing(&pod, "m"), [Plugin::DynamicResources]);
        let prepared = Prepared::new(&cluster.0, &pod, Mode::Allocate, Options::default());
        assert_eq!(prepared.idle_device_claim().is_some(), is_idle, "{more}");
    }
}

#[test]
fn devices_are_ready_as_their_drivers_report() {
    let ready = |conditions: &str| {
        let claim: Claim = read(&format!(
            r#"{{"status":{{"allocation":{{"devices":{{"results":[{{"driver":"d","pool":"n","device":"d0",
            "bindingConditions":["attached","tested"],"bindingFailureConditions":["broken"]}}]}}}},
            "devices":[{{"driver":"d","pool":"n","device":"other","conditions":[{{"type":"broken","status":"True"}}]}},
            {{"driver":"d","pool":"n","device":"d0","conditions":[{conditions}]}}]}}}}"#
        ));
        readiness(&claim)
    };
    let waits = |condition: &str| DeviceReadiness::Waits {
        device: "d0".into(),
        condition: condition.into(),
    };
    let attached = r#"{"type":"attached","status":"True"}"#;
    let tested = |status: &str| format!(r#"{attached},{{"type":"tested","status":"{status}"}}"#);
    assert_eq!(ready(""), waits("attached"));
    assert_eq!(ready(attached), waits("tested"));
    assert_eq!(ready(&tested("False")), waits("tested"));
    assert_eq!(ready(&tested("True")), DeviceReadiness::Ready);
    let broken = r#"{"type":"broken","status":"True","reason":"Cable","message":"loose"}"#;
    assert_eq!(
        ready(&format!("{},{broken}", tested("True"))),
        DeviceReadiness::Failed { device: "d0".into(), reason: "broken: Cable: loose".into() }
    );
    assert_eq!(readiness(&Claim::default()), DeviceReadiness::Ready);
}

#[test]
fn devices_for_which_a_bind_waits_are_the_last_choice() {
    let slow = r#"{"name":"slow","bindingConditions":["attached"]}"#;
    let shared: ResourceSlice = read(
        r#"{"spec":{"driver":"d","allNodes":true,"devices":[{"name":"quick"}],
        "pool":{"name":"z","generation":1,"resourceSliceCount":1}}}"#,
    );
    let mut cluster = cluster(&request("q", ""), "").slice("n", 1, slow, "");
    assert_eq!(cluster.devices(&claiming(), "n"), Ok(vec!["q:slow".to_owned()]));
    cluster.0.set_slice(&"z".into(), Some(Arc::new(shared)));
    assert_eq!(cluster.devices(&claiming(), "n"), Ok(vec!["q:quick".to_owned()]));
}

#[test]
fn a_search_without_end_is_ended() {
    let devices: Vec<_> = (0..40)
        .map(|it| format!(r#"{{"name":"d{it}","attributes":{{"a":{{"int":{it}}}}}}}"#))
        .collect();
    let more = r#","constraints":[{"matchAttribute":"d/a"}]"#;
    let requests = format!("{},{}", request("q", r#","count":20"#), request("r", r#","count":12"#));
    let cluster = cluster(&requests, more).slice("n", 1, &devices.join(","), "");
    assert_eq!(cluster.devices(&claiming(), "n"), none());
}

#[test]
fn a_node_offers_as_many_of_a_resource_as_it_has_devices() {
    let mut cluster = cluster("", "").node("m", "", "");
    let offers = |cluster: &Cluster, node: &str| -> Vec<(String, i64)> {
        let by_class = [Text::from("deviceclass.resource.kubernetes.io/gpu")].into_iter().collect();
        let offers = DeviceOffers::new(cluster.0.devices(), &by_class);
        let on_node = offers.on_node(cluster.0.node(node).expect("a node"));
        on_node.into_iter().map(|(name, number)| (name.to_owned(), number)).collect()
    };
    let both = |number: i64| {
        vec![
            ("example.com/gpu".to_owned(), number),
            ("deviceclass.resource.kubernetes.io/gpu".to_owned(), number),
        ]
    };
    assert_eq!(cluster.0.take_devices_due(), ["m", "n"], "a class changed");
    assert!(!cluster.0.is_device_due());
    assert_eq!((offers(&cluster, "n"), offers(&cluster, "m")), (both(2), vec![]));
    let mut cluster = cluster.slice("n", 1, r#"{"name":"d0"}"#, "");
    assert_eq!(cluster.0.take_devices_due(), ["n"]);
    assert_eq!(offers(&cluster, "n"), both(1));
    let mut cluster = cluster.slice("n", 2, r#"{"name":"d0"}"#, "");
    assert_eq!(offers(&cluster, "n"), [], "a slice is missing");
    cluster.0.set_device_class(&"gpu".into(), None);
    assert_eq!(cluster.0.take_devices_due(), ["m", "n"]);
    assert_eq!(offers(&cluster, "n"), []);
}

#[test]
fn the_newest_of_several_classes_backs_a_resource() {
    let mut cluster = cluster("", "");
    for (name, time) in [("old", "2020"), ("a-new", "2025"), ("new", "2025")] {
        let class: DeviceClass = read(&format!(
            r#"{{"metadata":{{"name":"{name}","creationTimestamp":"{time}-01-01T00:00:00Z"}},
            "spec":{{"extendedResourceName":"example.com/gpu"}}}}"#
        ));
        cluster.0.set_device_class(&name.into(), Some(Arc::new(class)));
    }
    let class = cluster.0.devices().backing_class("example.com/gpu").expect("a class");
    assert_eq!(class.metadata.name, "a-new");
}

#[test]
fn a_pod_with_more_requests_than_a_claim_can_have_is_refused() {
    let of = |number: usize| {
        let container = |at: usize| {
            format!(r#"{{"name":"c{at}","resources":{{"requests":{{"example.com/gpu":"1"}}}}}}"#)
        };
        let all: Vec<_> = (0..number).map(container).collect();
        pod(
            "p",
            "",
            &format!(
                r#"{{"containers":[{}],"initContainers":[{}]}}"#,
                all.join(","),
                all.join(",")
            ),
        )
    };
    let many: Vec<_> = (0..40).map(|at| format!(r#"{{"name":"d{at}"}}"#)).collect();
    let cluster = cluster("", "").slice("n", 1, &many.join(","), "");
    assert!(cluster.fits(&of(32), "n"));
    assert_eq!(cluster.refusing(&of(33), "n"), [Plugin::DynamicResources]);
    assert_eq!(cluster.refusing(&of(3_000), "n"), [Plugin::DynamicResources]);
}

#[test]
fn an_assumption_ends_with_its_own_write_and_its_own_claim() {
    let claim = |uid: &str, status: &str| -> Claim {
        read(&format!(
            r#"{{"metadata":{{"name":"mine","namespace":"lab","uid":"{uid}"}},"status":{{{status}}}}}"#
        ))
    };
    let with_device =
        r#""allocation":{"devices":{"results":[{"driver":"d","pool":"n","device":"d0"}]}}"#;
    let mut cluster = Cluster::default();
    let devices = cluster.0.devices_mut();
    let has_device = |devices: &Devices| {
        devices.claim("lab", "mine").is_some_and(|claim| claim.status.allocation.is_some())
    };
    // A claim that does not exist yet. An earlier claim of its name goes after the assumption.
    devices.put_claim(Arc::new(claim("old", "")));
    devices.assume(claim("", with_device), "p".into(), 1);
    devices.remove_claim(&claim("old", ""));
    assert!(has_device(devices));
    // The end of an earlier write changes nothing.
    devices.drop_assumed("lab", "mine", 0);
    assert!(has_device(devices));
    // The new claim hides the assumption only when it has the devices.
    devices.put_claim(Arc::new(claim("new", "")));
    assert!(has_device(devices) && devices.is_assumed_for("p"));
    devices.put_claim(Arc::new(claim("new", with_device)));
    assert!(has_device(devices) && !devices.is_assumed_for("p"));
    // The end of the pod ends what no event ended.
    devices.assume(claim("new", with_device), "p".into(), 2);
    devices.put_claim(Arc::new(claim("new", "")));
    assert!(has_device(devices));
    devices.drop_assumed_for("p");
    assert!(!has_device(devices));
}
