//! Checklist 5: the queue file in force, and the verdict on another.

use headroom_engine::Origin;
use headroom_engine::testkit::MemoryJournal;
use serde_json::json;

use crate::support::{Options, QUEUES, Server};

#[tokio::test]
async fn exactly_one_accept_gets_json() {
    let server = Server::start().await;
    for (accept, is_json) in [
        (Some("application/json"), true),
        (Some("application/json, text/plain, */*"), false),
        (Some("application/json;q=1"), false),
        (Some("application/x-yaml"), false),
        (Some("*/*"), false),
        (None, false),
    ] {
        let raw = accept.into_iter().fold(server.raw(), |raw, one| raw.header("Accept", one));
        let answer = raw.send("GET", "/ws/v1/config").await;
        let media = if is_json { "application/json" } else { "application/x-yaml" };
        let expected = format!("{media}; charset=UTF-8");
        assert_eq!(answer.header("content-type"), Some(expected.as_str()), "{accept:?}");
        assert_eq!(answer.body.starts_with(b"{"), is_json);
        assert_eq!(answer.body.ends_with(b"\n"), !is_json, "JSON ends without a newline");
    }
}

#[tokio::test]
async fn the_file_is_shown_in_its_own_words() {
    let extra = [("log.level".to_owned(), "INFO".to_owned())].into();
    let server = Server::with(Options { extra, ..Options::default() }).await;
    let config = server.client().get_config().await.unwrap();
    let root = &config.partitions[0].queues[0];
    assert_eq!((root.name.as_str(), root.submit_acl.as_str()), ("root", "*"));
    let sales = &root.queues[0];
    assert_eq!(sales.resources.max, [("memory", "64Gi"), ("vcore", "8")].map(owned).into());
    assert_eq!(root.queues[1].queues[0].limits[0].max_applications, 2);
    assert_eq!(config.checksum, headroom_config::checksum(QUEUES));
    assert_eq!(config.extra["log.level"], "INFO");
    let yaml = server.client().get_config_yaml().await.unwrap();
    assert!(yaml.contains("\nchecksum: "), "{yaml}");
    assert!(yaml.contains("extra:\n  log.level: INFO\n"), "{yaml}");
    // Without the fields next to the partitions it is a queue file with the same meaning.
    let file = &yaml[..yaml.find("\nchecksum: ").unwrap()];
    let read = headroom_config::read(file).unwrap().configuration;
    let written = headroom_config::read(QUEUES).unwrap().configuration;
    assert_eq!(read.partitions, written.partitions);
    assert_eq!(server.client().get_config_yaml().await.unwrap(), yaml, "the same each time");
}

fn owned((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

#[tokio::test]
async fn texts_that_could_be_taken_for_something_else_are_quoted() {
    let queues = r##"
partitions:
  - name: default
    placementrules:
      - {name: tag, value: namespace, create: true, filter: {type: deny, users: ["yes"]}}
    queues:
      - name: root
        queues:
          - name: "1"
            adminacl: " ops"
            properties: {"a: b": "# c", d: "true", e: "line\nline", f: "1e3"}
            limits: [{limit: "", users: ["*"], maxapplications: 1}]
"##;
    let server =
        Server::with(Options { queues: Some(queues.to_owned()), ..Options::default() }).await;
    let yaml = server.client().get_config_yaml().await.unwrap();
    let file = &yaml[..yaml.find("\nchecksum: ").unwrap()];
    let read = headroom_config::read(file).unwrap_or_else(|faults| panic!("{faults}\n{yaml}"));
    let written = headroom_config::read(queues).unwrap().configuration;
    assert_eq!(read.configuration.partitions, written.partitions, "{yaml}");
}

/// With blocks in each place where they may stand; `b` takes the minimum away that it inherits.
const USER_LIMITS: &str = r#"
partitions:
  - name: default
    userlimits: {formula: yarn3, weights: {ann: 1.10, "no": 0}}
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            parent: true
            userlimits: {minimumuserlimitpercent: 33.3, userlimitfactor: -1, minimumallocation: {vcore: 1}}
            childtemplate: {userlimits: {enforcement: strict, calculator: memory}}
            queues:
              - name: b
                userlimits: {minimumallocation: {}, increment: {memory: 512Mi}, maximumallocation: {vcore: 2500m}}
              - name: c
                userlimits: {}
"#;

#[tokio::test]
async fn user_limits_are_shown_where_they_are_written() {
    let queues = Some(USER_LIMITS.to_owned());
    let journal = MemoryJournal::default();
    let server = Server::on(&journal, Options { queues, ..Options::default() }).await;
    let config = server.client().get_config().await.unwrap();
    let partition = &config.partitions[0];
    assert_eq!(partition.user_limits.as_ref().unwrap().weights["ann"], "1.10");
    let a = &partition.queues[0].queues[0];
    assert_eq!(partition.queues[0].user_limits, None);
    assert_eq!(a.user_limits.as_ref().unwrap().factor, "-1");
    assert_eq!(a.queues[1].user_limits, Some(headroom_api::wsv1::ConfigUserLimits::default()));
    let raw = server.raw().header("Accept", "application/json").send("GET", "/ws/v1/config").await;
    let text = String::from_utf8(raw.body).unwrap();
    assert!(
        text.contains(r#""UserLimits":{"Enforcement":"strict","Calculator":"memory"}"#),
        "{text}"
    );
    let read = |yaml: &str| {
        let file = &yaml[..yaml.find("\nchecksum: ").unwrap()];
        let read = headroom_config::read(file).unwrap_or_else(|faults| panic!("{faults}\n{yaml}"));
        read.configuration.partitions
    };
    let written = headroom_config::read(USER_LIMITS).unwrap().configuration.partitions;
    let yaml = server.client().get_config_yaml().await.unwrap();
    assert_eq!(read(&yaml), written, "{yaml}");
    drop(server);
    // From the books, without the text: the same is in force everywhere.
    let server = Server::on(&journal, Options { queues: None, ..Options::default() }).await;
    let shown = server.client().get_config().await.unwrap();
    let root = &shown.partitions[0].queues[0];
    assert_eq!(root.user_limits.as_ref().unwrap().formula, "yarn3");
    let [b, c] = root.queues[0].queues.as_slice() else { panic!("{root:?}") };
    assert_eq!(c.user_limits, None, "as its parent has them");
    let b = b.user_limits.as_ref().unwrap();
    assert_eq!((b.floor.as_str(), b.weights["ann"].as_str()), ("33.3", "1.1"));
    assert_eq!(b.minimum_allocation, Some([].into()));
    assert_eq!(b.maximum_allocation, Some([owned(("vcore", "2500m"))].into()));
}

/// With blocks in each place where they may stand; `b` has a number of its own, and `c` what is
/// inherited.
const APPLICATION_LIMITS: &str = r#"
partitions:
  - name: default
    applicationlimits: {maximumapplications: 10000, maximumapplicationsperuser: 1000, maximumdriverresourcepercent: 0.10}
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            parent: true
            applicationlimits: {maxparallelapps: 200, maxparallelappsperuser: 20, maxparallelappsbyuser: {ann: 5, "no": 18446744073709551615}}
            childtemplate: {applicationlimits: {maximumdriverresourcepercent: 0, maxparallelapps: 1}}
            queues:
              - name: b
                applicationlimits: {maxparallelapps: 100}
              - name: c
          - name: d
            applicationlimits: {}
"#;

#[tokio::test]
async fn application_limits_are_shown_where_they_are_written() {
    use headroom_api::wsv1::ConfigApplicationLimits;

    let queues = Some(APPLICATION_LIMITS.to_owned());
    let journal = MemoryJournal::default();
    let server = Server::on(&journal, Options { queues, ..Options::default() }).await;
    let config = server.client().get_config().await.unwrap();
    let partition = &config.partitions[0];
    let everywhere = ConfigApplicationLimits {
        maximum_applications: 10_000,
        maximum_applications_per_user: 1_000,
        driver: "0.10".to_owned(),
        ..ConfigApplicationLimits::default()
    };
    assert_eq!(partition.application_limits.as_ref(), Some(&everywhere));
    let [a, d] = partition.queues[0].queues.as_slice() else { panic!("{partition:?}") };
    assert_eq!(partition.queues[0].application_limits, None);
    let by_user = &a.application_limits.as_ref().unwrap().max_parallel_apps_by_user;
    assert_eq!(*by_user, [("ann".to_owned(), 5), ("no".to_owned(), u64::MAX)].into());
    assert_eq!(d.application_limits, Some(ConfigApplicationLimits::default()), "as it is written");
    let raw = server.raw().header("Accept", "application/json").send("GET", "/ws/v1/config").await;
    let text = String::from_utf8(raw.body).unwrap();
    let of_template =
        r#""ApplicationLimits":{"MaxParallelApps":1,"MaximumDriverResourcePercent":"0"}"#;
    assert!(text.contains(of_template), "{text}");
    let yaml = server.client().get_config_yaml().await.unwrap();
    let file = &yaml[..yaml.find("\nchecksum: ").unwrap()];
    let read = headroom_config::read(file).unwrap_or_else(|faults| panic!("{faults}\n{yaml}"));
    let written = headroom_config::read(APPLICATION_LIMITS).unwrap().configuration.partitions;
    assert_eq!(read.configuration.partitions, written, "{yaml}");
    drop(server);
    // From the books, without the text: the same is in force everywhere.
    let server = Server::on(&journal, Options { queues: None, ..Options::default() }).await;
    let shown = server.client().get_config().await.unwrap();
    let root = &shown.partitions[0].queues[0];
    let everywhere = ConfigApplicationLimits { driver: "0.1".to_owned(), ..everywhere };
    assert_eq!(root.application_limits.as_ref(), Some(&everywhere));
    let [a, d] = root.queues.as_slice() else { panic!("{root:?}") };
    let template = a.child_template.application_limits.as_ref().unwrap();
    assert_eq!((template.max_parallel_apps, template.driver.as_str()), (1, "0"));
    let a = (a.application_limits.as_ref().unwrap(), a.queues.as_slice());
    assert_eq!((a.0.maximum_applications, a.0.maximum_applications_per_user), (0, 1_000));
    let [b, c] = a.1 else { panic!("{root:?}") };
    assert_eq!((&c.application_limits, &d.application_limits), (&None, &None), "as above them");
    let b = b.application_limits.as_ref().unwrap();
    assert_eq!((b.max_parallel_apps, b.max_parallel_apps_by_user["ann"]), (100, 5));
}

#[tokio::test]
async fn after_a_restart_without_the_text_the_books_are_shown() {
    let journal = MemoryJournal::default();
    let before = Server::on(&journal, Options::default()).await;
    let known = before.client().get_config().await.unwrap();
    drop(before);
    let server = Server::on(&journal, Options { queues: None, ..Options::default() }).await;
    let config = server.client().get_config().await.unwrap();
    assert_eq!(config.checksum, known.checksum);
    let sales = &config.partitions[0].queues[0].queues[1];
    assert_eq!((sales.name.as_str(), sales.resources.max["vcore"].as_str()), ("sales", "8000m"));
    let yaml = server.client().get_config_yaml().await.unwrap();
    assert!(yaml.starts_with("# The text of the queue file is not known"), "{yaml}");
}

#[tokio::test]
#[doc(alias = "C30")]
async fn another_file_is_judged_and_not_applied() {
    let server = Server::start().await;
    let client = server.client();
    let file = |inner: &str| format!("partitions: [{{name: default, {inner}}}]");
    let limit = |inner: &str| {
        file(&format!("queues: [{{name: root, limits: [{{limit: most, users: [ann]{inner}}}]}}]"))
    };
    for (text, reason) in [
        (String::new(), None),
        (QUEUES.to_owned(), None),
        (
            limit(""),
            Some("invalid resource combination for limit most all resource limits are null"),
        ),
        (
            limit(", maxresources: {vcore: 0}"),
            Some("MaxResources should be greater than zero in 'most' limit"),
        ),
        (
            file("queues: [{name: root}], nodesortpolicy: {type: odd}"),
            Some("undefined policy: odd"),
        ),
        (file("queues: [{name: root, color: red}]"), Some("color")),
        ("a: [".to_owned(), Some("line 1")),
    ] {
        let verdict = client.validate_config(&text).await.unwrap();
        assert_eq!(verdict.allowed, reason.is_none(), "{text}: {}", verdict.reason);
        assert!(verdict.reason.contains(reason.unwrap_or_default()), "{}", verdict.reason);
        let checksum = reason.is_none().then(|| headroom_config::checksum(&text));
        assert_eq!(verdict.checksum, checksum.unwrap_or_default());
        assert_eq!(verdict.checksum_match, reason.is_none().then_some(false));
    }
    let own = |digits: &str| format!("{QUEUES}checksum: {digits}\n");
    let checksum = headroom_config::checksum(&own(&"0".repeat(64)));
    let verdict = client.validate_config(&own(&checksum)).await.unwrap();
    assert_eq!((verdict.checksum_match, verdict.checksum), (Some(true), checksum));
    let answer = server.raw().body(vec![b'a', 0xff]).send("POST", "/ws/v1/validate-conf").await;
    assert_eq!((answer.status, answer.json()["allowed"].clone()), (200, json!(false)));
    let large = server.raw().body(vec![b'#'; (16 << 20) + 1]);
    assert_eq!(large.send("POST", "/ws/v1/validate-conf").await.status, 413);
    assert_eq!(client.get_config().await.unwrap().checksum, headroom_config::checksum(QUEUES));
}

#[tokio::test]
async fn a_new_file_is_shown_at_once() {
    let server = Server::start().await;
    let text = "partitions: [{name: default, queues: [{name: root, queues: [{name: new}]}]}]";
    server.service.queue_file.apply(Origin::default(), text).await.unwrap();
    let config = server.client().get_config().await.unwrap();
    assert_eq!(config.partitions.len(), 1);
    assert_eq!(config.partitions[0].queues[0].queues[0].name, "new");
}
