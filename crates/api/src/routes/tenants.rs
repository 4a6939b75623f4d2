//! Routes of tenants.

use super::answer::{JSON, PROBLEM, ok, problem};
use super::headroomv1::{CURSOR, LIMIT, UNCHANGED};
use super::{Access, Answer, Body, Method, Parameter, ParameterKind, Route, Shape, Tag};

const OF_KIND: Parameter = Parameter {
    name: "kind",
    kind: ParameterKind::OneOf(&["user", "project", "department"]),
    summary: "Return only tenants of this kind.",
};
const PARENT: Parameter = Parameter {
    name: "parent",
    kind: ParameterKind::Text,
    summary: "Return only the direct child tenants of this tenant.",
};
const OVER_QUOTA: Parameter = Parameter {
    name: "overQuota",
    kind: ParameterKind::OneOf(&["true", "false"]),
    summary: "Return only tenants over quota (`true`), or only the others (`false`).",
};
const FROM: Parameter = Parameter {
    name: "from",
    kind: ParameterKind::Text,
    summary: "Return only entries at or after this time (RFC 3339).",
};
const TO: Parameter = Parameter {
    name: "to",
    kind: ParameterKind::Text,
    summary: "Return only entries before this time (RFC 3339).",
};
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
    summary: "Return only entries of this type.",
};
const DRY_RUN: Parameter = Parameter {
    name: "dryRun",
    kind: ParameterKind::OneOf(&["true", "false"]),
    summary: "`true`: predict the effect, and change nothing.",
};
const MODE: Parameter = Parameter {
    name: "mode",
    kind: ParameterKind::OneOf(&["refuse", "drain"]),
    summary: "For a tenant with tasks: `refuse` the deletion, or `drain` the tenant and delete it after its last task ends.",
};

const TENANT: Body = Body { media: JSON, shape: Shape::One("Tenant") };
const AUDIT: Body = Body { media: JSON, shape: Shape::One("AuditPage") };
const QUOTA: Body = Body { media: JSON, shape: Shape::One("TenantQuota") };
const DEFAULTS: Body = Body { media: JSON, shape: Shape::One("TenantDefaults") };

const CREATED: Answer =
    Answer { status: 201, meaning: "The tenant was created.", bodies: &[TENANT], headers: &[] };
pub(super) const MALFORMED: Answer = problem(400, "A parameter or the body cannot be parsed.");
pub(super) const NOT_JSON: Answer = problem(415, "The body is not JSON.");
pub(super) const NO_TENANT: Answer = problem(404, "The tenant does not exist.");
pub(super) const TENANTS_OFF: Answer = problem(409, "No partition has tenants.");
pub(super) const CONFLICT: Answer = problem(
    409,
    "The tenant has tasks or child tenants, or is draining, or no partition has tenants.",
);
const PRECONDITION_FAILED: Answer = Answer {
    status: 412,
    meaning: "`If-Match` does not match the current version. If the tenant exists, `ETag` has that version.",
    bodies: PROBLEM,
    headers: &[],
};
const UNCONDITIONAL: Answer = problem(428, "The request has no `If-Match` header.");
pub(super) const UNPROCESSABLE: Answer =
    problem(422, "The request breaks a rule. `code` names it.");

/// Returns the responses of a route that changes an existing tenant.
const fn changed(bodies: &'static [Body]) -> [Answer; 8] {
    [
        ok(bodies),
        MALFORMED,
        NOT_JSON,
        NO_TENANT,
        CONFLICT,
        PRECONDITION_FAILED,
        UNPROCESSABLE,
        UNCONDITIONAL,
    ]
}

/// Returns a tenant route without query parameters and request body.
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
            "List the tenants that the caller can see, by name.",
            Access::TenantViewer,
            &[
                ok(&[Body { media: JSON, shape: Shape::One("TenantPage") }]),
                UNCHANGED,
                MALFORMED,
                TENANTS_OFF,
            ],
        )
    },
    Route {
        request: Some(TENANT),
        ..route(
            "createTenant",
            (Method::Post, "/headroom/v1/tenants"),
            "Create a tenant.",
            Access::TenantAdmin,
            &[CREATED, MALFORMED, NOT_JSON, CONFLICT, PRECONDITION_FAILED, UNPROCESSABLE],
        )
    },
    route(
        "getTenant",
        (Method::Get, "/headroom/v1/tenants/{tenant}"),
        "Get the settings of a tenant.",
        Access::TenantViewer,
        &[ok(&[TENANT]), UNCHANGED, NO_TENANT, TENANTS_OFF],
    ),
    Route {
        request: Some(TENANT),
        ..route(
            "putTenant",
            (Method::Put, "/headroom/v1/tenants/{tenant}"),
            "Replace the settings of a tenant, or create it.",
            Access::TenantAdmin,
            &[
                ok(&[TENANT]),
                CREATED,
                MALFORMED,
                NOT_JSON,
                CONFLICT,
                PRECONDITION_FAILED,
                UNPROCESSABLE,
                UNCONDITIONAL,
            ],
        )
    },
    Route {
        request: Some(Body { media: MERGE_PATCH, shape: Shape::Object }),
        ..route(
            "patchTenant",
            (Method::Patch, "/headroom/v1/tenants/{tenant}"),
            "Change some settings of a tenant (JSON merge patch, RFC 7396).",
            Access::TenantAdmin,
            &changed(&[TENANT]),
        )
    },
    Route {
        query: &[MODE],
        ..route(
            "deleteTenant",
            (Method::Delete, "/headroom/v1/tenants/{tenant}"),
            "Delete a tenant.",
            Access::TenantAdmin,
            &[
                Answer {
                    status: 204,
                    meaning: "The tenant was deleted.",
                    bodies: &[],
                    headers: &[],
                },
                Answer {
                    status: 202,
                    meaning: "The tenant is draining and will be deleted after its last task ends.",
                    bodies: &[TENANT],
                    headers: &[],
                },
                MALFORMED,
                NO_TENANT,
                CONFLICT,
                PRECONDITION_FAILED,
                UNCONDITIONAL,
            ],
        )
    },
    route(
        "getTenantQuota",
        (Method::Get, "/headroom/v1/tenants/{tenant}/quota"),
        "Get the quota of a tenant.",
        Access::TenantViewer,
        &[ok(&[QUOTA]), UNCHANGED, NO_TENANT, TENANTS_OFF],
    ),
    Route {
        query: &[DRY_RUN],
        request: Some(QUOTA),
        ..route(
            "putTenantQuota",
            (Method::Put, "/headroom/v1/tenants/{tenant}/quota"),
            "Replace the quota of a tenant. The change takes effect immediately.",
            Access::TenantAdmin,
            &changed(&[QUOTA]),
        )
    },
    route(
        "getTenantUsage",
        (Method::Get, "/headroom/v1/tenants/{tenant}/usage"),
        "Get the quota, usage, and waiting amounts of a tenant, all at the same moment.",
        Access::TenantViewer,
        &[
            ok(&[Body { media: JSON, shape: Shape::One("TenantUsage") }]),
            UNCHANGED,
            NO_TENANT,
            TENANTS_OFF,
        ],
    ),
    route(
        "watchTenant",
        (Method::Get, "/headroom/v1/tenants/{tenant}/events"),
        "Stream the events of a tenant, of the tenants below it, and of their tasks.",
        Access::TenantViewer,
        &[
            ok(&[Body { media: "text/event-stream", shape: Shape::Stream("TenantEvent") }]),
            MALFORMED,
            NO_TENANT,
            TENANTS_OFF,
            problem(
                410,
                "The events after `Last-Event-ID` are no longer stored. Start again without the header.",
            ),
        ],
    ),
    Route {
        query: &[FROM, TO, TYPE, LIMIT, CURSOR],
        ..route(
            "getTenantAudit",
            (Method::Get, "/headroom/v1/tenants/{tenant}/audit"),
            "List the audit log of a tenant and its tasks: actor, time, action, and reason.",
            Access::TenantViewer,
            &[ok(&[AUDIT]), UNCHANGED, MALFORMED, NO_TENANT, TENANTS_OFF],
        )
    },
    Route {
        query: &[FROM, TO, TYPE, LIMIT, CURSOR],
        ..route(
            "getAudit",
            (Method::Get, "/headroom/v1/audit"),
            "List the audit log of all tenants that the caller can see, and of their tasks.",
            Access::TenantViewer,
            &[ok(&[AUDIT]), UNCHANGED, MALFORMED, TENANTS_OFF],
        )
    },
    route(
        "verifyLedger",
        (Method::Post, "/headroom/v1/ledger/verify"),
        "Compare the recorded usage of each tenant with the sum of its tasks. The audit log also records differences.",
        Access::Operator,
        &[ok(&[Body { media: JSON, shape: Shape::One("LedgerVerified") }]), TENANTS_OFF],
    ),
    route(
        "getTenantDefaults",
        (Method::Get, "/headroom/v1/tenant-defaults"),
        "Get the default settings of tenants.",
        Access::TenantViewer,
        &[ok(&[DEFAULTS]), UNCHANGED, TENANTS_OFF],
    ),
    Route {
        request: Some(DEFAULTS),
        ..route(
            "putTenantDefaults",
            (Method::Put, "/headroom/v1/tenant-defaults"),
            "Replace the default settings of tenants.",
            Access::Admin,
            &[
                ok(&[DEFAULTS]),
                MALFORMED,
                NOT_JSON,
                CONFLICT,
                PRECONDITION_FAILED,
                UNPROCESSABLE,
                UNCONDITIONAL,
            ],
        )
    },
];

/// Media type of a merge patch. The routes also accept plain JSON.
const MERGE_PATCH: &str = "application/merge-patch+json";
