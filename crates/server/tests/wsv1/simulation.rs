//! What user limits would be: the worked examples of the specification by their ids, in units of one
//! of memory, and what cannot be asked.

use serde_json::{Value, json};

use crate::support::{CALLER, Exchange, Server};
use crate::user_limits::{PATH, server};

fn memory(amount: i64) -> Value {
    json!({ "memory": amount })
}

/// So many users who use the same and want something.
fn users(count: i64, each: i64) -> Value {
    (0..count).map(|one| json!({"user": format!("u{one}"), "used": memory(each)})).collect()
}

/// A request in which nothing is left to the queue that it is sent to.
fn request(formula: &str, capacity: i64, p: f64, f: f64, more: Value) -> Value {
    let calculator = if formula == "smooth" { "componentwise" } else { "memory" };
    let mut whole = json!({
        "formula": formula, "calculator": calculator, "Q": memory(capacity), "Qmax": memory(100),
        "total": memory(100), "p": p, "f": f, "step": memory(1), "increment": memory(1),
        "r": memory(1)
    });
    let Value::Object(more) = more else { panic!("{more} has no fields") };
    for (key, value) in more {
        whole[key] = value;
    }
    whole
}

async fn ask(server: &Server, body: &Value) -> Exchange {
    server.raw().body(body.to_string()).send("POST", &format!("{PATH}/simulate")).await
}

async fn simulated(server: &Server, body: &Value) -> Value {
    let answer = ask(server, body).await;
    assert_eq!(answer.status, 200, "{body}: {}", answer.text());
    answer.json()
}

/// A value of the first user.
async fn first(server: &Server, body: &Value, field: &str) -> i64 {
    let found = simulated(server, body).await;
    found["users"][0][field]["memory"].as_i64().unwrap_or_else(|| panic!("{field}: {found:#}"))
}

async fn limit(server: &Server, body: &Value) -> i64 {
    first(server, body, "limit").await
}

#[tokio::test]
#[doc(alias = "UH-01")]
#[doc(alias = "UH-02")]
#[doc(alias = "UH-03")]
async fn the_seed_s_formula() {
    let server = server().await;
    let mut shares = Vec::new();
    for count in [1, 2, 3, 4, 5, 9] {
        let body = request("yarn27", 100, 30.0, 1.0, json!({"users": users(count, 0)}));
        shares.push(limit(&server, &body).await);
    }
    assert_eq!(shares, [100, 50, 34, 30, 30, 30], "UH-01");
    let steps = json!({
        "users": users(3, 0), "step": memory(1_024), "increment": memory(1_024),
        "r": memory(1_024), "total": memory(204_800), "Qmax": memory(204_800)
    });
    let body = request("yarn27", 102_400, 30.0, 1.0, steps);
    let found = simulated(&server, &body).await;
    let one = &found["users"][0];
    assert_eq!((&one["a"], &one["limit"]), (&memory(34_134), &memory(34_816)), "UH-02");
    for (count, expected) in [(1, 52), (2, 26)] {
        let more = json!({"users": users(count, 0), "U": memory(44), "r": memory(8)});
        let found = simulated(&server, &request("yarn27", 40, 30.0, 100.0, more)).await;
        let one = &found["users"][0];
        assert_eq!((&one["whole"], &one["limit"]), (&memory(52), &memory(expected)), "UH-03");
    }
}

#[tokio::test]
#[doc(alias = "UH-04")]
#[doc(alias = "UH-05")]
async fn the_factor_and_a_tiny_queue() {
    let server = server().await;
    for (p, f, used, expected) in [(30.0, 1.0, 60, 40), (100.0, 0.5, 0, 20), (30.0, 2.5, 100, 100)]
    {
        let more = json!({"users": users(1, used), "r": memory(8)});
        let found = limit(&server, &request("yarn27", 40, p, f, more)).await;
        assert_eq!(found, expected, "UH-04 with a factor of {f}");
    }
    let more = json!({"users": users(1, 0), "r": memory(8)});
    assert_eq!(limit(&server, &request("yarn27", 2, 25.0, 1.0, more)).await, 8, "UH-05");
    let more = json!({"users": users(4, 0), "r": memory(8)});
    let found = simulated(&server, &request("yarn27", 2, 25.0, 1.0, more)).await;
    let one = &found["users"][0];
    assert_eq!((&one["limit"], &one["hard"]), (&memory(2), &memory(8)), "UH-05");
    let admitted = json!({"progress": true, "strict": false, "overshoot": true});
    assert_eq!(one["admitted"], admitted, "UH-05");
}

#[tokio::test]
#[doc(alias = "UH-06")]
#[doc(alias = "UH-07")]
#[doc(alias = "UH-08")]
#[doc(alias = "UH-09")]
async fn the_formula_of_capacity_scheduler_3() {
    let server = server().await;
    for (used, base, limits) in [(60, 25, [37, 25]), (100, 41, [61, 41])] {
        let both = json!([
            {"user": "heavy", "used": memory(used), "weight": 1.5},
            {"user": "light"},
        ]);
        let found =
            simulated(&server, &request("yarn3", 100, 25.0, 1.0, json!({"users": both}))).await;
        let of = |place: usize, field: &str| found["users"][place][field].clone();
        let part = |field: &str| of(0, field)["memory"].as_i64().unwrap();
        assert_eq!(part("a").max(part("b")), base, "UH-06");
        assert_eq!([of(0, "limit"), of(1, "limit")], limits.map(memory), "UH-06");
    }
    for (f, expected) in [(-1.0, 91), (1.0, 40)] {
        let more = json!({"users": users(1, 90)});
        let found = limit(&server, &request("yarn3", 40, 30.0, f, more)).await;
        assert_eq!(found, expected, "UH-07 with a factor of {f}");
    }
    let more = json!({"users": users(1, 5), "Qmax": memory(60)});
    let found = simulated(&server, &request("yarn3", 0, 100.0, 1.0, more)).await;
    let one = &found["users"][0];
    assert_eq!((&one["cap"], &one["limit"]), (&memory(60), &memory(6)), "UH-08");
    let four = json!([
        {"user": "a", "used": memory(15)}, {"user": "b", "used": memory(15)},
        {"user": "c", "used": memory(20), "active": false},
        {"user": "d", "used": memory(20), "active": false},
    ]);
    for (among, base, expected) in [("active", 31, 16), ("all", 100, 25)] {
        let more = json!({"users": four, "among": among});
        let found = simulated(&server, &request("yarn3", 100, 10.0, 2.0, more)).await;
        let one = &found["users"][0];
        assert_eq!((&one["base"], &one["limit"]), (&memory(base), &memory(expected)), "UH-09");
        assert_eq!(found["among"], among);
    }
}

#[tokio::test]
#[doc(alias = "UH-10")]
#[doc(alias = "UH-11")]
async fn dominant_shares_and_the_floor() {
    let server = server().await;
    let both = |memory: i64, vcore: i64| json!({"memory": memory, "vcore": vcore});
    let more = json!({
        "calculator": "dominant", "total": both(1_000, 1_000), "Q": both(400, 400),
        "Qmax": both(1_000, 1_000), "step": both(1, 1), "increment": both(1, 1), "among": "all",
        "users": [{"user": "a", "used": both(200, 0)}, {"user": "b", "used": both(0, 300)}]
    });
    let found = simulated(&server, &request("yarn3", 400, 25.0, 2.0, more)).await;
    let one = &found["users"][0];
    assert_eq!(one["consumed"], both(500, 500), "UH-10");
    assert_eq!((&one["whole"], &one["limit"]), (&both(501, 501), &both(251, 251)), "UH-10");
    let found =
        simulated(&server, &request("yarn3", 100, 50.0, 1.0, json!({"users": users(2, 0)}))).await;
    let one = &found["users"][0];
    assert_eq!(
        (&one["a"], &one["b"], &one["limit"]),
        (&memory(1), &memory(50), &memory(50)),
        "UH-11"
    );
}

#[tokio::test]
#[doc(alias = "UH-33")]
#[doc(alias = "UH-34")]
#[doc(alias = "UH-35")]
async fn our_formula() {
    let server = server().await;
    for (active, split, share) in [(15, 60, 30), (35, 78, 39)] {
        let three = json!([
            {"user": "a", "used": memory(active)}, {"user": "b", "used": memory(active)},
            {"user": "c", "used": memory(40), "active": false},
        ]);
        let more = json!({"users": three, "Qmax": memory(150), "r": memory(8)});
        let found = simulated(&server, &request("smooth", 100, 10.0, 2.0, more)).await;
        let one = &found["users"][0];
        assert_eq!((&one["split"], &one["soft"]), (&memory(split), &memory(share)), "UH-33");
    }
    let vector =
        |vcore: i64, memory: i64, gpu: i64| json!({"vcore": vcore, "memory": memory, "gpu": gpu});
    for (count, expected) in [(1, (40, 160, 5)), (2, (20, 80, 3)), (4, (12, 48, 2))] {
        let mut all = users(count, 0);
        all[0]["used"] = vector(30, 100, 4);
        let more = json!({
            "Q": vector(40, 160, 4), "Qmax": vector(1_000, 1_000, 100), "users": all,
            "total": vector(1_000, 1_000, 100), "r": vector(4, 16, 1), "step": vector(1, 1, 1)
        });
        let found = simulated(&server, &request("smooth", 0, 30.0, 100.0, more)).await;
        let (vcore, memory, gpu) = expected;
        assert_eq!(found["users"][0]["soft"], vector(vcore, memory, gpu), "UH-34 with {count}");
    }
    let more = json!({"users": users(2, 60), "Qmax": memory(160), "r": memory(8)});
    let found = simulated(&server, &request("smooth", 100, 25.0, 2.0, more)).await;
    for one in found["users"].as_array().unwrap() {
        assert_eq!(
            (&one["whole"], &one["split"], &one["soft"]),
            (&memory(128), &memory(128), &memory(64))
        );
    }
}

#[tokio::test]
async fn what_is_not_said_is_as_in_the_queue() {
    let server = server().await;
    let shown = server.json(PATH).await;
    let same = simulated(&server, &json!({})).await;
    assert_eq!(same["inputs"], shown["inputs"]);
    for (here, there) in
        same["users"].as_array().unwrap().iter().zip(shown["users"].as_array().unwrap())
    {
        let of_view = [
            &there["user"],
            &there["softShare"],
            &there["hardCap"],
            &there["limit"],
            &there["r"],
            &there["weight"],
            &there["active"],
            &there["used"],
        ];
        let of_simulation = [
            &here["user"],
            &here["soft"],
            &here["hard"],
            &here["limit"],
            &here["r"],
            &here["weight"],
            &here["active"],
            &here["used"],
        ];
        assert_eq!(of_simulation, of_view);
    }
    // Another percentage alone: ann may have 1.5 times a half of 130.
    let other = simulated(&server, &json!({"p": 50})).await;
    assert_eq!((&other["inputs"]["p"], &other["inputs"]["f"]), (&json!(50), &json!(1.5)));
    assert_eq!(other["users"][0]["b"], memory(98));
    // Weight and ask of a user by name, and of another user without usage.
    let two = json!({"users": [{"user": "ann"}, {"user": "new"}], "U": memory(30)});
    let found = simulated(&server, &two).await;
    assert_eq!((&found["users"][0]["weight"], &found["users"][0]["r"]), (&json!(1.5), &memory(30)));
    assert_eq!((&found["users"][1]["weight"], &found["users"][1]["r"]), (&json!(1), &memory(2)));
    assert_eq!((&found["inputs"]["Uact"], &found["inputs"]["Uin"]), (&json!({}), &memory(30)));
    // Where users share nothing so far, it is as if they did.
    let path = "/ws/v1/partition/default/queue/root.sandbox/userlimits/simulate";
    let body = json!({"Q": memory(10), "users": users(2, 0), "r": memory(1), "p": 50}).to_string();
    let found = server.raw().body(body).send("POST", path).await.json();
    assert_eq!((&found["inputs"]["f"], &found["users"][1]["soft"]), (&json!(1), &memory(5)));
    assert_eq!(server.json(PATH).await, shown, "nothing has happened by it");
}

#[tokio::test]
async fn nothing_is_told_of_users_who_are_not_seen() {
    let server = server().await;
    let ask = |body: Value| {
        let asked = server.raw().header(CALLER, "bob - submitter").body(body.to_string());
        asked.send("POST", "/ws/v1/partition/default/queue/root.research/userlimits/simulate")
    };
    let answer = ask(json!({})).await;
    assert_eq!(answer.json()["users"].as_array().unwrap().len(), 1);
    assert!(!answer.text().contains("ann") && !answer.text().contains("cid"), "{}", answer.text());
    let answer = ask(json!({"users": [{"user": "ann"}, {"user": "bob"}]})).await.json();
    assert_eq!(answer["users"][0]["weight"], json!(1), "hers is 1.5");
    assert_eq!(answer["users"][0]["r"], memory(2), "hers is 30");
}

/// Requests, and their answers.
const REFUSED: &[(&str, &str)] = &[
    ("", "the body is empty. Send `{}`"),
    ("[]", "the body begins with `[`, but it must be an object"),
    ("{", "the body: EOF"),
    (r#"{"q": {}}"#, "unknown field `q`, expected one of `Q`"),
    (r#"{"users": [{"user": "a", "name": "b"}]}"#, "unknown field `name`"),
    (r#"{"users": [{}]}"#, "missing field `user`"),
    (
        r#"{"formula": "yarn4"}"#,
        "unknown variant `yarn4`, expected one of `smooth`, `yarn3`, `yarn27`",
    ),
    (r#"{"p": "30"}"#, "`p` is \"30\", which is not a number; it must be 0 or from 1 to 100"),
    (
        r#"{"users": [{"user": "a", "weight": "1"}]}"#,
        "`users[0].weight` is \"1\", which is not a number; it must be 0 or more",
    ),
    (r#"{"p": 0.5}"#, "`p` is 0.5; it must be 0 or from 1 to 100"),
    (r#"{"p": 101}"#, "`p` is 101; it must be 0 or from 1 to 100"),
    (r#"{"p": 0, "formula": "yarn3"}"#, "only the formula `smooth` allows"),
    (r#"{"f": 0}"#, "`f` is 0; it must be -1, or above 0"),
    (r#"{"f": -2}"#, "`f` is -2; it must be -1, or above 0"),
    (r#"{"f": 1e300}"#, "it must be -1, or above 0 and at most 1000000"),
    (r#"{"p": 100}"#, "the weight of user `ann` is 1.5 and `p` is 100"),
    (r#"{"users": [{"user": "a", "weight": 5}]}"#, "the weight of user `a` is 5 and `p` is 25"),
    (
        r#"{"users": [{"user": "a", "weight": -1}]}"#,
        "`users[0].weight` is -1; it must be 0 or more",
    ),
    (r#"{"users": [{"user": "a b"}]}"#, "`users[0].user` is \"a b\", but a user name must begin"),
    (r#"{"Q": {"memory": -1}}"#, "`Q` has -1 of \"memory\", but an amount must be 0 or more"),
    (
        r#"{"Q": {"memory": 1.5}}"#,
        "`Q` has 1.5 of \"memory\", but an amount must be a whole number from 0 to 9223372036854775807, without exponent \
         and unit: bytes of memory, thousandths of a core of vcore, and counts of other types",
    ),
    (
        r#"{"Qmax": {"vcore": 1e21}}"#,
        "`Qmax` has 1e+21 of \"vcore\", but an amount must be a whole number",
    ),
    (
        r#"{"U": {"memory": 9223372036854775808}}"#,
        "`U` has 9223372036854775808 of \"memory\", but an",
    ),
    (
        r#"{"r": {"memory": "5Gi"}}"#,
        "`r` has \"5Gi\" of \"memory\", but an amount must be a whole number",
    ),
    (
        r#"{"users": [{"user": "a"}, {"user": "b", "used": {"vcore": 2.0}}]}"#,
        "`users[1].used` has 2.0 of \"vcore\", but an amount must be a whole number",
    ),
    (
        r#"{"users": [{"user": "a"}, {"user": "b"}, {"user": "a", "used": {"memory": 1}}]}"#,
        "`users[2].user` is \"a\", like `users[0].user`, but each user can occur only once",
    ),
    (r#"{"step": {"memory": 0}}"#, "`step` has 0 of memory, but the amount must be above 0"),
    (
        r#"{"U": {"memory": 5}, "users": [{"user": "a", "used": {"memory": 6}}]}"#,
        "`U` is 5 of memory, but the users use 6 together",
    ),
];

#[tokio::test]
async fn what_cannot_be_simulated_is_refused_with_field_both_sides_and_what_to_do() {
    let server = server().await;
    let post =
        async |body: &str| server.raw().body(body).send("POST", &format!("{PATH}/simulate")).await;
    for (body, said) in REFUSED {
        let answer = post(body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.contains(said), "{body}: {message}");
    }
    let many: Vec<Value> = (0..501).map(|one| json!({"user": format!("u{one}")})).collect();
    let answer = ask(&server, &json!({"users": many})).await;
    assert_eq!(answer.status, 400);
    assert!(
        answer.text().contains("`users` has 501 entries, but at most 500 are allowed"),
        "{}",
        answer.text()
    );
    let types: serde_json::Map<String, Value> =
        (0..33).map(|one| (format!("t{one}"), json!(1))).collect();
    let answer = ask(&server, &json!({"Q": types})).await;
    assert!(answer.text().contains("`Q` names 33 resource types, but at most 32 are allowed"));
    let types: serde_json::Map<String, Value> =
        (0..17).map(|one| (format!("t{one}"), json!(1))).collect();
    let answer = ask(&server, &json!({"Q": types})).await;
    assert!(answer.text().contains("17 unknown resource types"));
    let answer = post(&format!("{{}}{}", " ".repeat(256 << 10))).await;
    assert_eq!(answer.status, 413, "{}", answer.text());
    assert!(answer.text().contains("larger than 262144 bytes"));
}
