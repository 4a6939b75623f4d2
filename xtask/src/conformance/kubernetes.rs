//! Judges recorded answers of Kubernetes' filter plugins and of YuniKorn's Kubernetes shim.
//!
//! `headroom_pods::conformance` compares. This module turns its comparisons into verdicts.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, anyhow};
use headroom_pods::conformance::{Decision, conversion, predicate};
use serde::Deserialize as _;
use serde_json::Value;

use super::{Judge, Rule, Verdict};

/// Pods, notices, quantities, and settings mean what YuniKorn's shim takes them for.
pub(super) struct Conversion;

impl Judge for Conversion {
    fn judge(&self, case: &Value) -> Result<Verdict> {
        let compared = conversion::compare(case).map_err(|fault| anyhow!(fault))?;
        Ok(verdict(first(&compared.differences), &compared.decisions))
    }

    fn show(&self, case: &Value) -> Result<String> {
        let compared = conversion::compare(case).map_err(|fault| anyhow!(fault))?;
        Ok(page(case, &lines(&compared.differences), &compared.decisions))
    }
}

/// Every plugin accepts and refuses the nodes that kube-scheduler's plugin accepts and refuses.
pub(super) struct Predicates;

impl Judge for Predicates {
    fn judge(&self, case: &Value) -> Result<Verdict> {
        let compared = predicate::compare(read(case)?);
        Ok(verdict(first(&compared.differences), &compared.decisions))
    }

    fn show(&self, case: &Value) -> Result<String> {
        let compared = predicate::compare(read(case)?);
        let mut shown = lines(&compared.differences);
        let wording = lines(&compared.wording);
        shown.extend(wording.iter().map(|line| format!("only in words: {line}")));
        Ok(page(case, &shown, &compared.decisions))
    }
}

fn read(case: &Value) -> Result<predicate::Case> {
    predicate::Case::deserialize(case).context("not a case of predicates")
}

fn first(differences: &[impl ToString]) -> Option<String> {
    let one = differences.first()?.to_string();
    Some(match differences.len() - 1 {
        0 => one,
        others => format!("{one}, and {others} more"),
    })
}

fn verdict(difference: Option<String>, decisions: &BTreeSet<Decision>) -> Verdict {
    match difference {
        Some(what) => Verdict::Differs { step: 0, what },
        None if decisions.is_empty() => Verdict::Equal,
        None => Verdict::Decided(decisions.iter().map(|one| rule(*one)).collect()),
    }
}

fn rule(decision: Decision) -> Rule {
    Rule { decision: decision.number(), why: decision.why() }
}

fn lines(differences: &[impl ToString]) -> Vec<String> {
    differences.iter().map(ToString::to_string).collect()
}

fn page(case: &Value, differences: &[String], decisions: &BTreeSet<Decision>) -> String {
    let rules = decisions.iter().map(|one| format!("by rule {}: {}\n", one.number(), one.why()));
    let differences = differences.iter().map(|one| format!("DIFFERS {one}\n"));
    format!("{case:#}\n{}", rules.chain(differences).collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_quantity_is_equal_decided_or_different() {
        for (value, milli, expected) in [
            (json!(2), json!(1_500), "equal"),
            (json!(1), json!(1_500), "different"),
            (json!(2), json!(1_501), "different"),
        ] {
            let case =
                json!({ "name": "a", "text": "1500m", "ok": true, "value": value, "milli": milli });
            let verdict = match Conversion.judge(&case).unwrap() {
                Verdict::Equal => "equal",
                Verdict::Decided(_) => "decided",
                Verdict::Differs { .. } => "different",
                Verdict::Unjudged => "unjudged",
            };
            assert_eq!(verdict, expected, "{case}");
        }
        let wrapped = json!({
            "name": "a", "text": "9223372036854775808", "ok": true,
            "value": i64::MIN, "milli": i64::MIN,
        });
        let saturation = Verdict::Decided(vec![rule(Decision::Saturation)]);
        assert_eq!(Conversion.judge(&wrapped).unwrap(), saturation);
    }

    fn cordoned(fits: &Value) -> Value {
        let refused = json!({
            "code": "UnschedulableAndUnresolvable", "reasons": ["node(s) were unschedulable"],
        });
        let allocatable = json!({ "pods": "10" });
        json!({
            "name": "a", "covers": [],
            "cluster": { "nodes": [
                { "metadata": { "name": "n1" }, "spec": { "unschedulable": true },
                  "status": { "allocatable": allocatable } },
                { "metadata": { "name": "n2" }, "status": { "allocatable": allocatable } },
            ] },
            "pod": { "metadata": { "name": "p", "namespace": "default", "uid": "u" } },
            "result": {
                "filter": { "n1": { "NodeUnschedulable": refused } },
                "fits": fits,
                "yunikorn": { "reserve": { "n1": ["NodeUnschedulable", ""] } },
            },
        })
    }

    #[test]
    fn a_node_that_is_refused_otherwise_is_a_difference() {
        let verdict = |fits: Value| Predicates.judge(&cordoned(&fits)).unwrap();
        assert_eq!(verdict(json!(["n2"])), Verdict::Equal);
        for wrong in [json!(["n1", "n2"]), json!([])] {
            assert!(matches!(verdict(wrong.clone()), Verdict::Differs { .. }), "{wrong}");
        }
        let mut case = cordoned(&json!(["n2"]));
        case["result"]["filter"]["n1"]["NodeUnschedulable"]["code"] = "Unschedulable".into();
        let shown = Predicates.show(&case).unwrap();
        assert!(shown.contains("DIFFERS NodeUnschedulable n1: "), "{shown}");
    }

    #[test]
    fn a_case_of_another_shape_is_unreadable() {
        let case = json!({ "name": "a", "pods": [] });
        assert!(Predicates.judge(&case).is_err());
        assert!(Conversion.judge(&case).is_err());
    }
}
