//! Routes of tenants.

use super::answer::{JSON, PROBLEM, ok, problem};
use super::headroomv1::{CURSOR, LIMIT, UNCHANGED};
use super::{Access, Answer, Body, Method, Parameter, ParameterKind, Route, Shape, Tag};

const OF_KIND: Parameter = Parameter {
    name: "kind",
    kind: ParameterKind::OneOf(&["user", "project", "department"]),
    summary: "Only those that stand for this.",
};
const PARENT: Parameter = Parameter {
    name: "parent",
    kind: ParameterKind::Text,
    summary: "Only those right below this tenant.",
};
const OVER_QUOTA: Parameter = Parameter {
    name: "overQuota",
    kind: ParameterKind::OneOf(&["true", "false"]),
    summary: "Only those that use more than they may, or only the others.",
};
const FROM: Parameter =
    Parameter { name: "from", kind: ParameterKind::Text, summary: "From this time on (RFC 3339)." };
const TO: Parameter =
    Parameter { name: "to", kind: ParameterKind::Text, summary: "Before this time (RFC 3339)." };
const TYPE: Parameter = Parameter {
    name: "type",
    kind: ParameterKind::OneOf(&[
        "TENANT_CREATED",
        "TENANT_CHANGED",
        "TENANT_DELETED",
        "QUOTA_CHANGED",
        "TASK_SUBMITTED",
        "TASK_THROTTLED",
        "TASK_STARTED",
        "TASK_ENDED",
        "TASK_CANCELLED",
        "TASK_EVICTED",
        "TASK_CONFIRMED",
        "TASK_MEASURED",
        "TASK_RESIZED",
        "TASK_RANKED",
        "TASK_REJECTED",
        "ORDER_CHANGED",
        "LEDGER_REBUILT",
        "LEDGER_DRIFT",
    ]),
    summary: "Only what is of this type.",
};
const DRY_RUN: Parameter = Parameter {
    name: "dryRun",
    kind: ParameterKind::OneOf(&["true", "false"]),
    summary: "`true`: say what would come of it, and change nothing.",
};
const MODE: Parameter = Parameter {
    name: "mode",
    kind: ParameterKind::OneOf(&["refuse", "drain"]),
    summary: "Of a tenant with tasks: `refuse` that it goes, or let it `drain` and go with the last.",
};

const TENANT: Body = Body { media: JSON, shape: Shape::One("Tenant") };
const AUDIT: Body = Body { media: JSON, shape: Shape::One("AuditPage") };
const QUOTA: Body = Body { media: JSON, shape: Shape::One("TenantQuota") };
const DEFAULTS: Body = Body { media: JSON, shape: Shape::One("TenantDefaults") };

const CREATED: Answer =
    Answer { status: 201, meaning: "It is there now.", bodies: &[TENANT], headers: &[] };
pub(super) const MALFORMED: Answer = problem(400, "A parameter or the body cannot be read.");
pub(super) const NOT_JSON: Answer = problem(415, "The body is not JSON.");
pub(super) const NO_TENANT: Answer = problem(404, "No such tenant.");
pub(super) const OFF: Answer = problem(409, "No partition has tenants.");
pub(super) const IN_THE_WAY: Answer = problem(
    409,
    "What is there is in the way: tasks or tenants that run, a tenant that goes; no partition has tenants.",
);
const STALE: Answer = Answer {
    status: 412,
    meaning: "It is in another version, which `ETag` tells if it is there at all.",
    bodies: PROBLEM,
    headers: &[],
};
const UNCONDITIONAL: Answer = problem(428, "The request says no version: send `If-Match`.");
pub(super) const UNFIT: Answer = problem(422, "What is said cannot be: the rule is named.");

/// What a change of a tenant that is there may come to.
const fn changed(bodies: &'static [Body]) -> [Answer; 8] {
    [ok(bodies), MALFORMED, NOT_JSON, NO_TENANT, IN_THE_WAY, STALE, UNFIT, UNCONDITIONAL]
}

/// A route of tenants, without query and body.
pub(super) const fn route(
    operation: &'static str,
    (method, path): (Method, &'static str),
    summary: &'static str,
    access: Access,
    own_answers: &'static [Answer],
) -> Route {
    let (tag, query, request) = (Tag::Tenants, &[] as &[Parameter], None);
    Route { operation, method, path, tag, summary, access, query, request, own_answers }
}

pub(super) const ROUTES: &[Route] = &[
    Route {
        query: &[OF_KIND, PARENT, OVER_QUOTA, LIMIT, CURSOR],
        ..route(
            "listTenants",
            (Method::Get, "/headroom/v1/tenants"),
            "The tenants that the caller sees, by name.",
            Access::TenantViewer,
            &[
                ok(&[Body { media: JSON, shape: Shape::One("TenantPage") }]),
                UNCHANGED,
                MALFORMED,
                OFF,
            ],
        )
    },
    Route {
        request: Some(TENANT),
        ..route(
            "createTenant",
            (Method::Post, "/headroom/v1/tenants"),
            "Make a tenant.",
            Access::TenantAdmin,
            &[CREATED, MALFORMED, NOT_JSON, IN_THE_WAY, STALE, UNFIT],
        )
    },
    route(
        "getTenant",
        (Method::Get, "/headroom/v1/tenants/{tenant}"),
        "What is said of a tenant.",
        Access::TenantViewer,
        &[ok(&[TENANT]), UNCHANGED, NO_TENANT, OFF],
    ),
    Route {
        request: Some(TENANT),
        ..route(
            "putTenant",
            (Method::Put, "/headroom/v1/tenants/{tenant}"),
            "Say all of a tenant anew, or make it.",
            Access::TenantAdmin,
            &[ok(&[TENANT]), CREATED, MALFORMED, NOT_JSON, IN_THE_WAY, STALE, UNFIT, UNCONDITIONAL],
        )
    },
    Route {
        request: Some(Body { media: MERGE_PATCH, shape: Shape::Object }),
        ..route(
            "patchTenant",
            (Method::Patch, "/headroom/v1/tenants/{tenant}"),
            "Say some things of a tenant anew (merge patch, RFC 7396).",
            Access::TenantAdmin,
            &changed(&[TENANT]),
        )
    },
    Route {
        query: &[MODE],
        ..route(
            "deleteTenant",
            (Method::Delete, "/headroom/v1/tenants/{tenant}"),
            "Have a tenant go.",
            Access::TenantAdmin,
            &[
                Answer { status: 204, meaning: "It is gone.", bodies: &[], headers: &[] },
                Answer {
                    status: 202,
                    meaning: "It goes with the last of its tasks.",
                    bodies: &[TENANT],
                    headers: &[],
                },
                MALFORMED,
                NO_TENANT,
                IN_THE_WAY,
                STALE,
                UNCONDITIONAL,
            ],
        )
    },
    route(
        "getTenantQuota",
        (Method::Get, "/headroom/v1/tenants/{tenant}/quota"),
        "What is said of what a tenant may use.",
        Access::TenantViewer,
        &[ok(&[QUOTA]), UNCHANGED, NO_TENANT, OFF],
    ),
    Route {
        query: &[DRY_RUN],
        request: Some(QUOTA),
        ..route(
            "putTenantQuota",
            (Method::Put, "/headroom/v1/tenants/{tenant}/quota"),
            "Say anew what a tenant may use, at run time.",
            Access::TenantAdmin,
            &changed(&[QUOTA]),
        )
    },
    route(
        "getTenantUsage",
        (Method::Get, "/headroom/v1/tenants/{tenant}/usage"),
        "What a tenant may use, uses and waits for, all of one moment.",
        Access::TenantViewer,
        &[ok(&[Body { media: JSON, shape: Shape::One("TenantUsage") }]), UNCHANGED, NO_TENANT, OFF],
    ),
    route(
        "watchTenant",
        (Method::Get, "/headroom/v1/tenants/{tenant}/events"),
        "What happens to a tenant, those below it and their tasks, as it happens.",
        Access::TenantViewer,
        &[
            ok(&[Body { media: "text/event-stream", shape: Shape::Stream("TenantEvent") }]),
            MALFORMED,
            NO_TENANT,
            OFF,
            problem(410, "What happened behind `Last-Event-ID` is not kept any more: list anew."),
        ],
    ),
    Route {
        query: &[FROM, TO, TYPE, LIMIT, CURSOR],
        ..route(
            "getTenantAudit",
            (Method::Get, "/headroom/v1/tenants/{tenant}/audit"),
            "Who did what to a tenant and its tasks, when and why.",
            Access::TenantViewer,
            &[ok(&[AUDIT]), UNCHANGED, MALFORMED, NO_TENANT, OFF],
        )
    },
    Route {
        query: &[FROM, TO, TYPE, LIMIT, CURSOR],
        ..route(
            "getAudit",
            (Method::Get, "/headroom/v1/audit"),
            "Who did what to tenants that the caller sees, and to their tasks, when and why.",
            Access::TenantViewer,
            &[ok(&[AUDIT]), UNCHANGED, MALFORMED, OFF],
        )
    },
    route(
        "verifyLedger",
        (Method::Post, "/headroom/v1/ledger/verify"),
        "Compare what is counted of tenants with what their tasks have; what disagrees is in the audit, too.",
        Access::Operator,
        &[ok(&[Body { media: JSON, shape: Shape::One("LedgerVerified") }]), OFF],
    ),
    route(
        "getTenantDefaults",
        (Method::Get, "/headroom/v1/tenant-defaults"),
        "What holds for tenants that do not say otherwise.",
        Access::TenantViewer,
        &[ok(&[DEFAULTS]), UNCHANGED, OFF],
    ),
    Route {
        request: Some(DEFAULTS),
        ..route(
            "putTenantDefaults",
            (Method::Put, "/headroom/v1/tenant-defaults"),
            "Say anew what holds for tenants that do not say otherwise.",
            Access::Admin,
            &[ok(&[DEFAULTS]), MALFORMED, NOT_JSON, IN_THE_WAY, STALE, UNFIT, UNCONDITIONAL],
        )
    },
];

/// Media type of a merge patch; plain JSON is taken too.
const MERGE_PATCH: &str = "application/merge-patch+json";
