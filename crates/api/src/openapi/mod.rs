//! The `OpenAPI` document, generated from the table of routes and the schemas of the bodies.

mod schema;

use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, ParameterBuilder, ParameterIn, PathsBuilder,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{AdditionalProperties, KnownFormat, SchemaFormat};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ArrayBuilder, Content, InfoBuilder, ObjectBuilder, OpenApi, OpenApiBuilder, OpenApiVersion,
    Ref, RefOr, Required, Response, ResponseBuilder, Schema, Type,
};

use crate::headroomv1::{IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_MAX};
use crate::routes::{
    self, Access, Answer, Body, Header, Method, Parameter, ParameterKind, Route, Shape, Tag,
};

/// The name of the only authentication scheme.
const BEARER: &str = "bearer";

/// Returns the `OpenAPI` 3.1 document of `/ws/v1` and `/headroom/v1`.
pub fn openapi() -> OpenApi {
    let mut paths = PathsBuilder::new();
    for route in routes::all() {
        // `path` merges several methods of one path into one item.
        let item = utoipa::openapi::PathItem::new(method(route.method), operation(route));
        paths = paths.path(route.path, item);
    }
    let info = InfoBuilder::new()
        .title("Headroom")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .build();
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let components = Header::ALL
        .into_iter()
        .fold(schema::components(), |all, one| all.header(one.name(), header(one)))
        .security_scheme(BEARER, bearer)
        .build();
    OpenApiBuilder::new()
        .openapi(OpenApiVersion::Version31)
        .info(info)
        .paths(paths.build())
        .components(Some(components))
        .tags(Some(Tag::ALL.map(|tag| TagBuilder::new().name(tag.as_str()).build())))
        .build()
}

const DESCRIPTION: &str = "\
Headroom schedules work on a shared cluster, and explains why an ask waits.

`/ws/v1` is compatible with clients of YuniKorn: the paths, statuses, and names are the same. The \
order of items is stable between calls. The server decodes the names of queues, users, and groups in \
a path twice, the second time as form data. Escape a name with `/`, `+`, or `%` twice. \
`/headroom/v1` is the API of Headroom itself. Every path also accepts `OPTIONS` and returns 200 with \
`Allow`. An unknown path returns 404. A method that a path does not accept returns 405 with `Allow`. \
Below `/ws/v1`, both errors are plain text.

`x-access` states who can use a route. `open`: everyone. `identity`: every authenticated caller. \
`visible`: every caller who can read something; the response contains only what they can see. \
`tenant-viewer` and `tenant-admin`: callers who can read, or act for, the tenant. `viewer`, \
`operator`, and `admin`: callers with that role or a higher one.";

fn method(method: Method) -> HttpMethod {
    match method {
        Method::Get => HttpMethod::Get,
        Method::Post => HttpMethod::Post,
        Method::Put => HttpMethod::Put,
        Method::Patch => HttpMethod::Patch,
        Method::Delete => HttpMethod::Delete,
    }
}

fn operation(route: &Route) -> Operation {
    let mut operation = OperationBuilder::new()
        .operation_id(Some(route.operation))
        .tag(route.tag.as_str())
        .summary(Some(route.summary));
    for name in route.path_parameters() {
        operation = operation.parameter(path_parameter(route, name));
    }
    for parameter in route.query {
        operation = operation.parameter(query_parameter(parameter));
    }
    for (name, summary) in request_headers(route) {
        let text = ObjectBuilder::new().schema_type(Type::String);
        let schema = match name {
            IDEMPOTENCY_KEY => text.min_length(Some(1)).max_length(Some(IDEMPOTENCY_KEY_MAX)),
            _ => text,
        };
        let parameter = ParameterBuilder::new()
            .name(name)
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(summary))
            .schema(Some(schema));
        operation = operation.parameter(parameter);
    }
    if let Some(body) = &route.request {
        let request = RequestBodyBuilder::new()
            .content(body.media, content(body))
            .required(Some(Required::True));
        operation = operation.request_body(Some(request.build()));
    }
    let mut operation = operation.build();
    for answer in route.answers() {
        add(&mut operation, route, &answer);
    }
    operation.security = Some(match route.access {
        Access::Open => Vec::new(),
        _ => vec![SecurityRequirement::new(BEARER, [""; 0])],
    });
    let access = [("x-access", route.access.as_str())];
    operation.extensions = Some(access.into_iter().collect());
    operation
}

/// Adds `answer` to the response of its status. One response merges all answers with the same status.
fn add(operation: &mut Operation, route: &Route, answer: &Answer) {
    let status = answer.status.to_string();
    let responses = &mut operation.responses.responses;
    let response = match responses.remove(&status) {
        Some(RefOr::T(mut response)) => {
            response.description = format!("{} {}", response.description, answer.meaning);
            response
        }
        _ => Response::new(answer.meaning),
    };
    let mut response = ResponseBuilder::from(response);
    for body in answer.bodies {
        response = response.content(body.media, content(body));
    }
    let family = if (200..300).contains(&answer.status) { route.family_headers() } else { &[] };
    for header in answer.headers.iter().chain(family) {
        let reference = Ref::new(format!("#/components/headers/{}", header.name()));
        response = response.header_ref(header.name(), reference);
    }
    responses.insert(status, RefOr::T(response.build()));
}

fn header(header: Header) -> utoipa::openapi::Header {
    HeaderBuilder::new()
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .description(Some(header.summary()))
        .build()
}

fn content(body: &Body) -> Content {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let schema: RefOr<Schema> = match body.shape {
        Shape::Stream(name) if body.media == "text/event-stream" => frame(name).into(),
        // `OpenAPI` cannot describe a stream, so the schema is that of one item.
        Shape::One(name) | Shape::Stream(name) => Ref::from_schema_name(name).into(),
        Shape::List(name) => ArrayBuilder::new().items(Ref::from_schema_name(name)).into(),
        Shape::Object => ObjectBuilder::new()
            .schema_type(Type::Object)
            .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)))
            .into(),
        Shape::Text => text().into(),
        Shape::Bytes => text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary))).into(),
    };
    Content::new(Some(schema))
}

/// Returns the fields of a server-sent event. `name` is the schema of its data.
fn frame(name: &str) -> ObjectBuilder {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let of = text().enum_values(Some(["hello", "event", "bye"]));
    let data = text().content_media_type("application/json").description(Some(format!(
        "JSON on one line. The first frame, `hello`, has a `Hello`. A frame `event` has `{name}`. The last frame, `bye`, has a `Bye`."
    )));
    let id = text()
        .description(Some("The sequence number. Only the last event of a sequence number has it."));
    ObjectBuilder::new()
        .property("id", id)
        .property("event", of)
        .required("event")
        .property("data", data)
        .required("data")
}

fn path_parameter(route: &Route, name: &str) -> ParameterBuilder {
    let mut schema = ObjectBuilder::new().schema_type(Type::String);
    if name == "state" {
        let of_one_queue = route.path_parameters().any(|name| name == "queue");
        let states = ["active", "completed", "rejected"];
        schema =
            schema.enum_values(Some(states.into_iter().take(if of_one_queue { 1 } else { 3 })));
    }
    let summary = match name {
        "partition" => "Name of the partition.",
        "queue" => "Full path of the queue, case-insensitive.",
        "application" => "ID of the application.",
        "ask" => "Key of the ask, or of its allocation.",
        "namespace" => "Namespace of the pod.",
        "pod" => "Name of the pod.",
        "node" => "ID of the node.",
        "user" => "Name of the user.",
        "group" => "Name of the group.",
        "tenant" => "Name of the tenant.",
        "task" => "ID of the task.",
        "state" => "`active`, `completed`, or `rejected`, case-insensitive.",
        _ => unreachable!("a test goes through all routes"),
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(summary))
        .schema(Some(schema))
}

fn query_parameter(parameter: &Parameter) -> ParameterBuilder {
    let schema = match parameter.kind {
        ParameterKind::Text => ObjectBuilder::new().schema_type(Type::String),
        ParameterKind::Number { least, most } => {
            let format = (most == u64::MAX).then(|| SchemaFormat::Custom("uint64".to_owned()));
            let number = ObjectBuilder::new().schema_type(Type::Integer).format(format);
            number.minimum(Some(least)).maximum(Some(most))
        }
        ParameterKind::Form(pattern) => {
            ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern))
        }
        ParameterKind::OneOf(words) => {
            ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words.iter().copied()))
        }
    };
    ParameterBuilder::new()
        .name(parameter.name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(parameter.summary))
        .schema(Some(schema))
}

/// Returns the request headers that follow from the responses of the route.
fn request_headers(route: &Route) -> Vec<(&'static str, &'static str)> {
    let bodies = |answer: &'static Answer| answer.bodies.iter();
    let streams = |body: &Body| body.media == "text/event-stream";
    let mut headers = Vec::new();
    if route.own_answers.iter().any(|answer| answer.status == 304) {
        headers.push(("If-None-Match", "The `ETag` of the response that the client already has."));
    }
    if route.own_answers.iter().any(|answer| answer.status == 428) {
        headers.push(("If-Match", "The `ETag` of the version to change, or `*` for any version."));
        if route.operation == "putTenant" {
            headers.push(("If-None-Match", "`*`: create the tenant only if it does not exist."));
        }
    }
    if matches!(route.operation, "submitTask" | "releaseTask") {
        headers.push((
            IDEMPOTENCY_KEY,
            "A key that identifies the request. Retries with the same key have no further effect.",
        ));
    }
    if route.own_answers.iter().flat_map(bodies).any(streams) {
        headers.push(("Last-Event-ID", "Resume the stream after this sequence number."));
    }
    if route.method != Method::Get && route.path.starts_with("/headroom/v1/") {
        let summary = "`1`, with an `Origin` of this server, if the request has no bearer token.";
        headers.push(("X-Headroom-Request", summary));
    }
    headers
}
