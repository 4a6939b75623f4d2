//! A browser at the end of a pipe: just enough of the `DevTools` protocol to look at a page.
//!
//! Over a pipe no port is opened: nobody else on the machine can talk to it, and none can be
//! taken. A message is JSON with a zero byte behind it.

use std::collections::VecDeque;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

/// Flags: no window, no traffic of the browser's own.
const FLAGS: [&str; 14] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--remote-debugging-pipe",
];

/// How many were started by this process: tests may have one each at the same time.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// A headless browser with one page, ended with this value.
pub(crate) struct Browser {
    child: Child,
    profile: PathBuf,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// The page, in the protocol's terms.
    session: String,
    sent: u64,
    events: VecDeque<Value>,
}

impl Browser {
    /// Start it.
    ///
    /// # Panics
    /// If it is not installed; the message says how to get it.
    pub(crate) fn start() -> Self {
        let binary = env::var("HEADROOM_CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
        let (process, started) = (std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let profile = env::temp_dir().join(format!("headroom-browser-{process}-{started}"));
        fs::create_dir_all(&profile).expect("the temporary directory is writable");
        // The browser reads from descriptor 3 and writes to 4; the shell puts the pipes there
        // and becomes the browser, so that the process id is the browser's.
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null", "sh", &binary])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().expect("there is a shell");
        let requests = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut browser = Self {
            child,
            profile,
            requests,
            answers,
            session: String::new(),
            sent: 0,
            events: VecDeque::new(),
        };
        let created = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let target = &created["targetId"];
        let attached =
            browser.call("Target.attachToTarget", &json!({ "targetId": target, "flatten": true }));
        browser.session = String::from(attached["sessionId"].as_str().expect("a session"));
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, &json!({}));
        }
        browser
    }

    /// Show a file at this width, and wait until it is loaded.
    pub(crate) fn open(&mut self, page: &Path, width: u32) {
        self.visit(&format!("file://{}", page.display()), width);
    }

    /// Show an address at this width, and wait until it is loaded.
    pub(crate) fn visit(&mut self, url: &str, width: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false }),
        );
        // Reports of an earlier page are retained, except that it was loaded.
        self.events.retain(|event| event["method"] != "Page.loadEventFired");
        let answer = self.call("Page.navigate", &json!({ "url": url }));
        assert!(answer.get("errorText").is_none(), "cannot open {url}: {answer}");
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.receive();
            self.events.push_back(event);
        }
    }

    /// Have the page in `light` or `dark`.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", &json!({ "features": features }));
    }

    /// The value of a script expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let arguments = json!({ "expression": expression, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &arguments);
        assert!(answer.get("exceptionDetails").is_none(), "the script failed: {answer}");
        answer["result"]["value"].clone()
    }

    /// Errors, warnings and exceptions that the page caused so far.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        // An answer comes after the events that came before it.
        self.evaluate("0");
        let is_complaint = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded") => true,
            Some("Runtime.consoleAPICalled") => {
                matches!(event["params"]["type"].as_str(), Some("error" | "warning" | "assert"))
            }
            _ => false,
        };
        self.events.iter().filter(is_complaint).map(Value::to_string).collect()
    }

    /// Call a method and wait for its answer.
    fn call(&mut self, method: &str, arguments: &Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": arguments });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let written = self.requests.write_all(&bytes).and_then(|()| self.requests.flush());
        if let Err(error) = written {
            self.explain(&error.to_string());
        }
        loop {
            let answer = self.receive();
            if answer["id"] == self.sent {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push_back(answer);
        }
    }

    fn receive(&mut self) -> Value {
        let mut bytes = Vec::new();
        match self.answers.read_until(0, &mut bytes) {
            Ok(_) if bytes.pop() == Some(0) => {}
            Ok(_) => self.explain("it closed its pipe"),
            Err(error) => self.explain(&error.to_string()),
        }
        serde_json::from_slice(&bytes).expect("the browser speaks JSON")
    }

    fn explain(&self, why: &str) -> ! {
        panic!(
            "no headless browser (process {}): {why}. This test needs Chromium: \
             `apt-get install chromium`, or name another binary in HEADROOM_CHROMIUM",
            self.child.id(),
        );
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Asked to close it ends its helpers too; killing is for one that does not answer.
        let close = b"{\"id\":0,\"method\":\"Browser.close\"}\0";
        let asked = self.requests.write_all(close).and_then(|()| self.requests.flush());
        let mut rest = Vec::new();
        if asked.is_ok() {
            while matches!(self.answers.read_until(0, &mut rest), Ok(1..)) {
                rest.clear();
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}
