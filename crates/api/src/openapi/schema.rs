//! The schemas that routes name, with all that they refer to.

use serde_json::Value;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::{ComponentsBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::{headroomv1, wsv1};

macro_rules! schemas {
    ($($body:ty $(as $name:literal)?),* $(,)?) => {{
        let mut schemas = Vec::new();
        $(collect::<$body>(&mut schemas, None$(.or(Some($name)))?);)*
        schemas
    }};
}

/// All schemas.
pub(super) fn components() -> ComponentsBuilder {
    named().into_iter().fold(ComponentsBuilder::new(), |components, (name, mut schema)| {
        name_constants(&name, &mut schema);
        describe_alternatives(&mut schema);
        components.schema(name, schema)
    })
}

/// Adds a name for each constant of an enum, unique in the document: `TASK_STATE_WAITING`.
///
/// Generated Go code has the constants of all enums in one scope, where `active` of two enums collides.
fn name_constants(schema_name: &str, schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::Object(object)) = schema else { return };
    let Some(values) = &object.enum_values else { return };
    let names = values.iter().map(|value| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Value::from(format!("{}_{}", upper_snake(schema_name), upper_snake(&value)))
    });
    let names: Value = names.collect();
    object.extensions.get_or_insert_with(Extensions::default).insert(ENUM_NAMES.to_owned(), names);
}

/// Moves the descriptions of alternatives that are references to the schema itself.
///
/// The generator of TypeScript code does not import what a reference with a description names.
fn describe_alternatives(schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::OneOf(one_of)) = schema else { return };
    for alternative in &mut one_of.items {
        let RefOr::Ref(reference) = alternative else { continue };
        if reference.description.is_empty() {
            continue;
        }
        let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
        let line = format!("\n- `{name}`: {}", reference.description);
        one_of.description.get_or_insert_default().push_str(&line);
        reference.description.clear();
    }
}

/// The extension from which generators of clients take the names of constants.
const ENUM_NAMES: &str = "x-enum-varnames";

/// Returns `fifoBackfill`, `fifo-backfill`, and `FIFO_BACKFILL` as `FIFO_BACKFILL`.
fn upper_snake(name: &str) -> String {
    let mut upper = String::new();
    let mut is_lower = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && is_lower {
            upper.push('_');
        }
        is_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        upper.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' });
    }
    upper
}

/// Every schema with its name, some more than once.
fn named() -> Vec<(String, RefOr<Schema>)> {
    schemas![
        wsv1::Application,
        wsv1::ApplicationHistory,
        wsv1::Cluster,
        wsv1::Config,
        wsv1::ContainerHistory,
        wsv1::ErrorBody,
        wsv1::EventBatch,
        wsv1::GroupUsage,
        wsv1::Health,
        wsv1::Node,
        wsv1::Partition,
        wsv1::PartitionNodesUtilization,
        wsv1::PlacementRule,
        wsv1::Queue,
        wsv1::SimulatedLimits,
        wsv1::StateDump,
        wsv1::StreamLine,
        wsv1::UserLimits,
        wsv1::UserLimitsSimulation,
        wsv1::UserUsage,
        wsv1::Validation,
        headroomv1::AuditPage,
        headroomv1::Bye,
        headroomv1::Event,
        headroomv1::AwayManager,
        headroomv1::ExplainedHold,
        headroomv1::ExplainedPod,
        headroomv1::RefusedNodes,
        headroomv1::ExplainedPreemption,
        headroomv1::Explanation,
        headroomv1::Hello,
        headroomv1::LogLevel,
        headroomv1::Page<headroomv1::Event> as "EventPage",
        headroomv1::Page<headroomv1::PartitionSummary> as "PartitionPage",
        headroomv1::Page<headroomv1::Tenant> as "TenantPage",
        headroomv1::Plan,
        headroomv1::Problem,
        headroomv1::QueueFileApplied,
        headroomv1::ServerHealth,
        headroomv1::StampedPartition,
        headroomv1::Tenant,
        headroomv1::TenantDefaults,
        headroomv1::TenantQuota,
        headroomv1::TenantEvent,
        headroomv1::TenantVictim,
        headroomv1::TenantUsage,
        headroomv1::LedgerVerified,
        headroomv1::TaskSubmission,
        headroomv1::Task,
        headroomv1::Page<headroomv1::Task> as "TaskPage",
        headroomv1::TaskRelease,
        headroomv1::TaskResize,
        headroomv1::TaskMeasurement,
        headroomv1::TaskRank,
        headroomv1::QuotaCheck,
        headroomv1::WouldRun,
        headroomv1::WaitingList,
        headroomv1::WaitingTask,
        headroomv1::WaitingReasons,
    ]
}

/// The type's schema and all that it refers to. Types with parameters need a name of their own.
fn collect<T: ToSchema>(schemas: &mut Vec<(String, RefOr<Schema>)>, name: Option<&str>) {
    let name = name.map_or_else(|| T::name().into_owned(), str::to_owned);
    schemas.push((name, <T as PartialSchema>::schema()));
    T::schemas(schemas);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{named, upper_snake};

    #[test]
    fn names_of_constants_are_in_capitals() {
        for (name, expected) in [
            ("TaskState", "TASK_STATE"),
            ("readOnly", "READ_ONLY"),
            ("fifo-backfill", "FIFO_BACKFILL"),
            ("TENANT_CREATED", "TENANT_CREATED"),
            ("yarn27", "YARN27"),
        ] {
            assert_eq!(upper_snake(name), expected);
        }
    }

    #[test]
    fn no_two_bodies_have_one_name() {
        let mut seen = BTreeMap::new();
        for (name, schema) in named() {
            let text = serde_json::to_string(&schema).unwrap();
            let first = seen.entry(name.clone()).or_insert_with(|| text.clone());
            assert_eq!(*first, text, "two schemas are called {name}");
        }
    }
}
