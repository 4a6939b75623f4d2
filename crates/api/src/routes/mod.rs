//! Every route, as data: the server mounts them, the `OpenAPI` document and the test of who may
//! do what are made from them.
//!
//! What all routes share is not repeated in each: see [`Route::answers`].

mod answer;
mod debug;
mod headroomv1;
mod tasks;
mod tenants;
mod wsv1;

use crate::headroomv1::Role;

pub use answer::{Answer, Body, Header, Shape};

/// How long processor time is watched at most for a profile, in seconds.
pub const PROFILE_SECONDS_MAX: u64 = 300;

/// Every route, in the order of the pages that describe them.
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
    /// Unique name, for programs: the `operationId`, and the name of the client's function.
    pub operation: &'static str,
    /// The method. `OPTIONS` is answered on every path besides.
    pub method: Method,
    /// The path, with parameters as `{name}`.
    pub path: &'static str,
    /// What it is about.
    pub tag: Tag,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Who may use it.
    pub access: Access,
    /// What may stand behind `?`, all of it optional.
    pub query: &'static [Parameter],
    /// What is sent, if anything.
    pub request: Option<Body>,
    /// What is special to this route; successes first, refusals in the order of the checks.
    pub own_answers: &'static [Answer],
}

/// What of HTTP is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    /// Reads.
    Get,
    /// Asks for something to be done.
    Post,
    /// Replaces.
    Put,
    /// Changes what is named.
    Patch,
    /// Takes away.
    Delete,
}

impl Method {
    /// As it is sent.
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

/// What a route is about.
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
    /// What happened.
    Events,
    /// The queue file.
    Configuration,
    /// For those who look into the process. May change at any time.
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

    /// Its name.
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

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Anybody, without saying who.
    Open,
    /// Anybody who says who he is.
    Identity,
    /// Whoever may read something; what he may not read is left out, and looks as if it were not
    /// there.
    Visible,
    /// Who may read tenants: everything, or one of them and those below it.
    TenantViewer,
    /// Who may act for tenants: everywhere, or for one of them and those below it.
    TenantAdmin,
    /// Who may read everything.
    Viewer,
    /// Who may operate the scheduler.
    Operator,
    /// Who may do everything.
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

    /// Its name, such as `viewer`.
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

    /// Whether this role suffices, or its absence where `role` is `None`.
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

/// Something behind `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub kind: ParameterKind,
    /// What it does.
    pub summary: &'static str,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// Any text.
    Text,
    /// A whole number.
    Number {
        /// From here on.
        least: u64,
        /// Up to here.
        most: u64,
    },
    /// One of these words, in any case of letters.
    OneOf(&'static [&'static str]),
    /// Text of this form, a regular expression.
    Form(&'static str),
}

impl Route {
    /// The names of the parameters in the path, from left to right.
    pub fn path_parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path
            .split('/')
            .filter_map(|segment| segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')))
    }

    /// Every answer that the route may give: its own, and those of the server that stands before
    /// all routes of its family. One status may occur more than once.
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
            answers.push(refuse(400, "The escapes of a name in the path are no text.", &[]));
        }
        if self.access != Access::Open {
            let challenge = &[Header::Challenge];
            answers.push(refuse(401, "No identity, or one that cannot be trusted.", challenge));
            answers.push(refuse(
                429,
                "More requests than the server takes.",
                &[Header::RetryAfter],
            ));
        }
        if !matches!(self.access, Access::Open | Access::Identity) {
            answers.push(refuse(403, "The identity lacks a right, which is named.", &[]));
        }
        if self.operation != "getLive" {
            let meaning = match self.access {
                Access::Open => "The server still reads its journal.",
                _ => {
                    "The server cannot do this now: it still reads its journal, takes no more \
                     changes, or cannot reach who judges the token."
                }
            };
            answers.push(refuse(503, meaning, &[Header::RetryAfter]));
        }
        if self.request.is_some() {
            answers.push(refuse(408, "The body was not there in time.", &[]));
            answers.push(refuse(413, "The body is larger than the server takes.", &[]));
        }
        answers.push(refuse(421, "`Host` is not a name of this server.", &[]));
        answers
    }

    /// Which headers every success has besides its own.
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

/// How refusals look, and which headers come along.
#[derive(Clone, Copy)]
enum Family {
    /// As the reference has it.
    Reference,
    /// As the reference has it, without its headers.
    Plain,
    /// Ours.
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
