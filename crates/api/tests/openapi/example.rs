//! Examples against schemas: every value is of its schema, and every field of every schema occurs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use headroom_api::openapi;
use serde_json::{Map, Value};

/// Every example with its schema, `[]` around it for a list.
const EXAMPLES: [(&str, &str); 67] = [
    ("headroomv1/bye", "Bye"),
    ("headroomv1/events-first", "EventPage"),
    ("headroomv1/partitions-many", "PartitionPage"),
    ("headroomv1/audit", "AuditPage"),
    ("headroomv1/events", "EventPage"),
    ("headroomv1/explanation", "Explanation"),
    ("headroomv1/explanation-rejected", "Explanation"),
    ("headroomv1/health", "ServerHealth"),
    ("headroomv1/hello", "Hello"),
    ("headroomv1/ledger-verified", "LedgerVerified"),
    ("headroomv1/log-level", "LogLevel"),
    ("headroomv1/new-task", "TaskSubmission"),
    ("headroomv1/partition", "StampedPartition"),
    ("headroomv1/partitions", "PartitionPage"),
    ("headroomv1/plan", "Plan"),
    ("headroomv1/plan-refused", "Plan"),
    ("headroomv1/problem", "Problem"),
    ("headroomv1/queue-file-applied", "QueueFileApplied"),
    ("headroomv1/quota-check", "QuotaCheck"),
    ("headroomv1/tenant-event", "TenantEvent"),
    ("headroomv1/tenant-event-resized", "TenantEvent"),
    ("headroomv1/tenant-event-quota", "TenantEvent"),
    ("headroomv1/reasons", "WaitingReasons"),
    ("headroomv1/task", "Task"),
    ("headroomv1/task-measurement", "TaskMeasurement"),
    ("headroomv1/task-rank", "TaskRank"),
    ("headroomv1/task-release", "TaskRelease"),
    ("headroomv1/task-resize", "TaskResize"),
    ("headroomv1/tasks", "TaskPage"),
    ("headroomv1/tasks-many", "TaskPage"),
    ("headroomv1/tenant", "Tenant"),
    ("headroomv1/tenant-defaults", "TenantDefaults"),
    ("headroomv1/tenant-quota", "TenantQuota"),
    ("headroomv1/tenant-usage", "TenantUsage"),
    ("headroomv1/tenants", "TenantPage"),
    ("headroomv1/tenants-many", "TenantPage"),
    ("headroomv1/waiting", "WaitingList"),
    ("headroomv1/waiting-task", "WaitingTask"),
    ("headroomv1/would-run", "WouldRun"),
    ("wsv1/application", "Application"),
    ("wsv1/applications", "[Application]"),
    ("wsv1/clusters", "[Cluster]"),
    ("wsv1/config", "Config"),
    ("wsv1/error", "ErrorBody"),
    ("wsv1/events-batch", "EventBatch"),
    ("wsv1/events-batch-empty", "EventBatch"),
    ("wsv1/events-stream", "[StreamLine]"),
    ("wsv1/group", "GroupUsage"),
    ("wsv1/groups", "[GroupUsage]"),
    ("wsv1/health", "Health"),
    ("wsv1/history-apps", "[ApplicationHistory]"),
    ("wsv1/history-containers", "[ContainerHistory]"),
    ("wsv1/node", "Node"),
    ("wsv1/node-utilizations", "[PartitionNodesUtilization]"),
    ("wsv1/nodes", "[Node]"),
    ("wsv1/partitions", "[Partition]"),
    ("wsv1/placementrules", "[PlacementRule]"),
    ("wsv1/queue", "Queue"),
    ("wsv1/queues", "Queue"),
    ("wsv1/simulated-limits", "SimulatedLimits"),
    ("wsv1/state-dump", "StateDump"),
    ("wsv1/user-limits", "UserLimits"),
    ("wsv1/user-limits-off", "UserLimits"),
    ("wsv1/user-limits-simulation", "UserLimitsSimulation"),
    ("wsv1/users", "[UserUsage]"),
    ("wsv1/validate-conf-allowed", "Validation"),
    ("wsv1/validate-conf-refused", "Validation"),
];

#[test]
fn examples_are_of_their_schemas_and_leave_no_field_out() {
    let document = serde_json::to_value(openapi()).unwrap();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut judge = Judge { schemas, seen: BTreeSet::new() };
    for (file, schema) in EXAMPLES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{file}.json"));
        let example: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let name = schema.trim_matches(['[', ']']);
        if schema.starts_with('[') {
            for one in example.as_array().unwrap() {
                judge.named(name, one).unwrap_or_else(|wrong| panic!("{file}: {wrong}"));
            }
        } else {
            judge.named(name, &example).unwrap_or_else(|wrong| panic!("{file}: {wrong}"));
        }
    }
    let mut missing = BTreeSet::new();
    for (name, schema) in schemas {
        for field in judge.fields(schema).0.keys() {
            if !judge.seen.contains(&(name.clone(), field.clone())) {
                missing.insert(format!("{name}.{field}"));
            }
        }
    }
    assert_eq!(missing, BTreeSet::new());
}

#[test]
fn a_value_of_another_schema_is_found() {
    let document = serde_json::to_value(openapi()).unwrap();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut judge = Judge { schemas, seen: BTreeSet::new() };
    for (name, value, expected) in [
        ("Validation", "{}", "Validation: allowed is missing"),
        ("Validation", r#"{"allowed": "yes"}"#, "Validation: allowed: \"yes\" is no "),
        ("Validation", r#"{"allowed": true, "reasons": ""}"#, "Validation: reasons: unknown"),
        (
            "LogLevel",
            r#"{"level": "loud", "targets": {}}"#,
            "LogLevel: level: Level: \"loud\" is not of ",
        ),
        (
            "EventBatch",
            r#"{"InstanceUUID": "", "LowestID": 0, "HighestID": 0}"#,
            "EventBatch: EventRecords is missing",
        ),
        (
            "Ask",
            r#"{"allocationKey": "", "resource": {"vcore": "1"}}"#,
            "Ask: resource: Resources: vcore: \"1\" is no ",
        ),
        ("Ask", r#"{"allocationKey": "", "priority": 1}"#, "Ask: priority: 1 is of no choice"),
    ] {
        let value = serde_json::from_str(value).unwrap();
        let found = judge.named(name, &value).unwrap_err();
        assert!(found.starts_with(expected), "{name} {value}: {found}");
    }
}

/// As much of JSON Schema as the document uses.
struct Judge<'a> {
    schemas: &'a Map<String, Value>,
    /// Fields that occurred, with the name of their schema.
    seen: BTreeSet<(String, String)>,
}

impl Judge<'_> {
    fn named(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let schema = self.schemas.get(name).ok_or_else(|| format!("no schema {name}"))?;
        self.check(name, &schema.clone(), value).map_err(|wrong| format!("{name}: {wrong}"))
    }

    /// All fields of an object, those of its parts included, and the ones that must be there.
    fn fields(&self, schema: &Value) -> (Map<String, Value>, BTreeSet<String>) {
        let mut fields = schema["properties"].as_object().cloned().unwrap_or_default();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut required: BTreeSet<_> =
            list(&schema["required"]).iter().map(|one| one.as_str().unwrap().to_owned()).collect();
        for part in list(&schema["allOf"]) {
            let (more, needed) = self.fields(self.resolve(&part));
            fields.extend(more);
            required.extend(needed);
        }
        (fields, required)
    }

    fn resolve<'v>(&'v self, schema: &'v Value) -> &'v Value {
        match schema["$ref"].as_str() {
            Some(reference) => &self.schemas[reference.rsplit('/').next().unwrap()],
            None => schema,
        }
    }

    fn check(&mut self, name: &str, schema: &Value, value: &Value) -> Result<(), String> {
        if let Some(reference) = schema["$ref"].as_str() {
            return self.named(reference.rsplit('/').next().unwrap(), value);
        }
        if let Some(choices) = schema["oneOf"].as_array() {
            // The last one that fits: in a stream that is the event, where all is optional.
            let fits = choices.iter().any(|one| self.check(name, one, value).is_ok());
            return if fits { Ok(()) } else { Err(format!("{value} is of no choice")) };
        }
        if let Some(words) = schema["enum"].as_array() {
            let known = words.contains(value);
            return if known { Ok(()) } else { Err(format!("{value} is not of {words:?}")) };
        }
        if schema["type"] == "object" || schema.get("allOf").is_some() {
            return self.object(name, schema, value);
        }
        let types = match &schema["type"] {
            Value::Array(types) => types.clone(),
            one => vec![one.clone()],
        };
        let fits = types.iter().any(|one| match one.as_str().unwrap_or_default() {
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "null" => value.is_null(),
            other => panic!("{name} has a type {other:?}"),
        });
        if !fits {
            return Err(format!("{value} is no {types:?}"));
        }
        for one in value.as_array().unwrap_or(&Vec::new()) {
            self.check(name, &schema["items"], one)?;
        }
        Ok(())
    }

    fn object(&mut self, name: &str, schema: &Value, value: &Value) -> Result<(), String> {
        let object = value.as_object().ok_or_else(|| format!("{value} is no object"))?;
        let (fields, required) = self.fields(schema);
        if let Some(missing) = required.iter().find(|one| !object.contains_key(*one)) {
            return Err(format!("{missing} is missing"));
        }
        for part in schema["allOf"].as_array().into_iter().flatten() {
            if let Some(reference) = part["$ref"].as_str() {
                let part_name = reference.rsplit('/').next().unwrap();
                let inner = self.fields(self.resolve(part)).0;
                let met = inner.keys().filter(|field| object.contains_key(*field));
                self.seen.extend(met.map(|field| (part_name.to_owned(), field.clone())));
            }
        }
        let others = schema.get("additionalProperties").filter(|one| one.is_object());
        for (field, inner) in object {
            match (fields.get(field), others) {
                (Some(schema), _) => {
                    self.seen.insert((name.to_owned(), field.clone()));
                    self.check(name, schema, inner)
                }
                (None, Some(schema)) => self.check(name, schema, inner),
                // An object without any field of its own may hold anything.
                (None, None) if fields.is_empty() => Ok(()),
                (None, None) => Err("unknown".into()),
            }
            .map_err(|wrong: String| format!("{field}: {wrong}"))?;
        }
        Ok(())
    }
}
