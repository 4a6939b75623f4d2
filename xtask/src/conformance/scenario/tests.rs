//! The judge on small histories, and on one that is made wrong.

use serde_json::{Value, json};

use super::{LIMITS, Scenario};
use crate::conformance::{Judge as _, Verdict};

const CONFIG: &str = "
partitions:
  - name: default
    queues:
      - name: root
        submitacl: '*'
        queues:
          - name: a
            resources: {max: {memory: 50}}
";

fn node(id: &str) -> Value {
    let size = json!({"resources": {"memory": {"value": "100"}}});
    json!({"nodes": {"nodes": [{"nodeID": id, "action": "CREATE", "schedulableResource": size}]},
           "responses": {"acceptedNodes": [id]}})
}

/// One application with one allocation of 10.
fn history() -> Vec<Value> {
    let new = json!([{"applicationID": "x", "queueName": "root.a", "ugi": {"user": "u"}}]);
    let size = json!({"resources": {"memory": {"value": "10"}}});
    let ask = json!([{"allocationKey": "k", "applicationID": "x", "resourcePerAlloc": size}]);
    let state = |state: &str| json!([{"applicationID": "x", "state": state}]);
    let placed = json!([{
        "allocationKey": "k", "applicationID": "x", "nodeID": "n1", "resource": {"memory": 10},
    }]);
    vec![
        json!({"register": {"rmID": "rm"}}),
        node("n1"),
        json!({"applications": {"new": new}, "responses": {"acceptedApplications": ["x"]}}),
        json!({"allocations": {"allocations": ask},
               "responses": {"updatedApplications": state("Accepted")}}),
        json!({"schedule": 9, "responses": {"newAllocations": placed,
               "updatedApplications": state("Running")}}),
    ]
}

fn judge(steps: &[Value], more: &Value) -> Verdict {
    let mut case = json!({"name": "x", "config": CONFIG, "steps": steps, "covers": ["x"]});
    let fields = case.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    Scenario.judge(&case).unwrap()
}

fn differs(step: usize, what: &str) -> Verdict {
    Verdict::Differs { step, what: what.to_owned() }
}

#[test]
fn a_history_is_equal_or_differs_at_its_first_step() {
    let mut steps = history();
    assert_eq!(judge(&steps, &json!({})), Verdict::Equal);
    steps[4]["responses"]["newAllocations"][0]["nodeID"] = json!("n2");
    let place = "responses.newAllocations[k].nodeID";
    let expected = differs(4, &format!("{place} is \"n1\", recorded is \"n2\""));
    assert_eq!(judge(&steps, &json!({})), expected);
    steps[3].as_object_mut().unwrap().remove("responses");
    let Verdict::Differs { step: 3, what } = judge(&steps, &json!({})) else { panic!("step 3") };
    assert!(what.ends_with("recorded is absent"), "{what}");
}

#[test]
fn snapshots_are_compared_as_rest_shows_them() {
    let mut steps = history();
    let mut snapshot = json!({"users": [{"userName": "u", "queues": {
        "queuePath": "root", "resourceUsage": {"memory": 10}, "runningApplications": ["x"],
        "children": [{"queuePath": "root.a", "resourceUsage": {"memory": 10, "vcore": 0},
                      "runningApplications": ["x"]}],
    }}]});
    let unstable = json!(["queues", "applications", "nodes", "groups", "partitions"]);
    steps.push(json!({"snapshot": snapshot.clone(), "unstable": unstable}));
    assert_eq!(judge(&steps, &json!({})), Verdict::Equal);
    snapshot["users"][0]["queues"]["children"][0]["maxApplications"] = json!(1);
    steps[5]["snapshot"] = snapshot;
    let place = "users[u].queues.children[root.a].maxApplications";
    let expected = differs(5, &format!("{place} is absent, recorded is 1"));
    assert_eq!(judge(&steps, &json!({})), expected);
}

#[test]
fn what_the_record_says_of_itself_bounds_the_comparison() {
    let mut steps = history();
    steps[4]["responses"]["newAllocations"][0]["nodeID"] = json!("n2");
    for (more, equal) in [
        (json!({"quirks": [{"quirk": "stale-node-score", "firstStep": 4}]}), true),
        (json!({"quirks": [{"quirk": "stale-node-score", "firstStep": 5}]}), false),
        (json!({"quirks": [{"quirk": "unheard-of", "firstStep": 4}]}), false),
        (json!({"referenceInvariants": [{"broken": "group-usage-sum", "firstStep": 3}]}), true),
    ] {
        assert_eq!(judge(&steps, &more) == Verdict::Equal, equal, "{more}");
    }
    steps[4]["unstable"] = json!(["responses"]);
    assert_eq!(judge(&steps, &json!({})), Verdict::Equal);
}

#[test]
fn nonsense_is_an_error() {
    for (step, expected) in [
        (json!({"unheard-of": 1}), "step 0: a step with \"unheard-of\" is unknown"),
        (json!({"schedule": "x"}), "step 0: schedule must be a whole number"),
        (json!(1), "step 0: a step must be an object"),
    ] {
        let case = json!({"name": "x", "config": CONFIG, "steps": [step]});
        assert_eq!(format!("{:#}", Scenario.judge(&case).unwrap_err()), expected, "{case}");
    }
}

#[test]
fn the_subset_goes_by_tags() {
    for (covers, expected) in [
        (json!(["user-limit", "release"]), Some(LIMITS)),
        (json!(["user-limit", "preemption"]), None),
        (json!(["release"]), None),
    ] {
        assert_eq!(Scenario.subset(&json!({"covers": covers}), "hand"), expected, "{covers}");
    }
}

#[test]
fn a_page_shows_each_step_with_both_sides() {
    let mut steps = history();
    steps[4]["responses"]["newAllocations"][0]["nodeID"] = json!("n2");
    let case = json!({"name": "x", "config": CONFIG, "steps": steps});
    let page = Scenario.show(&case).unwrap();
    assert!(page.contains("\n4: schedule 9\n  ours     {"), "{page}");
    assert!(page.contains("\n  DIFFERS  responses.newAllocations[k].nodeID is \"n1\""), "{page}");
}
