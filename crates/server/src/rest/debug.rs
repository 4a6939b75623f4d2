//! Debug information about the process.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::refusal::{Answer, Refusal};
use super::request::RestRequest;
use super::respond::{TEXT, blocking, body};

/// Redirects a path of `/ws/v1` to `/debug`.
pub(crate) async fn redirect(request: Request) -> Response {
    let uri = request.uri();
    let path = uri.path().replacen("/ws/v1", "/debug", 1);
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let to = format!("{path}{query}");
    let html = format!("<a href=\"{}\">Moved Permanently</a>.\n\n", escaped(&to));
    let mut response = html.into_response();
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    let headers = response.headers_mut();
    let media = HeaderValue::from_static("text/html; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, media);
    if let Ok(to) = HeaderValue::try_from(to) {
        headers.insert(header::LOCATION, to);
    }
    response
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&#34;").replace('\'', "&#39;")
}

/// Returns the reported states of all threads. A process cannot read its own stacks without stopping itself.
pub(crate) async fn get_stack(_: RestRequest) -> Answer {
    Ok(body(TEXT, blocking(|| threads(Path::new("/proc/self/task"))).await?))
}

/// Returns one line for each thread: number, name, state, processor time, and wait channel.
fn threads(tasks: &Path) -> String {
    let mut text = String::from(
        "The stacks of threads are not available. The operating system reports these states:\n\n\
         thread     state  user ms  system ms  name, and wait channel\n",
    );
    let Ok(entries) = fs::read_dir(tasks) else {
        return text + "none: this system has no /proc\n";
    };
    let mut numbers: Vec<u64> =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    for number in numbers {
        let folder = tasks.join(number.to_string());
        // A thread that has ended meanwhile is omitted.
        let Ok(stat) = fs::read_to_string(folder.join("stat")) else { continue };
        let Some(thread) = Thread::of(&stat) else { continue };
        let waits = fs::read_to_string(folder.join("wchan")).unwrap_or_default();
        let waits = Some(waits.trim()).filter(|waits| !matches!(*waits, "" | "0"));
        let Thread { name, state, user, system } = thread;
        let waits = waits.map(|waits| format!(", {waits}")).unwrap_or_default();
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{number:<9}  {state:<5}  {user:>7}  {system:>9}  {name}{waits}");
    }
    text
}

/// State of a thread that the system reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) state: char,
    /// Processor time in milliseconds, in user mode. `system` has the time in kernel mode.
    pub(crate) user: u64,
    pub(crate) system: u64,
}

/// Milliseconds in one tick of the times in `/proc`. Linux uses 100 ticks per second on all supported systems.
const TICK_MILLIS: u64 = 10;

impl Thread {
    /// Parses `/proc/…/stat`. A name can contain blanks and brackets. Source: `proc(5)`.
    pub(crate) fn of(stat: &str) -> Option<Self> {
        let (start, end) = (stat.find('(')?, stat.rfind(')')?);
        let name = stat.get(start + 1..end)?.to_owned();
        let fields: Vec<&str> = stat.get(end + 1..)?.split_ascii_whitespace().collect();
        let ticks = |place: usize| -> Option<u64> { fields.get(place)?.parse().ok() };
        let (user, system) = (ticks(11)? * TICK_MILLIS, ticks(12)? * TICK_MILLIS);
        Some(Self { name, state: fields.first()?.chars().next()?, user, system })
    }
}

pub(crate) async fn get_profiles(_: RestRequest) -> Answer {
    let media = HeaderValue::from_static("text/html; charset=utf-8");
    Ok(body(media, PROFILES))
}

const PROFILES: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head><meta charset=\"utf-8\"><title>/debug/pprof/</title></head>
<body>
<h1>/debug/pprof/</h1>
<ul>
<li><a href=\"profile?seconds=10\">profile</a>: CPU time, by stack and thread</li>
<li><a href=\"heap?debug=1\">heap</a>: memory in use, by mapping</li>
<li><a href=\"cmdline\">cmdline</a>: the command line</li>
<li><a href=\"symbol\">symbol</a>: number of known symbols</li>
</ul>
<p>Not supported by this build: allocs, block, goroutine, mutex, threadcreate, trace.</p>
</body>
</html>
";

pub(crate) async fn get_command_line(_: RestRequest) -> Answer {
    let line: Vec<String> =
        std::env::args_os().map(|part| part.to_string_lossy().into_owned()).collect();
    Ok(body(TEXT, line.join("\0")))
}

pub(crate) async fn get_symbols(_: RestRequest) -> Answer {
    Ok(body(TEXT, "num_symbols: 1\n"))
}

pub(crate) async fn unsupported(_: RestRequest) -> Answer {
    let why =
        "this build does not support this profile. See /debug/pprof/ for the supported profiles.";
    Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_read_whatever_its_name() {
        let stat = "17 (a) (b c)) S 1 2 3 4 5 6 7 8 9 10 250 31 0 0 20 0 4 0 100";
        let expected = Thread { name: "a) (b c)".into(), state: 'S', user: 2_500, system: 310 };
        assert_eq!(Thread::of(stat), Some(expected));
        for text in ["", "17", "17 (a", "17 )a( S", "17 (a) S 1 2", "17 (a)"] {
            assert_eq!(Thread::of(text), None, "{text:?}");
        }
    }

    #[test]
    fn every_thread_has_a_line() {
        let text = threads(Path::new("/proc/self/task"));
        let own = fs::read_to_string("/proc/thread-self/comm").unwrap();
        assert!(text.contains(own.trim()), "{text}");
        assert!(threads(Path::new("/nowhere")).ends_with("this system has no /proc\n"));
    }

    #[test]
    fn markup_in_a_query_stays_text() {
        assert_eq!(escaped("/debug/stack?a=<b>&\"c\""), "/debug/stack?a=&lt;b&gt;&amp;&#34;c&#34;");
    }
}
