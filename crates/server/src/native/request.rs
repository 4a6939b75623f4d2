//! A request from the view of a handler.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{FromRequestParts, Query, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use headroom_api::headroomv1::Code;

use super::answer::Refused;
use crate::caller::Caller;
use crate::listen::RequestId;
use crate::pods::pod_name;
use crate::rest::Rest;
use crate::service::Service;

/// A request, with the parts that handlers use.
#[derive(Debug)]
pub(crate) struct NativeRequest {
    /// The authenticated caller.
    pub(crate) caller: Caller,
    /// Id of the request in logs and refusals.
    pub(crate) request_id: String,
    /// Time of arrival.
    pub(crate) began: Instant,
    /// Parameters in the path, decoded.
    path: BTreeMap<String, String>,
    /// Query parameters. `None` if the query string cannot be parsed.
    query: Option<Vec<(String, String)>>,
    headers: HeaderMap,
    /// Names of pods of Kubernetes.
    pub(super) pods: PodNames,
    /// Whether the request changes nothing.
    pub(super) reads: bool,
}

impl FromRequestParts<Service> for NativeRequest {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Refused> {
        let began = Instant::now();
        // The id in the log and the audit log. Only tests have no such layer before the routes.
        let named = parts.extensions.get::<RequestId>().map(|RequestId(id)| id.to_string());
        let request_id = named.unwrap_or_else(|| {
            format!("{}-{}", short(&service.about.instance), service.live().begin_request())
        });
        let Some(caller) = parts.extensions.get::<Caller>().cloned() else {
            let detail = "the request has no identity. Send `Authorization: Bearer …`.";
            return Err(Refused::before(request_id, Code::Unauthenticated, detail));
        };
        // A name that is not valid text matches nothing, and is reported as missing later.
        let path = match RawPathParams::from_request_parts(parts, service).await {
            Ok(found) => found.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            Err(_) => BTreeMap::new(),
        };
        let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        let query = query.ok().map(|Query(pairs)| pairs);
        let headers = parts.headers.clone();
        let pods = PodNames(parts.extensions.get::<Arc<Rest>>().cloned());
        let reads = matches!(parts.method, Method::GET | Method::HEAD);
        Ok(Self { caller, request_id, began, path, query, headers, pods, reads })
    }
}

/// Names of the pods of Kubernetes by their allocations.
#[derive(Clone, Debug, Default)]
pub(super) struct PodNames(Option<Arc<Rest>>);

impl PodNames {
    /// Returns the pod of an ask or allocation, as `namespace/name`. `None` if it is no pod.
    pub(super) fn of(&self, partition: &str, key: &str) -> Option<String> {
        let tags = self.0.as_ref()?.rm_metadata.tags(partition, key)?;
        pod_name(key, &tags)
    }
}

/// Returns the first part of an instance id, which is enough to distinguish processes in a log.
pub(super) fn short(instance: &str) -> &str {
    instance.split('-').next().unwrap_or(instance)
}

impl NativeRequest {
    /// Returns a parameter of the path. `None` if the parameter is not valid text.
    pub(super) fn named(&self, name: &str) -> Option<&str> {
        self.path.get(name).map(String::as_str)
    }

    /// Returns the query parameters, which must be among `known`. Empty values count as absent.
    ///
    /// # Errors
    /// If the query cannot be parsed, or a parameter is unknown or repeated.
    pub(super) fn parameters(&self, known: &[&str]) -> Result<Parameters<'_>, Refused> {
        let malformed = |detail: String| Refused::new(self, Code::Malformed, detail);
        let Some(pairs) = &self.query else {
            return Err(malformed("the query string cannot be parsed as names and values".into()));
        };
        let mut values = BTreeMap::new();
        for (name, value) in pairs {
            if !known.contains(&name.as_str()) {
                let known = known.join(", ");
                return Err(malformed(format!(
                    "parameter {name:?} does not exist. Use one of: {known}."
                )));
            }
            if !value.is_empty() && values.insert(name.as_str(), value.as_str()).is_some() {
                return Err(malformed(format!("parameter {name} occurs twice. Send it once.")));
            }
        }
        Ok(Parameters { asked: self, values })
    }

    /// Returns whether the client already has the object with this entity tag.
    pub(super) fn has(&self, tag: &str) -> bool {
        let lists = self.headers.get_all(header::IF_NONE_MATCH).into_iter();
        let lists = lists.filter_map(|list| list.to_str().ok());
        lists
            .flat_map(|list| list.split(','))
            .map(str::trim)
            .any(|one| one == "*" || one.strip_prefix("W/").unwrap_or(one) == tag)
    }

    /// Returns the expected version of the object to change. `None` if the client specifies none.
    pub(super) fn expected(&self) -> Option<Expected> {
        let list = |name| {
            let values = self.headers.get_all(name).into_iter();
            let texts = values.filter_map(|value| value.to_str().ok());
            texts.flat_map(|text| text.split(',')).map(str::trim).collect::<Vec<_>>()
        };
        if list(header::IF_NONE_MATCH) == ["*"] {
            return Some(Expected::Nothing);
        }
        match &list(header::IF_MATCH)[..] {
            [] => None,
            ["*"] => Some(Expected::Any),
            tags => Some(Expected::OneOf(tags.iter().map(ToString::to_string).collect())),
        }
    }

    /// Checks that the body has one of these media types, or no media type.
    ///
    /// # Errors
    /// If the body has another media type.
    pub(super) fn sends(&self, known: &[&str]) -> Result<(), Refused> {
        let media = self.header("content-type").unwrap_or_default();
        let media = media.split(';').next().unwrap_or_default().trim();
        if known.iter().any(|one| media.eq_ignore_ascii_case(one)) {
            return Ok(());
        }
        let detail =
            format!("the media type of the body is {media:?}, expected {}", known.join(" or "));
        Err(Refused::new(self, Code::UnsupportedMediaType, detail))
    }

    /// Returns the text of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// Version that a client expects of the object to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// The object must not exist.
    Nothing,
    /// The object must exist.
    Any,
    /// The object must have one of these entity tags.
    OneOf(Vec<String>),
}

/// Query parameters by name.
#[derive(Debug)]
pub(super) struct Parameters<'a> {
    asked: &'a NativeRequest,
    values: BTreeMap<&'a str, &'a str>,
}

impl<'a> Parameters<'a> {
    /// The default number of items on a page.
    pub(super) const LIMIT: usize = 100;
    /// Maximum number of items on a page.
    pub(super) const LIMIT_MAX: usize = 1_000;

    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.values.get(name).copied()
    }

    /// Returns the value of a flag, `true` or `false`. `None` if the flag is absent.
    ///
    /// # Errors
    /// If the flag has another value.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, Refused> {
        match self.get(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => {
                let detail = format!("{name} is {other:?}, but it must be true or false");
                Err(Refused::new(self.asked, Code::Malformed, detail))
            }
        }
    }

    /// Returns the requested number of items, at most [`Self::LIMIT_MAX`].
    ///
    /// # Errors
    /// If the value is not a number above zero.
    pub(super) fn limit(&self) -> Result<usize, Refused> {
        let Some(text) = self.get("limit") else { return Ok(Self::LIMIT) };
        if let Ok(count @ 1..) = text.parse::<u64>() {
            return Ok(usize::try_from(count).unwrap_or(usize::MAX).min(Self::LIMIT_MAX));
        }
        let most = Self::LIMIT_MAX;
        let detail = format!("limit is {text:?}, but it must be a number from 1 to {most}");
        Err(Refused::new(self.asked, Code::Malformed, detail))
    }
}
