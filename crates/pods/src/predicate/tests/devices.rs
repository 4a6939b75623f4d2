//! Devices and their claims.

use crate::object::{Claim, DeviceClass, ResourceSlice};
use crate::predicate::{DeviceRefusal, DeviceTarget};

use super::*;

impl Cluster {
    /// Adds a class `gpu` of all devices, which backs `example.com/gpu`.
    fn class_of_devices(mut self) -> Self {
        let class: DeviceClass = read(
            r#"{"metadata":{"name":"gpu"},"spec":{"extendedResourceName":"example.com/gpu",
            "selectors":[{"cel":{"expression":"device.driver == 'd'"}}]}}"#,
        );
        self.0.devices_mut().classes.insert("gpu".into(), Arc::new(class));
        self
    }

    /// Adds a slice of the pool of a node, which has `slices` slices.
    fn slice(mut self, node: &str, slices: u32, devices: &str, more: &str) -> Self {
        let slice: ResourceSlice = read(&format!(
            r#"{{"spec":{{"driver":"d","nodeName":"{node}","devices":[{devices}]{more},
            "pool":{{"name":"{node}","generation":1,"resourceSliceCount":{slices}}}}}}}"#
        ));
        self.0.devices_mut().slices.insert(node.into(), Arc::new(slice));
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
    assert!(matches!(choices[0].target, DeviceTarget::Extended(_)));
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
