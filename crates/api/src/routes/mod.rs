//! The table of all routes. The server mounts it. The `OpenAPI` document and the access tests
//! are generated from it.
//!
//! [`Route::answers`] adds the responses that all routes share.

mod answer;
mod debug;
mod headroomv1;
mod tasks;
mod tenants;
mod wsv1;

use crate::headroomv1::Role;

pub use answer::{Answer, Body, Header, Shape};

/// The maximum length of a CPU profile, in seconds.
pub const PROFILE_SECONDS_MAX: u64 = 300;

/// Returns every route, in the order of the pages that describe them.
pub fn all() -> impl Iterator<Item = &'static Route> {
    wsv1::ROUTES
        .iter()
        .chain(debug::ROUTES)
        .chain(headroomv1::ROUTES)
        .chain(tenants::ROUTES)
        .chain(tasks::ROUTES)
}

/// A method on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The unique `operationId`, and the name of the client function.
    pub operation: &'static str,
    /// The method. Every path also accepts `OPTIONS`.
    pub method: Method,
    /// The path, with parameters as `{name}`.
    pub path: &'static str,
    /// The subject, for grouping in the `OpenAPI` document.
    pub tag: Tag,
    /// What the route does, in one sentence.
    pub summary: &'static str,
    /// The access that the route requires.
    pub access: Access,
    /// Query parameters. All of them are optional.
    pub query: &'static [Parameter],
    /// The request body, if the route requires one.
    pub request: Option<Body>,
    /// Responses of this route alone: successes first, then errors in the order of the checks.
    pub own_answers: &'static [Answer],
}

/// The HTTP methods of the routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Reads a resource.
    Get,
    /// Creates a resource or performs an operation.
    Post,
    /// Replaces a resource.
    Put,
    /// Changes the fields that the request names.
    Patch,
    /// Deletes a resource.
    Delete,
}

impl Method {
    /// Returns the method as HTTP spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// The subject of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tag {
    /// The whole scheduler.
    Scheduler,
    /// Partitions.
    Partitions,
    /// Queues.
    Queues,
    /// Nodes.
    Nodes,
    /// Applications, asks and allocations.
    Applications,
    /// Users and groups.
    Usage,
    /// Events.
    Events,
    /// The queue file.
    Configuration,
    /// Debugging of the process. These routes can change at any time.
    Debug,
    /// Tenants and their tasks.
    Tenants,
    /// The process itself.
    Server,
}

impl Tag {
    /// Every tag.
    pub const ALL: [Self; 11] = [
        Self::Scheduler,
        Self::Partitions,
        Self::Queues,
        Self::Nodes,
        Self::Applications,
        Self::Usage,
        Self::Events,
        Self::Configuration,
        Self::Debug,
        Self::Tenants,
        Self::Server,
    ];

    /// Returns the tag name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduler => "scheduler",
            Self::Partitions => "partitions",
            Self::Queues => "queues",
            Self::Nodes => "nodes",
            Self::Applications => "applications",
            Self::Usage => "usage",
            Self::Events => "events",
            Self::Configuration => "configuration",
            Self::Debug => "debug",
            Self::Tenants => "tenants",
            Self::Server => "server",
        }
    }
}

/// The access that a route requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Everyone, without authentication.
    Open,
    /// Everyone who is authenticated.
    Identity,
    /// Everyone who can read something. The response omits what the caller cannot read, as if it
    /// did not exist.
    Visible,
    /// Everyone who can read tenants: all of them, or one tenant and the tenants below it.
    TenantViewer,
    /// Everyone who can act for tenants: all of them, or one tenant and the tenants below it.
    TenantAdmin,
    /// Everyone who can read everything.
    Viewer,
    /// Everyone who can operate the scheduler.
    Operator,
    /// Everyone who can do everything.
    Admin,
}

impl Access {
    /// Every kind of access.
    pub const ALL: [Self; 8] = [
        Self::Open,
        Self::Identity,
        Self::Visible,
        Self::TenantViewer,
        Self::TenantAdmin,
        Self::Viewer,
        Self::Operator,
        Self::Admin,
    ];

    /// Returns the name, such as `viewer`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Identity => "identity",
            Self::Visible => "visible",
            Self::TenantViewer => "tenant-viewer",
            Self::TenantAdmin => "tenant-admin",
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }

    /// Returns whether a caller with `role` has this access. `None` is a caller without a role.
    pub const fn allows(self, role: Option<Role>) -> bool {
        let Some(role) = role else {
            return matches!(self, Self::Open);
        };
        match self {
            Self::Open | Self::Identity => true,
            Self::Visible => !matches!(role, Role::Rm),
            Self::TenantViewer => matches!(
                role,
                Role::Admin
                    | Role::Operator
                    | Role::Viewer
                    | Role::TenantAdmin
                    | Role::TenantViewer
            ),
            Self::TenantAdmin => matches!(role, Role::Admin | Role::TenantAdmin),
            Self::Viewer => matches!(role, Role::Admin | Role::Operator | Role::Viewer),
            Self::Operator => matches!(role, Role::Admin | Role::Operator),
            Self::Admin => matches!(role, Role::Admin),
        }
    }
}

/// A query parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The parameter name.
    pub name: &'static str,
    /// The values that it accepts.
    pub kind: ParameterKind,
    /// What the parameter does.
    pub summary: &'static str,
}

/// The values that a parameter accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// Any text.
    Text,
    /// A whole number.
    Number {
        /// The minimum.
        least: u64,
        /// The maximum.
        most: u64,
    },
    /// One of these words, case-insensitive.
    OneOf(&'static [&'static str]),
    /// Text that matches this regular expression.
    Form(&'static str),
}

impl Route {
    /// Returns the names of the path parameters, from left to right.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path
            .split('/')
            .filter_map(|segment| segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')))
    }

    /// Returns every response of the route: its own, and those that the server adds to all routes
    /// of its family. A status can occur more than once.
    pub fn answers(&self) -> Vec<Answer> {
        let mut answers = self.own_answers.to_vec();
        let family = self.family();
        let refuse = |status, meaning, headers| Answer {
            status,
            meaning,
            bodies: family.refusal(),
            headers,
        };
        let names = matches!(family, Family::Reference) && self.path_parameters().next().is_some();
        if names && !answers.iter().any(|one| one.status == 400) {
            answers.push(refuse(
                400,
                "The `%` escapes of a name in the path do not decode to text.",
                &[],
            ));
        }
        if self.access != Access::Open {
            let challenge = &[Header::Challenge];
            answers.push(refuse(401, "The request has no identity, or an invalid one.", challenge));
            answers.push(refuse(
                429,
                "The caller sends more requests than the rate limit allows.",
                &[Header::RetryAfter],
            ));
        }
        if !matches!(self.access, Access::Open | Access::Identity) {
            answers.push(refuse(403, "The caller lacks a permission. The message names it.", &[]));
        }
        if self.operation != "getLive" {
            let meaning = match self.access {
                Access::Open => "The server is still reading its journal.",
                _ => {
                    "The server is still reading its journal, is read-only, or cannot reach the \
                     service that verifies tokens."
                }
            };
            answers.push(refuse(503, meaning, &[Header::RetryAfter]));
        }
        if self.request.is_some() {
            answers.push(refuse(408, "The body did not arrive in time.", &[]));
            answers.push(refuse(413, "The body exceeds the size limit.", &[]));
        }
        answers.push(refuse(421, "`Host` is not a name of this server.", &[]));
        answers
    }

    /// Returns the headers that every success of the family has in addition to its own.
    pub fn family_headers(&self) -> &'static [Header] {
        match self.family() {
            Family::Reference => &[
                Header::AllowOrigin,
                Header::AllowMethods,
                Header::AllowHeaders,
                Header::ContentEncoding,
                Header::Vary,
            ],
            Family::Plain => &[],
            Family::Headroom => &[Header::EntityTag, Header::ServerTiming],
        }
    }

    fn family(&self) -> Family {
        if self.path.starts_with("/headroom/v1/") {
            Family::Headroom
        } else if matches!(self.path, "/ws/v1/metrics" | "/metrics" | "/livez" | "/readyz")
            || self.path.starts_with("/debug/p")
        {
            Family::Plain
        } else {
            Family::Reference
        }
    }
}

/// The form of errors, and the shared headers.
#[derive(Clone, Copy)]
enum Family {
    /// Errors and headers as in `YuniKorn`.
    Reference,
    /// Errors as in `YuniKorn`, without its headers.
    Plain,
    /// Errors and headers of `/headroom/v1`.
    Headroom,
}

impl Family {
    const fn refusal(self) -> &'static [Body] {
        match self {
            Self::Reference | Self::Plain => answer::ERROR,
            Self::Headroom => answer::PROBLEM,
        }
    }
}
