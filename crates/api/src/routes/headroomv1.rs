//! Routes of `/headroom/v1`, and those by which machines watch the process.

use super::answer::{JSON, TEXT, ok, problem};
use super::{Access, Answer, Body, Header, Method, Parameter, ParameterKind, Route, Shape, Tag};

pub(super) const LIMIT: Parameter = Parameter {
    name: "limit",
    kind: ParameterKind::Number { least: 1, most: u64::MAX },
    summary: "How many at most: 100 when it is left out, never more than 1,000.",
};
pub(super) const CURSOR: Parameter = Parameter {
    name: "cursor",
    kind: ParameterKind::Text,
    summary: "The `cursor` of the part before.",
};
const FROM: Parameter = Parameter {
    name: "from",
    kind: ParameterKind::Text,
    summary: "From this time on (RFC 3339), or from this sequence number on.",
};
const TO: Parameter = Parameter {
    name: "to",
    kind: ParameterKind::Text,
    summary: "Up to this time or sequence number.",
};
const KIND: Parameter =
    Parameter { name: "kind", kind: ParameterKind::Text, summary: "Only of this kind." };
const OBJECT: Parameter = Parameter {
    name: "object",
    kind: ParameterKind::Text,
    summary: "Only of what has this key, id, path or name.",
};
const FIND: Parameter =
    Parameter { name: "find", kind: ParameterKind::Text, summary: "Only with this in the text." };
const QUEUE: Parameter = Parameter {
    name: "queue",
    kind: ParameterKind::Text,
    summary: "Only what waits in this queue and below: its full path.",
};
const REMEDIES: Parameter = Parameter {
    name: "remedies",
    kind: ParameterKind::Form(
        "^(all|(wait|resume|raise|release|shrink|add|move)(,(wait|resume|raise|release|shrink|add|move))*)$",
    ),
    summary: "What would start it: `all`, or some of `wait`, `resume`, `raise`, `release`, `shrink`, `add` and `move`, with commas between.",
};
const IN_TURN: Parameter = Parameter {
    name: "inTurn",
    kind: ParameterKind::OneOf(&["true", "false"]),
    summary: "Whether to look what becomes of it, as it is and with each remedy, when those before it go first.",
};
const HISTORY: Parameter = Parameter {
    name: "history",
    kind: ParameterKind::OneOf(&["last", "all"]),
    summary: "`all`: all that it waited for since it came, read from the journal, and not only the last 20 changes since the server was started.",
};
const PLAN: Parameter = Parameter {
    name: "plan",
    kind: ParameterKind::Form("^[0-9A-F]{64}$"),
    summary: "The `digest` of the plan that was made of this file.",
};
const FORCE: Parameter = Parameter {
    name: "force",
    kind: ParameterKind::OneOf(&["true", "false"]),
    summary: "`true`: take the file into force whatever it does.",
};
const YAML: &str = "application/x-yaml";
const NOT_YAML: Answer = problem(415, "The body is no YAML by its media type.");
pub(super) const UNCHANGED: Answer = Answer {
    status: 304,
    meaning: "`If-None-Match` is the present `ETag`.",
    bodies: &[],
    headers: &[Header::EntityTag],
};
const BAD_PAGE: Answer =
    problem(400, "A parameter cannot be read, or the cursor is of another list.");

pub(super) const ROUTES: &[Route] = &[
    Route {
        operation: "getLive",
        method: Method::Get,
        path: "/livez",
        tag: Tag::Server,
        summary: "Whether the process runs.",
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
        summary: "Whether the server takes requests.",
        access: Access::Open,
        query: &[],
        request: None,
        own_answers: &[
            ok(&[Body { media: TEXT, shape: Shape::Text }]),
            Answer {
                status: 503,
                meaning: "It does not, and says why.",
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
        summary: "Metrics under our names and the reference's, for Prometheus.",
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
        summary: "This document.",
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
        summary: "Which server this is, and how it fares. Answered in all its states.",
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
        summary: "The partitions at a glance.",
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
        summary: "A partition at a glance.",
        access: Access::Visible,
        query: &[],
        request: None,
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("StampedPartition") }]),
            UNCHANGED,
            problem(404, "No such partition, or none that the caller sees."),
        ],
    },
    Route {
        operation: "getReasons",
        method: Method::Get,
        path: "/headroom/v1/partitions/{partition}/reasons",
        tag: Tag::Partitions,
        summary: "What waits in a partition, and why.",
        access: Access::Visible,
        query: &[QUEUE, LIMIT],
        request: None,
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("WaitingReasons") }]),
            UNCHANGED,
            problem(400, "A parameter cannot be read."),
            problem(404, "No such partition or queue, or none that the caller sees."),
        ],
    },
    Route {
        operation: "explainApplication",
        method: Method::Get,
        path: "/headroom/v1/partitions/{partition}/explain/applications/{application}",
        tag: Tag::Partitions,
        summary: "Why the first ask of an application waits, and what would start it.",
        access: Access::Visible,
        query: &[REMEDIES, IN_TURN, HISTORY],
        request: None,
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("Explanation") }]),
            UNCHANGED,
            problem(400, "A parameter cannot be read."),
            problem(404, "No such partition or application, or none that the caller sees."),
        ],
    },
    Route {
        operation: "explainAsk",
        method: Method::Get,
        path: "/headroom/v1/partitions/{partition}/explain/asks/{application}/{ask}",
        tag: Tag::Partitions,
        summary: "Why an ask waits, and what would start it.",
        access: Access::Visible,
        query: &[REMEDIES, IN_TURN, HISTORY],
        request: None,
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("Explanation") }]),
            UNCHANGED,
            problem(400, "A parameter cannot be read."),
            problem(404, "No such partition, application or ask, or none that the caller sees."),
        ],
    },
    Route {
        operation: "explainWouldRun",
        method: Method::Post,
        path: "/headroom/v1/partitions/{partition}/explain",
        tag: Tag::Partitions,
        summary: "What would become of something, were it submitted now, and what would start it. Nothing happens by it.",
        access: Access::Visible,
        query: &[REMEDIES, IN_TURN],
        request: Some(Body { media: JSON, shape: Shape::One("WouldRun") }),
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("Explanation") }]),
            problem(400, "The body or a parameter cannot be read."),
            problem(415, "The body is not JSON."),
            problem(404, "No such partition or tenant, or none that the caller sees."),
            problem(409, "A tenant is named, and the partition has none."),
            problem(422, "What is said cannot be: the rule is named."),
        ],
    },
    Route {
        operation: "planConfig",
        method: Method::Post,
        path: "/headroom/v1/plan",
        tag: Tag::Configuration,
        summary: "What another queue file would change, on the books of this moment. Nothing happens by it.",
        access: Access::Operator,
        query: &[],
        request: Some(Body { media: YAML, shape: Shape::Text }),
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("Plan") }]),
            problem(400, "A parameter or the body cannot be read."),
            NOT_YAML,
        ],
    },
    Route {
        operation: "applyConfig",
        method: Method::Post,
        path: "/headroom/v1/apply",
        tag: Tag::Configuration,
        summary: "Take a queue file into force, if it still does what a plan announced.",
        access: Access::Admin,
        query: &[PLAN, FORCE],
        request: Some(Body { media: YAML, shape: Shape::Text }),
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("QueueFileApplied") }]),
            problem(400, "A parameter or the body cannot be read."),
            problem(
                409,
                "It would do something else than was announced (`PLAN_MOVED`), or does not fit what is there.",
            ),
            NOT_YAML,
            problem(422, "The file has errors."),
            problem(428, "The request says neither which plan is meant nor `force`."),
            problem(500, "The file cannot be kept beside the journal."),
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
            problem(410, "The events after `Last-Event-ID` or `from` are not kept any more."),
        ],
    },
    Route {
        operation: "getLogLevel",
        method: Method::Get,
        path: "/headroom/v1/log-level",
        tag: Tag::Server,
        summary: "How much is logged.",
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
        summary: "Log more or less, until the process ends.",
        access: Access::Admin,
        query: &[],
        request: Some(Body { media: JSON, shape: Shape::One("LogLevel") }),
        own_answers: &[
            ok(&[Body { media: JSON, shape: Shape::One("LogLevel") }]),
            problem(400, "The body cannot be read as a log level."),
            problem(415, "The body is not JSON."),
            problem(422, "A target is no name of a part."),
        ],
    },
];
