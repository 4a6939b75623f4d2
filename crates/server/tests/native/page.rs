//! The page at `/`: by its headers, and in a real browser.

use std::thread::sleep;
use std::time::{Duration, Instant};

use headroom_core::books::Away;
use headroom_core::{Command, Name, Timestamp};
use reqwest::header;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::server::Server;

#[tokio::test]
async fn the_page_may_do_nothing_but_ask_its_own_server() {
    let server = Server::empty().await;
    for (path, media) in [
        ("/", "text/html; charset=utf-8"),
        ("/page.css", "text/css; charset=utf-8"),
        ("/page.js", "text/javascript; charset=utf-8"),
        ("/page.svg", "image/svg+xml"),
    ] {
        let answer = server.get(path).await;
        assert_eq!(
            (answer.status().as_u16(), answer.headers()[header::CONTENT_TYPE].to_str().unwrap()),
            (200, media)
        );
        let policy = answer.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(answer.headers()[header::REFERRER_POLICY], "no-referrer");
        let tag = answer.headers()[header::ETAG].clone();
        let text = answer.text().await.unwrap();
        for elsewhere in ["http://", "https://", " style=", "onclick", "<script>", "innerHTML"] {
            let own = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!own.contains(elsewhere), "{path} has {elsewhere}");
        }
        let again = server.http.get(server.url(path)).header(header::IF_NONE_MATCH, tag);
        assert_eq!(again.send().await.unwrap().status(), 304);
    }
}

/// What the page shows, found by its own eyes.
const LOOK: &str = r##"(() => ({
  scrollWidth: document.documentElement.scrollWidth,
  innerWidth,
  text: document.body.innerText,
  connection: document.getElementById("connection").textContent,
  alert: document.querySelector("[role=alert]").innerText,
  first: [...document.body.children].filter((one) => one.checkVisibility() && !one.matches(".skip"))[0].innerText,
  events: [...document.querySelectorAll("#events li span")].map((one) => one.textContent),
  reasons: [...document.querySelectorAll("#reasons summary")].map((one) => one.textContent),
  tiles: [...document.querySelectorAll("#totals > div")].map((one) => one.innerText.split("\n")),
  unnamed: [...document.querySelectorAll("a, button, select, progress, input")]
    .filter((one) => one.checkVisibility())
    .filter((one) => !(one.innerText || one.ariaLabel || one.labels?.length)).map((one) => one.outerHTML),
  small: [...document.querySelectorAll("button, select, summary")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 24).map((one) => one.outerHTML),
  headings: [...document.querySelectorAll("h1, h2")].filter((one) => one.checkVisibility()).map((one) => one.textContent),
}))()"##;

/// Look until this holds, for some seconds.
fn look_until(browser: &mut Browser, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let patience = Instant::now() + Duration::from_secs(30);
    loop {
        let seen = browser.evaluate(LOOK);
        if holds(&seen) {
            return seen;
        }
        assert!(Instant::now() < patience, "never {what}: {seen:#}");
        sleep(Duration::from_millis(100));
    }
}

fn check(seen: &Value) {
    assert_eq!(seen["scrollWidth"], seen["innerWidth"], "nothing scrolls sideways");
    assert_eq!(seen["unnamed"], json!([]), "a screen reader has a name for everything");
    assert_eq!(seen["small"], json!([]), "a finger hits everything");
    let headings = ["Headroom", "Now", "Waiting asks, by reason", "Events", "More interfaces"];
    assert_eq!(seen["headings"], json!(headings));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_life_and_fits_a_phone() {
    let server = Server::empty().await;
    let url = server.url("/");
    let (mut browser, empty) = tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        browser.visit(&url, 390);
        let seen = look_until(&mut browser, "live", |seen| seen["connection"] == "Live");
        (browser, seen)
    })
    .await
    .unwrap();
    check(&empty);
    assert_eq!(empty["alert"], "", "nothing is wrong");
    let text = empty["text"].as_str().unwrap();
    assert!(text.contains("no queue file is active") && text.contains("Nothing waits."), "{text}");

    // Names are hostile, and long.
    let evil = "<img src=x onerror=alert(1)>\u{202e}x";
    server.configure(crate::server::QUEUES).await;
    server.node("n1", 8).await;
    server.application(evil, "ann", "root.a").await;
    server.application(&"long-".repeat(40), "ann", "root.a").await;
    server.ask(evil, "a1", 6).await;
    server.turn(1).await;
    server.ask(evil, &"key-".repeat(40), 2).await;
    server.ask(&"long-".repeat(40), "l1", 2).await;
    server.turn(1).await;
    let url = server.url("/");
    let complaints = tokio::task::spawn_blocking(move || {
        for (width, scheme) in [(390, "dark"), (1_440, "light"), (1_440, "dark"), (390, "light")] {
            browser.prefer(scheme);
            browser.visit(&url, width);
            let reasons =
                |seen: &Value| seen["reasons"][0].is_string() && seen["events"][0].is_string();
            check(&look_until(&mut browser, "reasons and events", reasons));
            // With everything open too.
            browser.evaluate(
                "document.querySelectorAll('details').forEach((one) => { one.open = true; })",
            );
            let seen = browser.evaluate(LOOK);
            check(&seen);
            assert_eq!(seen["reasons"], json!(["2 asks wait: QUEUE_MAX root.a"]));
            let text = seen["text"].as_str().unwrap();
            assert!(text.contains("<img src=x onerror=alert(1)>\\u202ex of ann"), "{text}");
            assert!(text.contains("Wait for a release, or raise the maximum."), "{text}");
            assert_eq!(seen["tiles"][3][1], "2", "{seen:#}");
            assert!(text.contains("6 cores of 8 cores allocated"), "{text}");
        }
        browser
    })
    .await
    .unwrap();
    let mut browser = complaints;

    // What happens now is shown without loading the page again.
    server.node("a-node-that-is-new", 1).await;
    let complaints = tokio::task::spawn_blocking(move || {
        look_until(&mut browser, "the new node", |seen| {
            seen["events"][0].as_str().is_some_and(|text| text.contains("a-node-that-is-new"))
        });
        look_until(&mut browser, "two nodes", |seen| seen["tiles"][0][1] == "2");
        browser.complaints()
    })
    .await
    .unwrap();
    assert_eq!(complaints, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
#[doc(alias = "NS-51")]
async fn the_page_says_first_that_a_resource_manager_is_away() {
    let server = Server::empty().await;
    server.configure(crate::server::QUEUES).await;
    server.node("n1", 8).await;
    let away = |away| Command::SetManagerAway { partition: Name::new("default"), away };
    let since = Timestamp::from_millis(1_772_438_400_000);
    server.accept(away(Some(Away { manager: Name::new("yunikorn"), since }))).await;
    server.turn(1).await;
    let url = server.url("/");
    let mut browser = tokio::task::spawn_blocking(move || {
        let mut browser = Browser::start();
        browser.visit(&url, 390);
        let says = |seen: &Value| seen["alert"] != "";
        let seen = look_until(&mut browser, "the alert", says);
        check(&seen);
        let text = seen["alert"].as_str().unwrap();
        let says = "Resource manager yunikorn of partition default has been away since ";
        assert!(text.starts_with(says), "{text}");
        assert_eq!(seen["first"], seen["alert"], "it comes before the heading");
        browser
    })
    .await
    .unwrap();
    server.accept(away(None)).await;
    server.turn(1).await;
    let complaints = tokio::task::spawn_blocking(move || {
        look_until(&mut browser, "the return", |seen| seen["alert"] == "");
        browser.complaints()
    })
    .await
    .unwrap();
    assert_eq!(complaints, [""; 0]);
}
