//! Routes of tasks of tenants.

use super::answer::{JSON, PROBLEM, ok, problem};
use super::headroomv1::{CURSOR, LIMIT, UNCHANGED};
use super::tenants::{IN_THE_WAY, MALFORMED, NO_TENANT, NOT_JSON, OFF, UNFIT, route};
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
    summary: "Only those that stand there.",
};

const CHECK: Body = one("QuotaCheck");
const TASK: Body = one("Task");
const TASKS: Body = one("TaskPage");
const WAITING: Body = one("WaitingList");
const WAITING_ONE: Body = one("WaitingTask");

const NO_TASK: Answer = problem(404, "No such task.");
const NOT_THERE: Answer = problem(404, "No such tenant, or no such task of it that waits.");
const NOT_NOW: Answer = problem(
    409,
    "The task does not stand where this can happen, or has no room; no partition has tenants.",
);
const TAKEN: Answer = problem(
    409,
    "Another task or application has the id; the tenant goes; no partition has tenants.",
);
const REFUSED: Answer = problem(
    422,
    "The task can never run, or what is said cannot be: the rule is named. Or the key was sent with another body.",
);
const FULL: Answer = Answer {
    status: 429,
    meaning: "As many tasks wait as may; or the caller sends more than he may.",
    bodies: PROBLEM,
    headers: &[],
};
const OTHER_BODY: Answer = problem(
    422,
    "What is said cannot be: the rule is named. Or the key was sent with another body.",
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
            "Submit a task; with `Idempotency-Key`, once however often it is sent.",
            Access::TenantAdmin,
            &[
                Answer { status: 201, meaning: "It starts.", bodies: &[TASK], headers: &[] },
                Answer { status: 202, meaning: "It waits.", bodies: &[TASK], headers: &[] },
                MALFORMED,
                NOT_JSON,
                NO_TENANT,
                TAKEN,
                REFUSED,
                FULL,
            ],
        )
    },
    Route {
        request: Some(one("TaskSubmission")),
        ..route(
            "checkQuota",
            (Method::Post, "/headroom/v1/tenants/{tenant}/quota/check"),
            "Say what would become of a task, were it submitted now; nothing is changed.",
            Access::TenantViewer,
            &[ok(&[CHECK]), MALFORMED, NOT_JSON, NO_TENANT, TAKEN, UNFIT],
        )
    },
    Route {
        query: &[OF_STATE, LIMIT, CURSOR],
        ..route(
            "listTasks",
            (Method::Get, "/headroom/v1/tenants/{tenant}/tasks"),
            "The tasks of a tenant, in order of submission; those that have ended for 72 hours.",
            Access::TenantViewer,
            &[ok(&[TASKS]), UNCHANGED, MALFORMED, NO_TENANT, OFF],
        )
    },
    route(
        "getTask",
        (Method::Get, "/headroom/v1/tasks/{task}"),
        "A task.",
        Access::TenantViewer,
        &[ok(&[TASK]), UNCHANGED, NO_TASK, OFF],
    ),
    route(
        "confirmTask",
        (Method::Post, "/headroom/v1/tasks/{task}/confirm"),
        "Say that a task which has a node runs there.",
        Access::TenantAdmin,
        &[ok(&[TASK]), NO_TASK, NOT_NOW],
    ),
    Route {
        request: Some(one("TaskResize")),
        ..route(
            "resizeTask",
            (Method::Post, "/headroom/v1/tasks/{task}/resize"),
            "Give a task another size; what it grows by is charged at once, or refused.",
            Access::TenantAdmin,
            &[ok(&[TASK]), MALFORMED, NOT_JSON, NO_TASK, NOT_NOW, UNFIT],
        )
    },
    Route {
        request: Some(one("TaskMeasurement")),
        ..route(
            "measureTask",
            (Method::Post, "/headroom/v1/tasks/{task}/measured"),
            "Say what a task really uses, as whoever runs it measures it. It is shown beside what is charged, and decides nothing.",
            Access::TenantAdmin,
            &[ok(&[TASK]), MALFORMED, NOT_JSON, NO_TASK, NOT_NOW, UNFIT],
        )
    },
    Route {
        request: Some(one("TaskRelease")),
        ..route(
            "releaseTask",
            (Method::Post, "/headroom/v1/tasks/{task}/release"),
            "Report that a task has ended or was stopped; with `Idempotency-Key`, once however often it is sent.",
            Access::TenantAdmin,
            &[ok(&[TASK]), MALFORMED, NOT_JSON, NO_TASK, NOT_NOW, OTHER_BODY],
        )
    },
    route(
        "cancelTask",
        (Method::Post, "/headroom/v1/tasks/{task}/cancel"),
        "Say that a task is not wanted any more.",
        Access::TenantAdmin,
        &[
            ok(&[TASK]),
            Answer {
                status: 202,
                meaning: "It runs, and is to be stopped by whoever runs it.",
                bodies: &[TASK],
                headers: &[],
            },
            NO_TASK,
            NOT_NOW,
        ],
    ),
    Route {
        query: &[LIMIT, CURSOR],
        ..route(
            "listWaiting",
            (Method::Get, "/headroom/v1/tenants/{tenant}/waiting"),
            "The tasks of a tenant that wait, in the order in which they start, and why.",
            Access::TenantViewer,
            &[ok(&[WAITING]), UNCHANGED, MALFORMED, NO_TENANT, IN_THE_WAY],
        )
    },
    route(
        "getWaiting",
        (Method::Get, "/headroom/v1/tenants/{tenant}/waiting/{task}"),
        "A task that waits, its place and why.",
        Access::TenantViewer,
        &[ok(&[WAITING_ONE]), UNCHANGED, NOT_THERE, IN_THE_WAY],
    ),
    Route {
        request: Some(one("TaskRank")),
        ..route(
            "rankTask",
            (Method::Patch, "/headroom/v1/tenants/{tenant}/waiting/{task}"),
            "Make a task that waits more urgent, or less.",
            Access::TenantAdmin,
            &[ok(&[TASK]), MALFORMED, NOT_JSON, NOT_THERE, NOT_NOW, UNFIT],
        )
    },
];
