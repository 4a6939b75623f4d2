//! The `OpenAPI` document, made from the table of routes and the schemas of the bodies.

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

/// Name of the one way to say who one is.
const BEARER: &str = "bearer";

/// `/ws/v1` and `/headroom/v1`, as `OpenAPI` 3.1.
pub fn openapi() -> OpenApi {
    let mut paths = PathsBuilder::new();
    for route in routes::all() {
        // Several methods of one path are put together.
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
Who may use what on a shared cluster, and why anything waits.

`/ws/v1` is what clients of YuniKorn know: the same paths, statuses and names, in an order that does \
not change from call to call. Names of queues, users and groups in a path are decoded twice, the \
second time as forms are; so a name with `/`, `+` or `%` is escaped twice. `/headroom/v1` is our own. \
Every path also takes `OPTIONS`, which is answered by 200 and `Allow`. A path that is not there is \
answered by 404, a method that a path does not take by 405 and `Allow`; below `/ws/v1` both as plain \
text.

`x-access` says who may use a route: `open` anybody; `identity` anybody who says who he is; `visible` \
whoever may read something, and sees no more; `tenant-viewer` and `tenant-admin` those who may read, \
or act for, the tenant in question; `viewer`, `operator` and `admin` those with that role \
or a greater one.";

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

/// One status has one response: meanings and bodies of several answers are put together.
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
        // A stream is described by what comes again and again.
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

/// A frame of server-sent events, by its fields; `name` is what happened.
fn frame(name: &str) -> ObjectBuilder {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let of = text().enum_values(Some(["hello", "event", "bye"]));
    let data = text().content_media_type("application/json").description(Some(format!(
        "JSON on one line: `Hello` of `hello`, the first; `{name}` of `event`; `Bye` of `bye`, the last."
    )));
    let id = text().description(Some("The sequence number, with its last event."));
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
        "queue" => "Full path of the queue, in any case of letters.",
        "application" => "Id of the application.",
        "ask" => "Key of the ask, or of the allocation that it became.",
        "node" => "Id of the node.",
        "user" => "Name of the user.",
        "group" => "Name of the group.",
        "tenant" => "Name of the tenant.",
        "task" => "Id of the task.",
        "state" => "`active`, `completed` or `rejected`, in any case of letters.",
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

/// Headers of a request that follow from what the route answers.
fn request_headers(route: &Route) -> Vec<(&'static str, &'static str)> {
    let bodies = |answer: &'static Answer| answer.bodies.iter();
    let streams = |body: &Body| body.media == "text/event-stream";
    let mut headers = Vec::new();
    if route.own_answers.iter().any(|answer| answer.status == 304) {
        headers.push(("If-None-Match", "The `ETag` of an answer that the client has."));
    }
    if route.own_answers.iter().any(|answer| answer.status == 428) {
        headers.push(("If-Match", "The `ETag` of what is to be changed; `*`: whatever it is."));
        if route.operation == "putTenant" {
            headers.push(("If-None-Match", "`*`: only if there is no such tenant yet."));
        }
    }
    if matches!(route.operation, "submitTask" | "releaseTask") {
        headers.push((
            IDEMPOTENCY_KEY,
            "Under the same key it happens once, however often it is sent.",
        ));
    }
    if route.own_answers.iter().flat_map(bodies).any(streams) {
        headers.push(("Last-Event-ID", "Resume the stream behind this sequence number."));
    }
    if route.method != Method::Get && route.path.starts_with("/headroom/v1/") {
        let summary = "`1`, with an `Origin` of this server, where no bearer token is sent.";
        headers.push(("X-Headroom-Request", summary));
    }
    headers
}
