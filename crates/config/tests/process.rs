//! Settings of the server process from all sources.

#![allow(clippy::unwrap_used, reason = "a test says what failed")]

use std::time::Duration;

use expect_test::{Expect, expect, expect_file};
use headroom_config::process::{KEYS, Level, Otlp, Process, ProcessError, Sources, table};

fn read(
    file: &str,
    environment: &[(&str, &str)],
    flags: &[(&'static str, &str)],
) -> Result<Process, ProcessError> {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Process::read(Sources {
        file: Some(("headroom.yaml".into(), file.to_owned())),
        environment: environment.iter().map(pair).collect(),
        flags: flags.iter().map(|(name, value)| (*name, (*value).to_owned())).collect(),
    })
}

fn of_file(file: &str) -> Process {
    read(file, &[], &[]).unwrap()
}

fn refused(
    file: &str,
    environment: &[(&str, &str)],
    flags: &[(&'static str, &str)],
    expected: &Expect,
) {
    expected.assert_eq(&read(file, environment, flags).unwrap_err().to_string());
}

#[test]
fn nothing_said_is_a_server_for_this_machine() {
    let process = Process::read(Sources::default()).unwrap();
    assert_eq!(process, of_file(""));
    assert_eq!(process, of_file("# nothing\nauth:\ntls: ~\n"));
    assert_eq!(process.listen, ["127.0.0.1:9080".parse().unwrap()]);
    assert!(!process.has_auth() && !process.insecure && process.extra.is_empty());
    assert_eq!(process.limits.request_body, 16 << 20);
    assert_eq!(process.event.rest_response_size, 10_000);
}

#[test]
fn a_flag_wins_over_a_variable_and_that_over_the_file() {
    let file = "limits:\n  requestTime: 1s\n  headerTime: 1s\n  requests: 1\n";
    let environment = [("HEADROOM_LIMITS_HEADER_TIME", "2s"), ("HEADROOM_LIMITS_REQUESTS", "2")];
    let process = read(file, &environment, &[("limits.requests", "3")]).unwrap();
    let limits = process.limits;
    let seconds = (limits.request_time, limits.header_time, limits.requests);
    assert_eq!(seconds, (Duration::from_secs(1), Duration::from_secs(2), 3));
}

#[test]
fn a_rate_is_a_number_and_a_time_and_a_burst_goes_with_it() {
    use headroom_config::process::Rate;
    let rate = |file: &str| of_file(&format!("limits: {{{file}}}")).limits.tenants;
    let of = |count, seconds, burst| Some(Rate { count, per: Duration::from_secs(seconds), burst });
    assert_eq!(rate("requests: 7"), None);
    assert_eq!(rate("tenantRate: 100/s"), of(100, 1, 100));
    assert_eq!(rate("tenantRate: 90/m, tenantBurst: 5"), of(90, 60, 5));
    assert_eq!(rate("tenantRate: 1/h"), of(1, 3_600, 1));
    for (file, expected) in [
        ("tenantRate: 100", "expected a number and a time, such as 100/s"),
        ("tenantRate: 1/d", "expected a number and a time, such as 100/s"),
        ("tenantRate: 0/s", "expected a number from 1 to 1000000"),
        ("tenantRate: 1/s, tenantBurst: 0", "expected a whole number of at least 1"),
        ("tenantRate: 1/s, tenantBurst: 1000001", "expected a number up to 1000000"),
        ("tenantBurst: 5", "`limits.tenantRate`"),
    ] {
        let fault = read(&format!("limits: {{{file}}}"), &[], &[]).unwrap_err().to_string();
        assert!(fault.contains(expected), "{file}: {fault}");
    }
}

#[test]
fn a_key_may_be_written_with_dots_and_a_list_in_three_ways() {
    for file in [
        "listen: [127.0.0.1:1, 127.0.0.1:2]",
        "listen: 127.0.0.1:1, 127.0.0.1:2",
        "listen:\n- 127.0.0.1:1\n- 127.0.0.1:2\n",
    ] {
        assert_eq!(of_file(file).listen.len(), 2, "{file}");
    }
    let flags = [("listen", "127.0.0.1:1,127.0.0.1:2")];
    assert_eq!(read("listen: 127.0.0.1:3", &[], &flags).unwrap().listen.len(), 2);
    assert_eq!(of_file("journal.path: a").journal, of_file("journal: {path: a}").journal);
    let roles = "tls: {cert: a, key: b, clientCa: c}\nauth.certificates.roles:";
    let written = [
        format!("{roles} {{'group:ops': [operator, viewer], 'user:ann': rm}}"),
        format!("{roles} 'group:ops=operator+viewer, user:ann=rm'"),
        format!("{roles}\n- group:ops=operator+viewer\n- user:ann=rm\n"),
    ];
    for file in &written {
        let roles = of_file(file).auth.certificates.roles;
        assert_eq!(roles["group:ops"], ["operator", "viewer"], "{file}");
        assert_eq!(roles["user:ann"], ["rm"], "{file}");
    }
}

#[test]
fn every_kind_of_value_is_read() {
    let process = of_file(
        "insecure: yes\nlisten: ':9080'\nlog: {level: 'warn,headroom_server=debug', format: json}\n\
         event: {trackingEnabled: false, RESTResponseSize: 0, maxStreams: 7}\nhealth: {checkInterval: 1m30s}\n",
    );
    assert!(process.insecure && !process.event.tracking_enabled);
    assert_eq!(process.listen[0].to_string(), "[::]:9080");
    assert_eq!(process.log.levels.level, Level::Warn);
    assert_eq!(process.log.levels.targets["headroom_server"], Level::Debug);
    assert_eq!(process.event.rest_response_size, 10_000);
    assert_eq!(process.health_interval, Duration::from_secs(90));
    let extra: Vec<_> = process.extra.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(
        extra,
        [
            "event.RESTResponseSize=0",
            "event.maxStreams=7",
            "event.trackingEnabled=false",
            "health.checkInterval=1m30s"
        ]
    );
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_known_one() {
    refused(
        "journal:\n  pth: a\n",
        &[],
        &[],
        &expect![[r"
        error[YAML-KEY]: the key `journal.pth` does not exist
         --> headroom.yaml:2:3
          |
        2 |   pth: a
          |   ^^^
          |
          = help: did you mean `journal.path`?"]],
    );
    refused(
        "requestBody: 1\nlimit:\n  requests: 3\n",
        &[],
        &[],
        &expect![[r"
            error[YAML-KEY]: the key `requestBody` does not exist
             --> headroom.yaml:1:1
              |
            1 | requestBody: 1
              | ^^^^^^^^^^^
              |
              = help: did you mean `limits.requestBody`?

            error[YAML-KEY]: the key `limit` does not exist
             --> headroom.yaml:2:1
              |
            2 | limit:
              | ^^^^^
              |
              = help: did you mean `limits`?"]],
    );
    refused(
        "journal: {url: 'postgres://a'}\n",
        &[],
        &[],
        &expect![[r"
        error[YAML-KEY]: this version does not support `journal.url`
         --> headroom.yaml:1:11
          |
        1 | journal: {url: 'postgres://a'}
          |           ^^^
          |
          = help: set `journal.path`; this version stores the journal in a folder"]],
    );
    refused(
        "",
        &[("HEADROOM_LISTN", "a")],
        &[],
        &expect![
            "error: the environment variable HEADROOM_LISTN does not match a key of the \
             configuration. Rename the variable to HEADROOM_LISTEN, or unset it"
        ],
    );
    // Other programs' variables, Kubernetes' for a service of our name among them.
    let others = [
        ("HEADROOM_SERVER", "a"),
        ("HEADROOM_PORT_9080_TCP", "b"),
        ("HEADROOM_CONFIG", "c"),
        ("PATH", "d"),
    ];
    read("", &others, &[]).unwrap();
}

#[test]
fn a_value_that_means_nothing_is_told_where_it_stands() {
    refused(
        "limits:\n  requestBody: much\n  requestTime: 0s\nlog:\n  level: loud\nhosts: [a:1]\n",
        &[("HEADROOM_LIMITS_HEADER_TIME", "soon")],
        &[("cors", "some")],
        &expect![[r"
            error[YAML-TYPE]: `limits.requestBody`: found `much`, expected a size of at least 1 byte, such as 16MiB, 64KiB or 1000000
             --> headroom.yaml:2:16
              |
            2 |   requestBody: much
              |                ^^^^

            error[YAML-TYPE]: `limits.requestTime`: found `0s`, expected a time above 0
             --> headroom.yaml:3:16
              |
            3 |   requestTime: 0s
              |                ^^

            error[YAML-TYPE]: `log.level`: found `loud`, `loud` is not a level; expected off, error, warn, info, debug or trace
             --> headroom.yaml:5:10
              |
            5 |   level: loud
              |          ^^^^

            error[YAML-TYPE]: `hosts`: `a:1` is not a host name; expected one such as headroom.example.org, without port
             --> headroom.yaml:6:8
              |
            6 | hosts: [a:1]
              |        ^

            error: HEADROOM_LIMITS_HEADER_TIME: `limits.headerTime`: found `soon`, expected a time of at most a year, such as 10s, 1m30s or 500ms

            error: --cors: `cors`: found `some`, expected auto or any"]],
    );
}

#[test]
fn a_file_of_another_shape_is_refused() {
    refused(
        "limits: 3\nlisten: {a: b}\nqueues: [a, b]\n",
        &[],
        &[],
        &expect![[r"
        error[YAML-TYPE]: `limits` must be a mapping of keys to values
         --> headroom.yaml:1:9
          |
        1 | limits: 3
          |         ^

        error[YAML-TYPE]: `listen` must be a single value, but it is a mapping
         --> headroom.yaml:2:9
          |
        2 | listen: {a: b}
          |         ^

        error[YAML-TYPE]: `queues` must be a single value, but it is a list
         --> headroom.yaml:3:9
          |
        3 | queues: [a, b]
          |         ^"]],
    );
    refused(
        "journal.path: a\njournal: {path: b}\n",
        &[],
        &[],
        &expect![[r"
        error[YAML-DUP]: `journal.path` occurs twice, in two spellings
         --> headroom.yaml:2:11
          |
        2 | journal: {path: b}
          |           ^^^^
          |
          = help: remove one of the two entries"]],
    );
    refused(
        "listen: [\n",
        &[],
        &[],
        &expect![[r"
        error[YAML]: unclosed bracket '['
         --> headroom.yaml:1:9
          |
        1 | listen: [
          |         ^
          |
          = help: check the indentation, quotes, and brackets in this line and in the previous line"]],
    );
}

#[test]
fn an_open_server_beyond_this_machine_is_refused_unless_it_is_meant() {
    let listen = "listen: [127.0.0.1:1, 10.0.0.1:2]\n";
    refused(
        listen,
        &[],
        &[],
        &expect![[r"
        error[YAML-TYPE]: `listen`: other machines can reach 10.0.0.1:2, and every caller would have the role `admin`. Set `auth.tokens`, `auth.oidc.issuer` or `tls.clientCa`, listen on 127.0.0.1, or set --insecure
         --> headroom.yaml:1:9
          |
        1 | listen: [127.0.0.1:1, 10.0.0.1:2]
          |         ^"]],
    );
    refused(
        "listen: ':9080'",
        &[],
        &[],
        &expect![[r"
        error[YAML-TYPE]: `listen`: other machines can reach [::]:9080, and every caller would have the role `admin`. Set `auth.tokens`, `auth.oidc.issuer` or `tls.clientCa`, listen on 127.0.0.1, or set --insecure
         --> headroom.yaml:1:9
          |
        1 | listen: ':9080'
          |         ^^^^^^^"]],
    );
    for more in [
        "insecure: true",
        "auth: {tokens: a}",
        "auth: {oidc: {issuer: 'https://a', audience: b}}",
        "tls: {cert: a, key: b, clientCa: c}",
    ] {
        assert_eq!(of_file(&format!("{listen}{more}")).listen.len(), 2, "{more}");
    }
    // Encryption alone tells nobody who is calling.
    let encrypted = read(&format!("{listen}tls: {{cert: a, key: b}}"), &[], &[]).unwrap_err();
    let expected = "error[YAML-TYPE]: `listen`: other machines can reach 10.0.0.1:2";
    assert!(encrypted.to_string().starts_with(expected), "{encrypted}");
}

#[test]
fn keys_that_do_not_go_together_are_refused() {
    for (file, expected) in [
        ("tls: {cert: a}", "`tls.key` is not set"),
        ("tls: {clientCa: a}", "`tls.cert` is not set"),
        ("auth: {oidc: {issuer: 'https://a'}}", "`auth.oidc.audience` is not set"),
        ("auth: {oidc: {audience: a}}", "`auth.oidc.issuer` is not set"),
        ("auth: {oidc: {rolesClaim: a}}", "`auth.oidc.issuer` is not set"),
        ("auth: {oidc: {issuer: 'http://a', audience: b}}", "begins with https://"),
        ("auth: {oidc: {issuer: 'http://localhost.evil', audience: b}}", "begins with https://"),
        (
            "auth: {certificates: {roles: '*=admin'}}",
            "clients cannot present certificates without `tls.clientCa`",
        ),
    ] {
        let error = read(file, &[], &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{file}: {error}");
    }
    for issuer in ["http://localhost:1/a", "http://127.0.0.1:1", "http://[::1]:1", "https://a.b"] {
        let file = format!("auth: {{oidc: {{issuer: '{issuer}', audience: b}}}}");
        assert_eq!(of_file(&file).auth.oidc.unwrap().issuer, issuer);
    }
}

#[test]
fn text_that_nobody_would_write_is_refused_and_no_more() {
    for (file, expected) in [
        (
            "a".repeat(2 << 20),
            "error: headroom.yaml has 2097152 bytes, but a configuration file can have at most 1048576",
        ),
        ("[".repeat(10_000), "error[YAML]: recursion limit exceeded"),
        (
            format!("{}: 1", "k".repeat(100_000)),
            "error[YAML-TYPE]: `the file` must be a mapping of keys to values",
        ),
        ("? [a]\n: b\n".to_owned(), "error[YAML-KEY]: a key must be a string"),
        ("- a".to_owned(), "error[YAML-TYPE]: `the file` must be a mapping of keys to values"),
        (
            "listen: !!binary aGVsbG8=".to_owned(),
            "error[YAML-TYPE]: `listen`: `aGVsbG8=` is not an address with a port; ",
        ),
        (
            "a: &a [*a]".to_owned(),
            "error[YAML]: an alias refers to a value that contains the alias",
        ),
        (
            "\u{0}".to_owned(),
            "error[YAML]: the file contains the control character U+0000, which is not allowed",
        ),
    ] {
        let start: String = file.chars().take(20).collect();
        let refused = read(&file, &[], &[]).unwrap_err().to_string();
        assert!(refused.starts_with(expected), "{start:?}: {refused}");
    }
}

#[test]
fn the_page_has_the_table() {
    let page = include_str!("../../../docs/server.md");
    let table = table();
    if !page.contains(&table) {
        expect_file!["../../../docs/server.md"].assert_eq(&with_table(page, &table));
    }
    assert_eq!(table.lines().count(), KEYS.len() + 2);
}

#[test]
fn traces_go_to_a_server_and_are_a_share_of_all() {
    assert_eq!(of_file("").otlp, None);
    for (file, endpoint, sampling) in [
        ("otlp.endpoint: http://127.0.0.1:4317", "http://127.0.0.1:4317", 0.1),
        ("otlp: {endpoint: 'https://[::1]:1/', sampling: 1}", "https://[::1]:1/", 1.0),
        ("otlp: {endpoint: http://collector, sampling: 0.0}", "http://collector", 0.0),
    ] {
        let expected = Otlp { endpoint: endpoint.to_owned(), sampling };
        assert_eq!(of_file(file).otlp, Some(expected), "{file}");
    }
    for (key, value) in [
        ("otlp.endpoint", "collector:4317"),
        ("otlp.endpoint", "http://"),
        ("otlp.endpoint", "http://:4317"),
        ("otlp.endpoint", "http://a/v1/traces"),
        ("otlp.endpoint", "http://a b"),
        ("otlp.sampling", "1.1"),
        ("otlp.sampling", "-0.1"),
        ("otlp.sampling", "NaN"),
        ("otlp.sampling", "half"),
    ] {
        let others = [("otlp.endpoint", "http://a")].into_iter().filter(|(other, _)| *other != key);
        let given: Vec<_> = others.chain([(key, value)]).collect();
        let error = read("", &[], &given).unwrap_err().to_string();
        assert!(error.contains(&format!("`{key}`: found `{value}`")), "{error}");
    }
    let alone = read("", &[], &[("otlp.sampling", "1")]).unwrap_err().to_string();
    assert!(
        alone.contains(
            "`otlp.endpoint` is not set; `otlp.sampling` has no effect without an endpoint"
        ),
        "{alone}"
    );
}

/// The page with the table between its marks.
fn with_table(page: &str, table: &str) -> String {
    let (begin, end) = ("<!-- keys -->\n\n", "\n<!-- end of keys -->");
    let (before, rest) = page.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    format!("{before}{begin}{table}{end}{after}")
}
