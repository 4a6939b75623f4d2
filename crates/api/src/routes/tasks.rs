//! Routes for the tasks of tenants.

use super::answer::{JSON, PROBLEM, ok, problem};
use super::headroomv1::{CURSOR, LIMIT, UNCHANGED};
use super::tenants::{CONFLICT, MALFORMED, NO_TENANT, NOT_JSON, TENANTS_OFF, UNPROCESSABLE, route};
use super::{Access, Answer, Body, Method, Parameter, ParameterKind, Route, Shape};

const OF_STATE: Parameter = Parameter {
    name: "state",
    kind: ParameterKind::OneOf(&[
        "WAITING",
        "STARTING",
        "RUNNING",
        "CANCELLING",
        "EVICTING",
        "SUCCEEDED",
        "FAILED",
        "CANCELLED",
        "EVICTED",
        "EXPIRED",
    ]),
    summary: "Return only tasks in this state.",
};

const CHECK: Body = one("QuotaCheck");
const TASK: Body = one("Task");
const TASKS: Body = one("TaskPage");
const WAITING: Body = one("WaitingList");
const WAITING_ONE: Body = one("WaitingTask");

const NO_TASK: Answer = problem(404, "The task does not exist.");
const NO_WAITING_TASK: Answer =
    problem(404, "The tenant does not exist, or has no waiting task with this ID.");
const TASK_CONFLICT: Answer = problem(
    409,
    "The state of the task does not allow this operation, or the quota or node has too little free, or no partition has tenants.",
);
const ID_CONFLICT: Answer = problem(
    409,
    "Another task or application has the ID, or the tenant is draining, or no partition has tenants.",
);
const REFUSED: Answer = problem(
    422,
    "The task can never run, or the request breaks a rule, or the idempotency key was sent with another body. `code` states which.",
);
const TOO_MANY_REQUESTS: Answer = Answer {
    status: 429,
    meaning: "The limit of waiting tasks is reached, or the caller exceeds the rate limit.",
    bodies: PROBLEM,
    headers: &[],
};
const OTHER_BODY: Answer = problem(
    422,
    "The request breaks a rule, or the idempotency key was sent with another body. `code` states which.",
);

const fn one(name: &'static str) -> Body {
    Body { media: JSON, shape: Shape::One(name) }
}

pub(super) const ROUTES: &[Route] = &[
    Route {
        request: Some(one("TaskSubmission")),
        ..route(
            "submitTask",
            (Method::Post, "/headroom/v1/tenants/{tenant}/tasks"),
            "Submit a task. Requests with the same `Idempotency-Key` submit it once.",
            Access::TenantAdmin,
            &[
                Answer { status: 201, meaning: "The task starts.", bodies: &[TASK], headers: &[] },
                Answer { status: 202, meaning: "The task waits.", bodies: &[TASK], headers: &[] },
                MALFORMED,
                NOT_JSON,
                NO_TENANT,
                ID_CONFLICT,
                REFUSED,
                TOO_MANY_REQUESTS,
            ],
        )
    },
    Route {
        request: Some(one("TaskSubmission")),
        ..route(
            "checkQuota",
            (Method::Post, "/headroom/v1/tenants/{tenant}/quota/check"),
            "Predict whether a task starts, waits, or is rejected. Changes nothing.",
            Access::TenantViewer,
            &[ok(&[CHECK]), MALFORMED, NOT_JSON, NO_TENANT, ID_CONFLICT, UNPROCESSABLE],
        )
    },
    Route {
        query: &[OF_STATE, LIMIT, CURSOR],
        ..route(
            "listTasks",
            (Method::Get, "/headroom/v1/tenants/{tenant}/tasks"),
            "List the tasks of a tenant, in order of submission. Ended tasks remain for 72 hours.",
            Access::TenantViewer,
            &[ok(&[TASKS]), UNCHANGED, MALFORMED, NO_TENANT, TENANTS_OFF],
        )
    },
    route(
        "getTask",
        (Method::Get, "/headroom/v1/tasks/{task}"),
        "Get a task.",
        Access::TenantViewer,
        &[ok(&[TASK]), UNCHANGED, NO_TASK, TENANTS_OFF],
    ),
    route(
        "confirmTask",
        (Method::Post, "/headroom/v1/tasks/{task}/confirm"),
        "Confirm that a task runs on its node.",
        Access::TenantAdmin,
        &[ok(&[TASK]), NO_TASK, TASK_CONFLICT],
    ),
    Route {
        request: Some(one("TaskResize")),
        ..route(
            "resizeTask",
            (Method::Post, "/headroom/v1/tasks/{task}/resize"),
            "Resize a task. An increase is charged immediately, or the request fails.",
            Access::TenantAdmin,
            &[ok(&[TASK]), MALFORMED, NOT_JSON, NO_TASK, TASK_CONFLICT, UNPROCESSABLE],
        )
    },
    Route {
        request: Some(one("TaskMeasurement")),
        ..route(
            "measureTask",
            (Method::Post, "/headroom/v1/tasks/{task}/measured"),
            "Report the measured usage of a task. The task shows it next to the charged amounts. It affects no decision.",
            Access::TenantAdmin,
            &[ok(&[TASK]), MALFORMED, NOT_JSON, NO_TASK, TASK_CONFLICT, UNPROCESSABLE],
        )
    },
    Route {
        request: Some(one("TaskRelease")),
        ..route(
            "releaseTask",
            (Method::Post, "/headroom/v1/tasks/{task}/release"),
            "Report that a task has ended or was stopped. Requests with the same `Idempotency-Key` count once.",
            Access::TenantAdmin,
            &[ok(&[TASK]), MALFORMED, NOT_JSON, NO_TASK, TASK_CONFLICT, OTHER_BODY],
        )
    },
    route(
        "cancelTask",
        (Method::Post, "/headroom/v1/tasks/{task}/cancel"),
        "Cancel a task.",
        Access::TenantAdmin,
        &[
            ok(&[TASK]),
            Answer {
                status: 202,
                meaning: "The task is running. Its runner must stop it and then release it.",
                bodies: &[TASK],
                headers: &[],
            },
            NO_TASK,
            TASK_CONFLICT,
        ],
    ),
    Route {
        query: &[LIMIT, CURSOR],
        ..route(
            "listWaiting",
            (Method::Get, "/headroom/v1/tenants/{tenant}/waiting"),
            "List the waiting tasks of a tenant with their wait reasons, in the order in which they start.",
            Access::TenantViewer,
            &[ok(&[WAITING]), UNCHANGED, MALFORMED, NO_TENANT, CONFLICT],
        )
    },
    route(
        "getWaiting",
        (Method::Get, "/headroom/v1/tenants/{tenant}/waiting/{task}"),
        "Get a waiting task with its position and wait reason.",
        Access::TenantViewer,
        &[ok(&[WAITING_ONE]), UNCHANGED, NO_WAITING_TASK, CONFLICT],
    ),
    Route {
        request: Some(one("TaskRank")),
        ..route(
            "rankTask",
            (Method::Patch, "/headroom/v1/tenants/{tenant}/waiting/{task}"),
            "Change the rank of a waiting task.",
            Access::TenantAdmin,
            &[ok(&[TASK]), MALFORMED, NOT_JSON, NO_WAITING_TASK, TASK_CONFLICT, UNPROCESSABLE],
        )
    },
];
