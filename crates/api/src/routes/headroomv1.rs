//! Routes of `/headroom/v1`, and routes for probes and monitoring.

use super::answer::{JSON, TEXT, ok, problem};
use super::{Access, Answer, Body, Header, Method, Parameter, ParameterKind, Route, Shape, Tag};

pub(super) const LIMIT: Parameter = Parameter {
    name: "limit",
    kind: ParameterKind::Number { least: 1, most: u64::MAX },
    summary: "Maximum number of items in the response. The default is 100, and the maximum is 1,000.",
};
pub(super) const CURSOR: Parameter = Parameter {
    name: "cursor",
    kind: ParameterKind::Text,
    summary: "The `cursor` of the previous page.",
};
const FROM: Parameter = Parameter {
    name: "from",
    kind: ParameterKind::Text,
    summary: "Return only events at or after this time (RFC 3339) or sequence number.",
};
const TO: Parameter = Parameter {
    name: "to",
    kind: ParameterKind::Text,
    summary: "Return only events up to this time (RFC 3339) or sequence number.",
};
const KIND: Parameter = Parameter {
    name: "kind",
    kind: ParameterKind::Text,
    summary: "Return only events of this kind.",
};
const OBJECT: Parameter = Parameter {
    name: "object",
    kind: ParameterKind::Text,
    summary: "Return only events about the object with this key, ID, path, or name.",
};
const FIND: Parameter = Parameter {
    name: "find",
    kind: ParameterKind::Text,
    summary: "Return only events whose text contains this.",
};
const QUEUE: Parameter = Parameter {
    name: "queue",
    kind: ParameterKind::Text,
    summary: "Full path of a queue. Return only asks that wait in this queue or below it.",
};
const REMEDIES: Parameter = Parameter {
    name: "remedies",
    kind: ParameterKind::Form(
        "^(all|(wait|resume|raise|release|shrink|add|move)(,(wait|resume|raise|release|shrink|add|move))*)$",
    ),
    summary: "Kinds of remedies to search for: `all`, or a comma-separated list of `wait`, `resume`, `raise`, `release`, `shrink`, `add`, and `move`.",
};
const IN_TURN: Parameter = Parameter {
    name: "inTurn",
    kind: ParameterKind::OneOf(&["true", "false"]),
    summary: "`true`: also predict the outcome if the asks ahead start first, with and without each remedy.",
};
const PREEMPTION: Parameter = Parameter {
    name: "preemption",
    kind: ParameterKind::OneOf(&["true", "false"]),
    summary: "`true`: also predict what preemption would do for the ask.",
};
const HISTORY: Parameter = Parameter {
    name: "history",
    kind: ParameterKind::OneOf(&["last", "all"]),
    summary: "`all`: return every wait reason since the ask arrived, read from the journal. `last`: return the last 20 changes since the server started.",
};
const PLAN: Parameter = Parameter {
    name: "plan",
    kind: ParameterKind::Form("^[0-9A-F]{64}$"),
    summary: "The `digest` of the plan for this file.",
};
const FORCE: Parameter = Parameter {
    name: "force",
    kind: ParameterKind::OneOf(&["true", "false"]),
    summary: "`true`: apply the file without comparing its effect with a plan.",
};
const YAML: &str = "application/x-yaml";
const NOT_YAML: Answer = problem(415, "The media type of the body is not YAML.");
pub(super) const UNCHANGED: Answer = Answer {
    status: 304,
    meaning: "`If-None-Match` matches the current `ETag`.",
    bodies: &[],
    headers: &[Header::EntityTag],
};
const BAD_PAGE: Answer =
    problem(400, "A parameter cannot be parsed, or the cursor belongs to another list.");

pub(super) const ROUTES: &[Route] = &[
    Route {
        operation: "getLive",
        method: Method::Get,
        path: "/livez",
        tag: Tag::Server,
        summary: "Check whether the process is running.",
        access: Access::Open,
        query: &[],
        request: None,
        own_answers: &[ok(&[Body { media: TEXT, shape: Shape::Text }])],
    },
    Route {
        operation: "getReady",
        method: Method::Get,
        path: "/readyz",
        tag: Tag::Server,
        summary: "Check whether the server accepts requests.",
        access: Access::Open,
        query: &[],
        request: None,
        own_answers: &[
            ok(&[Body { media: TEXT, shape: Shape::Text }]),
            Answer {
                status: 503,
                meaning: "The server does not accept requests. The text states why.",
                bodies: &[Body { media: TEXT, shape: Shape::Text }],
                headers: &[Header::RetryAfter],
            },
        ],
    },
    Route {
        operation: "getAllMetrics",
        method: Method::Get,
        path: "/metrics",
        tag: Tag::Server,
        summary: "Get all metrics, under the names of Headroom and of YuniKorn, in Prometheus format.",
        access: Access::Viewer,
        query: &[],
        request: None,
        own_answers: &[ok(&[Body { media: TEXT, shape: Shape::Text }])],
    },
    Route {
        operation: "getOpenApi",
        method: Method::Get,
        path: "/headroom/v1/openapi.json",
        tag: Tag::Server,
        summary: "Get this document.",
        access: Access::Identity,
        query: &[],
        request: None,
        own_answers: &[ok(&[Body { media: JSON, shape: Shape::Object }]), UNCHANGED],
    },
    Route {
        operation: "getHealth",
        method: Method::Get,
        path: "/headroom/v1/health",
        tag: Tag::Server,
        summary: "Get the version, state, and health of the server. Also responds while the server is not ready.",
        access: Access::Viewer,
        query: &[],
        request: None,
        own_answers: &[ok(&[Body { media: JSON, shape: Shape::One("ServerHealth") }]), UNCHANGED],
    },
    Route {
        operation: "listPartitions",
        method: Method::Get,
        path: "/headroom/v1/partitions",
        tag: Tag::Partitions,
        summary: "List partition summaries.",
        access: Access::Visible,
        query: &[LIMIT, CURSOR],
        request: None,
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("PartitionPage") }]),
            UNCHANGED,
            BAD_PAGE,
        ],
    },
    Route {
        operation: "getPartition",
        method: Method::Get,
        path: "/headroom/v1/partitions/{partition}/summary",
        tag: Tag::Partitions,
        summary: "Get the summary of a partition.",
        access: Access::Visible,
        query: &[],
        request: None,
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("StampedPartition") }]),
            UNCHANGED,
            problem(404, "The partition does not exist, or the caller cannot see it."),
        ],
    },
    Route {
        operation: "getReasons",
        method: Method::Get,
        path: "/headroom/v1/partitions/{partition}/reasons",
        tag: Tag::Partitions,
        summary: "Count the asks that wait in a partition, by wait reason.",
        access: Access::Visible,
        query: &[QUEUE, LIMIT],
        request: None,
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("WaitingReasons") }]),
            UNCHANGED,
            problem(400, "A parameter cannot be parsed."),
            problem(404, "The partition or queue does not exist, or the caller cannot see it."),
        ],
    },
    Route {
        operation: "explainApplication",
        method: Method::Get,
        path: "/headroom/v1/partitions/{partition}/explain/applications/{application}",
        tag: Tag::Partitions,
        summary: "Explain why the first ask of an application waits, and which remedies start it.",
        access: Access::Visible,
        query: &[REMEDIES, IN_TURN, PREEMPTION, HISTORY],
        request: None,
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("Explanation") }]),
            UNCHANGED,
            problem(400, "A parameter cannot be parsed."),
            problem(
                404,
                "The partition or application does not exist, or the caller cannot see it.",
            ),
        ],
    },
    Route {
        operation: "explainAsk",
        method: Method::Get,
        path: "/headroom/v1/partitions/{partition}/explain/asks/{application}/{ask}",
        tag: Tag::Partitions,
        summary: "Explain why an ask waits, and which remedies start it.",
        access: Access::Visible,
        query: &[REMEDIES, IN_TURN, PREEMPTION, HISTORY],
        request: None,
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("Explanation") }]),
            UNCHANGED,
            problem(400, "A parameter cannot be parsed."),
            problem(
                404,
                "The partition, application, or ask does not exist, or the caller cannot see it.",
            ),
        ],
    },
    Route {
        operation: "explainPod",
        method: Method::Get,
        path: "/headroom/v1/partitions/{partition}/explain/pods/{namespace}/{pod}",
        tag: Tag::Partitions,
        summary: "Explain why a pod of Kubernetes waits: quotas, limits, nodes, and remedies.",
        access: Access::Visible,
        query: &[REMEDIES, IN_TURN, PREEMPTION, HISTORY],
        request: None,
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("Explanation") }]),
            UNCHANGED,
            problem(400, "A parameter cannot be parsed."),
            problem(404, "The server schedules no such pod, or the caller cannot see it."),
        ],
    },
    Route {
        operation: "explainWouldRun",
        method: Method::Post,
        path: "/headroom/v1/partitions/{partition}/explain",
        tag: Tag::Partitions,
        summary: "Predict whether a hypothetical ask starts, waits, or is rejected, and which remedies start it. Changes nothing.",
        access: Access::Visible,
        query: &[REMEDIES, IN_TURN, PREEMPTION],
        request: Some(Body { media: JSON, shape: Shape::One("WouldRun") }),
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("Explanation") }]),
            problem(400, "The body or a parameter cannot be parsed."),
            problem(415, "The body is not JSON."),
            problem(404, "The partition or tenant does not exist, or the caller cannot see it."),
            problem(409, "The request names a tenant, but the partition has no tenants."),
            problem(422, "The request breaks a rule. `code` names it."),
        ],
    },
    Route {
        operation: "planConfig",
        method: Method::Post,
        path: "/headroom/v1/plan",
        tag: Tag::Configuration,
        summary: "Preview what a queue file changes in the current scheduler state. Changes nothing.",
        access: Access::Operator,
        query: &[],
        request: Some(Body { media: YAML, shape: Shape::Text }),
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("Plan") }]),
            problem(400, "A parameter or the body cannot be parsed."),
            NOT_YAML,
        ],
    },
    Route {
        operation: "applyConfig",
        method: Method::Post,
        path: "/headroom/v1/apply",
        tag: Tag::Configuration,
        summary: "Apply a queue file, if its effect still matches the plan.",
        access: Access::Admin,
        query: &[PLAN, FORCE],
        request: Some(Body { media: YAML, shape: Shape::Text }),
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("QueueFileApplied") }]),
            problem(400, "A parameter or the body cannot be parsed."),
            problem(
                409,
                "The effect of the file differs from the plan (`PLAN_MOVED`), or the file conflicts with the current state.",
            ),
            NOT_YAML,
            problem(422, "The file has errors."),
            problem(428, "The request has neither `plan` nor `force`."),
            problem(500, "The server failed to store the file with the journal."),
        ],
    },
    Route {
        operation: "listEvents",
        method: Method::Get,
        path: "/headroom/v1/events",
        tag: Tag::Events,
        summary: "List events. With `Accept: text/event-stream`, follow them as a stream.",
        access: Access::Viewer,
        query: &[FROM, TO, KIND, OBJECT, FIND, LIMIT, CURSOR],
        request: None,
        own_answers: &[
            ok(&[
                Body { media: JSON, shape: Shape::One("EventPage") },
                Body { media: "text/event-stream", shape: Shape::Stream("Event") },
            ]),
            UNCHANGED,
            BAD_PAGE,
            problem(410, "The events after `Last-Event-ID` or `from` are no longer stored."),
        ],
    },
    Route {
        operation: "getLogLevel",
        method: Method::Get,
        path: "/headroom/v1/log-level",
        tag: Tag::Server,
        summary: "Get the log level.",
        access: Access::Viewer,
        query: &[],
        request: None,
        own_answers: &[ok(&[Body { media: JSON, shape: Shape::One("LogLevel") }])],
    },
    Route {
        operation: "setLogLevel",
        method: Method::Put,
        path: "/headroom/v1/log-level",
        tag: Tag::Server,
        summary: "Set the log level until the process ends.",
        access: Access::Admin,
        query: &[],
        request: Some(Body { media: JSON, shape: Shape::One("LogLevel") }),
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("LogLevel") }]),
            problem(400, "The body is not a log level."),
            problem(415, "The body is not JSON."),
            problem(422, "A target is not a known log target."),
        ],
    },
];
