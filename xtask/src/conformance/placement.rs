//! Judges where applications are placed.

use anyhow::{Context as _, Result};
use headroom_core::books::{Books, Queue};
use headroom_core::config::{ApplicationOrder, Properties};
use headroom_core::resource::Amounts;
use headroom_core::{ApplicationEvent, Command, Event, Name, Submit, Timestamp, decide};
use headroom_engine::users::Resolver;
use serde_json::{Map, Value, json};

use super::case::{bool_of, text_of};
use super::{Judge, Verdict, user};

/// An application is placed as the reference places it: accepted or not, its queue, its user
/// with groups, and the queues that are made, as REST shows them.
pub(super) struct Placement;

impl Judge for Placement {
    fn judge(&self, case: &Value) -> Result<Verdict> {
        let (expected, ours) = (recorded(case)?, outcome(case)?);
        if ours == expected {
            return Ok(Verdict::Equal);
        }
        let what = format!("ours is {ours}, recorded is {expected}");
        Ok(Verdict::Differs { step: 0, what })
    }
}

/// The part of a recorded answer that is compared.
fn recorded(case: &Value) -> Result<Value> {
    let mut expected = json!({ "accepted": bool_of(case, "accepted")?, "created": [] });
    for field in ["queue", "user", "groups", "created"] {
        if let Some(value) = case.get(field) {
            expected[field] = value.clone();
        }
    }
    Ok(expected)
}

/// What Headroom does with the application of a case.
fn outcome(case: &Value) -> Result<Value> {
    let refused = json!({ "accepted": false, "created": [] });
    let loaded = match headroom_config::read(text_of(case, "config")?) {
        Ok(loaded) => loaded,
        Err(faults) => {
            return Ok(json!({ "refused": faults.iter().next().map(|one| one.code.as_str()) }));
        }
    };
    let mut books = Books::default();
    carry_out(&mut books, &Command::Configure(Box::new(loaded.configuration)))?;
    let application = case.get("application").context("the field \"application\" must be there")?;
    let Some(submit) = submission(application) else {
        return Ok(refused);
    };
    let before = books.clone();
    let events = carry_out(&mut books, &Command::Submit(submit))?;
    let is_new = |(_, queue): &(_, &Queue)| before.queue_at(queue.partition, &queue.path).is_none();
    let mut queues: Vec<&Queue> =
        books.queues().iter().filter(is_new).map(|(_, queue)| queue).collect();
    queues.sort_by(|one, other| one.path.cmp(&other.path));
    let created: Vec<Value> = queues.into_iter().map(shown).collect();
    Ok(match events.last() {
        Some(Event::Application(ApplicationEvent::Added { queue, user, groups, .. })) => json!({
            "accepted": true,
            "queue": queue.as_str(),
            "user": user.as_str(),
            "groups": groups.iter().map(Name::as_str).collect::<Vec<_>>(),
            "created": created,
        }),
        _ => json!({ "accepted": false, "created": created }),
    })
}

fn carry_out(books: &mut Books, command: &Command) -> Result<Vec<Event>> {
    let now = Timestamp::ZERO;
    let events = decide(books, now, command)?;
    for event in &events {
        books.apply(now, event);
    }
    books.check()?;
    Ok(events)
}

/// The submission of a recorded request, users and groups resolved as where no resolver is
/// configured; none if the user is refused.
fn submission(application: &Value) -> Option<Submit> {
    let text = |field| application.get(field).and_then(Value::as_str).unwrap_or_default();
    let tags: Vec<(Name, Name)> = application
        .get("tags")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(key, value)| (Name::new(key), Name::new(value.as_str().unwrap_or_default())))
        .collect();
    let users = Resolver::default().cache(Timestamp::ZERO);
    let user = user::resolve(&users, Timestamp::ZERO, application, &tags)?;
    Some(Submit {
        partition: Name::new(text("partitionName")),
        application: Name::new(text("applicationID")),
        queue: Name::new(text("queueName")),
        user: user.name,
        groups: user.groups,
        tags,
        ..Submit::default()
    })
}

/// A queue as REST shows it, as far as it is recorded; empty fields are left out.
fn shown(queue: &Queue) -> Value {
    let settings = &queue.settings;
    let policy = match settings.values.application_order {
        ApplicationOrder::Fifo if queue.leaf => "fifo",
        _ => "fair",
    };
    let mut fields = Map::new();
    fields.insert("queuename".into(), queue.path.as_str().into());
    fields.insert("isLeaf".into(), queue.leaf.into());
    fields.insert("isManaged".into(), queue.managed.into());
    fields.insert("status".into(), queue.state.to_string().into());
    fields.insert("sortingPolicy".into(), policy.into());
    for (field, amounts) in
        [("maxResource", &settings.max), ("guaranteedResource", &settings.guaranteed)]
    {
        if let Some(amounts) = amounts {
            fields.insert(field.into(), resources(amounts));
        }
    }
    if settings.max_applications > 0 {
        fields.insert("maxRunningApps".into(), settings.max_applications.into());
    }
    if !settings.properties.is_empty() {
        fields.insert("properties".into(), properties(&settings.properties));
    }
    Value::Object(fields)
}

fn resources(amounts: &Amounts) -> Value {
    amounts.iter().map(|(name, amount)| (name.to_string(), Value::from(amount.get()))).collect()
}

fn properties(properties: &Properties) -> Value {
    properties.iter().map(|(key, value)| (key.to_string(), Value::from(value.as_str()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "{partitions: [{name: default, placementrules: [{name: user, create: true}], queues: [{name: root, submitacl: '*'}]}]}";

    fn case(user: &str, expected: &Value) -> Value {
        let application = json!({
            "applicationID": "app-1", "queueName": "", "partitionName": "default",
            "ugi": { "user": user },
        });
        let mut case = json!({ "config": CONFIG, "application": application });
        for (field, value) in expected.as_object().unwrap() {
            case[field] = value.clone();
        }
        case
    }

    #[test]
    fn everything_that_is_recorded_is_compared() {
        let queue = json!({
            "queuename": "root.bob", "isLeaf": true, "isManaged": false, "status": "Active",
            "sortingPolicy": "fifo",
        });
        let right = json!({
            "accepted": true, "queue": "root.bob", "user": "bob", "groups": ["bob"], "created": [queue],
        });
        assert_eq!(Placement.judge(&case("bob", &right)).unwrap(), Verdict::Equal);
        let no = json!({ "accepted": false, "created": [] });
        assert_eq!(Placement.judge(&case("", &no)).unwrap(), Verdict::Equal);
        for (field, wrong) in [
            ("accepted", json!(false)),
            ("queue", json!("root.default")),
            ("groups", json!([])),
            ("created", json!([])),
        ] {
            let mut expected = right.clone();
            expected[field] = wrong;
            let verdict = Placement.judge(&case("bob", &expected)).unwrap();
            assert!(matches!(verdict, Verdict::Differs { step: 0, .. }), "{field}");
        }
        let case = json!({ "config": "", "accepted": true });
        let missing = Placement.judge(&case).unwrap_err().to_string();
        assert_eq!(missing, "the field \"application\" must be there");
    }
}
