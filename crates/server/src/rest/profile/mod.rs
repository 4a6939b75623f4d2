//! Profiles in the format of pprof: processor time by stack, and memory by mapping.

mod form;
mod memory;
#[cfg(feature = "profiler")]
mod processor;
#[cfg(not(feature = "profiler"))]
#[path = "no_processor.rs"]
mod processor;

use std::fmt::Write as _;
use std::fs;

use axum::http::{HeaderValue, header};
use axum::response::Response;

use self::form::{Place, Profile, Taken};
pub(crate) use self::processor::get_cpu_profile;
use super::refusal::{Answer, Refusal};
use super::request::RestRequest;
use super::respond::{TEXT, blocking, body};

/// Returns the memory in use, by mapping.
pub(crate) async fn get_heap_profile(asked: RestRequest) -> Answer {
    let as_text = asked.number("debug")?.unwrap_or(0) > 0;
    let now = asked.service.clock.now();
    let maps = blocking(|| fs::read_to_string("/proc/self/smaps").unwrap_or_default()).await?;
    let mappings = memory::mappings(&maps);
    if as_text {
        let mut text = String::from("memory in use in bytes, by mapping\n");
        for (name, bytes) in &mappings {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{bytes:>14} {name}");
        }
        return Ok(body(TEXT, text));
    }
    let taken = Taken { at: crate::convert::value::nanos(now), ..Taken::default() };
    let mut profile = Profile::new([("inuse_objects", "count"), ("inuse_space", "bytes")], taken);
    for (name, bytes) in mappings {
        let place = Place { function: name, ..Place::default() };
        profile.add(&[vec![place]], [1, bytes], None);
    }
    Ok(attachment("heap", gzipped(&profile)?))
}

fn attachment(name: &str, bytes: Vec<u8>) -> Response {
    let mut response = body(HeaderValue::from_static("application/octet-stream"), bytes);
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    let headers = response.headers_mut();
    headers.extend(disposition.ok().map(|name| (header::CONTENT_DISPOSITION, name)));
    response
}

fn gzipped(profile: &Profile) -> Result<Vec<u8>, Refusal> {
    profile.gzipped().map_err(|error| Refusal::failed(error.to_string()))
}
