//! Notes on properties: nothing is dropped silently, and every reason is true.

use headroom_config::yarn::{Converted, Note, Source, convert};
use headroom_core::userlimit::Formula;

use crate::{converted, faults, read};

const PREFIX: &str = "yarn.scheduler.capacity.";
const PREEMPTION: &str = "yarn.resourcemanager.monitor.capacity.preemption.";

/// Returns the notes on a property, without its name.
pub(crate) fn of(converted: &Converted, name: &str) -> Vec<String> {
    let name = match name.strip_prefix('.') {
        Some(full) => full.to_owned(),
        None => format!("{PREFIX}{name}"),
    };
    let words = |note: &Note| {
        let Note { kind, why, help, .. } = note;
        let help = if help.is_empty() { String::new() } else { format!("; {help}") };
        format!("{}: {why}{help}", kind.words())
    };
    converted.notes.iter().filter(|note| note.property == name).map(words).collect()
}

/// Returns the notes on one property in a file with a few queues.
fn told(property: (&str, &str)) -> Vec<String> {
    let queues = [("root.queues", "etl,adhoc"), ("root.etl.queues", "hourly")];
    of(&converted(&[&queues[..], &[property]].concat()), property.0)
}

/// The order of each queue that has one, by its name.
fn orders(properties: &[(&str, &str)]) -> Vec<(String, String)> {
    let queues = [("root.queues", "a,b"), ("root.a.queues", "x"), ("root.b.queues", "y")];
    let text = converted(&[&queues[..], properties].concat()).text;
    let mut name = "";
    let mut orders = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(found) = line.strip_prefix("- name: ") {
            name = found;
        } else if let Some(order) = line.strip_prefix("orderingpolicy: ") {
            orders.push((name.to_owned(), order.to_owned()));
        }
    }
    orders
}

#[test]
fn the_order_of_queues_is_written_at_each_queue_that_says_it_and_at_root() {
    for (properties, expected) in [
        // YARN's default is not ours.
        (&[][..], &[("root", "utilization")][..]),
        (&[("root.ordering-policy", "utilization")], &[("root", "utilization")]),
        (
            &[
                ("root.ordering-policy", "priority-utilization"),
                ("root.a.ordering-policy", "utilization"),
            ],
            &[("root", "priority-utilization"), ("a", "utilization")],
        ),
        (
            &[("root.b.ordering-policy", "priority-utilization")],
            &[("root", "utilization"), ("b", "priority-utilization")],
        ),
        (&[("root.ordering-policy", "com.example.Best")], &[("root", "utilization")]),
    ] {
        let pairs = |(name, order): &(&str, &str)| ((*name).to_owned(), (*order).to_owned());
        let expected: Vec<(String, String)> = expected.iter().map(pairs).collect();
        assert_eq!(orders(properties), expected, "{properties:?}");
    }
    let class = ("root.etl.ordering-policy", "com.example.Best");
    assert_eq!(
        told(class),
        ["not converted: queues can be ordered only by usage relative to the guarantee, or by \
             priority first; set `orderingpolicy` to `utilization` or `priority-utilization`"]
    );
}

#[test]
fn made_queues_keep_the_priorities_of_their_applications() {
    let properties =
        [("root.queues", "users"), ("root.users.auto-queue-creation-v2.enabled", "true")];
    let enabled = "properties: {application.sort.priority: enabled}";
    assert!(converted(&properties).text.contains(enabled));
    let by_priority = [("root.ordering-policy", "priority-utilization")];
    let text = converted(&[&properties[..], &by_priority].concat()).text;
    assert!(!text.contains("application.sort.priority"), "{text}");
}

#[test]
fn a_name_that_nobody_knows_is_unknown_and_a_near_one_is_named() {
    const QUEUE: &str = "unknown: a queue has no property with this name";
    const CLUSTER: &str = "unknown: CapacityScheduler has no property with this name";
    let compare = "compare the name with the user guide of Hadoop";
    for (name, why, help) in [
        ("root.etl.acl_submit_application", QUEUE, "root.etl.acl_submit_applications"),
        ("root.adhoc.acl_administer_queues", QUEUE, "root.adhoc.acl_administer_queue"),
        ("root.adhoc.acl_submit_reservation", QUEUE, "root.adhoc.acl_submit_reservations"),
        ("root.adhoc.reservation-polcy", QUEUE, "root.adhoc.reservation-policy"),
        ("root.adhoc.Maximum-Capacity", QUEUE, "root.adhoc.maximum-capacity"),
        ("root.adhoc.acl_of_something", QUEUE, ""),
        ("root.adhoc.reservation-of-rooms", QUEUE, ""),
        ("maximum-aplications", CLUSTER, "maximum-applications"),
        ("per-node-heartbeat.maximum-assignments", CLUSTER, ""),
        ("schedule-asynchronously.enabled", CLUSTER, "schedule-asynchronously.enable"),
        ("adhoc.capacity", CLUSTER, "root.adhoc.capacity"),
    ] {
        let help = match help {
            "" if why == QUEUE => format!("{compare}, and with `queues`"),
            "" => compare.to_owned(),
            meant => format!("did you mean {PREFIX}{meant}?"),
        };
        assert_eq!(told((name, "1")), [format!("{why}; {help}")], "{name}");
    }
    assert_eq!(
        told(("root.elt.capacity", "10")),
        [format!(
            "{QUEUE}, and no child queue has the name `elt`; did you mean \
             {PREFIX}root.etl.capacity?"
        )]
    );
    assert_eq!(
        told(("root.hourly.capacity", "10")),
        [format!(
            "{QUEUE}, and no child queue has the name `hourly`; did you mean \
             {PREFIX}root.etl.hourly.capacity?"
        )]
    );
    for (name, help) in [
        (
            ".yarn.schedular.capacity.root.etl.capacity",
            "correct the name, which must begin with yarn.scheduler.capacity., and convert again",
        ),
        (
            ".yarn.scheduler.minimum-alocation-mb",
            "did you mean yarn.scheduler.minimum-allocation-mb?",
        ),
        (
            ".yarn.resourcemanager.monitor.capacity.preemption.observe-only",
            "did you mean yarn.resourcemanager.monitor.capacity.preemption.observe_only?",
        ),
    ] {
        assert_eq!(told((name, "1")), [format!("{CLUSTER}; {help}")], "{name}");
    }
}

#[test]
fn what_is_said_of_labels_and_templates_is_known_by_name_too() {
    let labels = "root.adhoc.accessible-node-labels.gpu";
    let name = format!("{labels}.capcity");
    let expected = format!(
        "unknown: labels have no property with this name; did you mean {PREFIX}{labels}.capacity?"
    );
    assert_eq!(told((&name, "1")), [expected]);
    let drivers = format!("{labels}.maximum-am-resource-percent");
    assert_eq!(
        told((&drivers, "0.5")),
        ["not converted: the percentage of the queue applies to the nodes of every label"]
    );
    let queue = [("root.queues", "users"), ("root.users.auto-queue-creation-v2.enabled", "true")];
    let v2 = "root.users.auto-queue-creation-v2.";
    for (name, expected) in [
        (
            "max-queue",
            format!(
                "unknown: a queue has no property with this name, and no child queue has the name \
                 `auto-queue-creation-v2`; did you mean {PREFIX}{v2}max-queues?"
            ),
        ),
        (
            "template.capcity",
            format!(
                "unknown: a queue has no property with this name; did you mean \
                 {PREFIX}{v2}template.capacity?"
            ),
        ),
        (
            "template.state",
            "not converted: a template has no key for this property; add queues with this setting \
             to the file"
                .to_owned(),
        ),
        (
            "parent-template.capacity",
            "not converted: a template applies only to leaves; define the parent queues in the queue \
             file, and set the property there"
                .to_owned(),
        ),
        (
            "parent-template.capcity",
            format!(
                "unknown: a queue has no property with this name; did you mean \
                 {PREFIX}{v2}parent-template.capacity?"
            ),
        ),
    ] {
        let name = format!("{v2}{name}");
        let found = converted(&[&queue[..], &[(&name, "1w")]].concat());
        assert_eq!(of(&found, &name), [expected.as_str()], "{name}");
        // Where nothing is made, known ones say nothing, and others are as unknown as ever.
        let off = converted(&[queue[0], (&name, "1w")]);
        let is_unknown = expected.starts_with("unknown");
        let told = of(&off, &name);
        let without = format!("without effect: {}enabled is not true", &v2["root.users.".len()..]);
        assert_eq!(told.len(), 1, "{name}");
        assert_eq!(told[0] == without, !is_unknown, "{name}: {told:?}");
        assert_eq!(told[0].starts_with("unknown"), is_unknown, "{name}: {told:?}");
    }
    let deep = "root.users.*.auto-queue-creation-v2.template.maximum-capacity";
    let found = converted(&[&queue[..], &[(deep, "80")]].concat());
    assert_eq!(of(&found, deep).len(), 1);
    assert!(of(&found, deep)[0].starts_with("not converted: a path with * applies to queues"));
}

#[test]
fn of_preemption_from_user_to_user_it_is_told_what_there_is() {
    let switch = "set `intraqueueenabled` in `preemption` of the partition to enable preemption \
                  between users, and `intraqueuedisabled` in `preemption` of a queue to disable it";
    for (name, value, why) in [
        (
            "minimum-threshold",
            "0.7",
            "users of a leaf preempt each other if the leaf uses half of its guarantee, and no key \
             changes this threshold",
        ),
        (
            "max-allowable-limit",
            "0.4",
            "at most a fifth of the guarantee of a leaf moves between users at a time, and no key \
             changes this limit",
        ),
        (
            "preemption-order-policy",
            "priority_first",
            "preemption stops work of users above their share for users below their share, at the \
             same or a lower priority; no key changes this order",
        ),
        (
            "conservative-drf",
            "true",
            "preemption leaves the user of each victim at least their share plus one `minimumallocation`",
        ),
    ] {
        let name = format!(".{PREEMPTION}intra-queue-preemption.{name}");
        assert_eq!(told((&name, value)), [format!("not converted: {why}; {switch}")]);
    }
    let enabled = format!(".{PREEMPTION}intra-queue-preemption.enabled");
    let text = converted(&[("root.queues", "a"), (&enabled, "true")]).text;
    assert!(text.contains("intraqueueenabled: true"), "{text}");
    let wrong = told((&enabled, "yes"));
    assert_eq!(
        wrong,
        ["changed: the value is neither true nor false, and is read as false; set true or false"]
    );
}

#[test]
fn preemption_is_on_where_the_monitors_have_it() {
    let monitor = ".yarn.resourcemanager.scheduler.monitor.enable";
    let policies = ".yarn.resourcemanager.scheduler.monitor.policies";
    let (preempts, other) =
        ("org.x.ProportionalCapacityPreemptionPolicy", "org.x.QueueConfigurationAutoRefreshPolicy");
    let both = format!("{other},{preempts}");
    for (switch, monitors, expected) in [
        ("true", "", true),
        ("true", preempts, true),
        ("true", both.as_str(), true),
        ("true", other, false),
        ("false", preempts, false),
    ] {
        let mut properties = vec![("root.queues", "a"), (monitor, switch)];
        if !monitors.is_empty() {
            properties.push((policies, monitors));
        }
        let converted = converted(&properties);
        let line = format!("preemption: {{enabled: {expected}}}");
        assert!(converted.text.contains(&line), "{switch} {monitors}: {}", converted.text);
        assert_eq!(of(&converted, policies).len(), usize::from(!monitors.is_empty()));
    }
}

/// Returns the notes on a file with their lines, without those on properties that the file lacks.
fn lines(text: &str) -> Vec<String> {
    let converted = read(text).expect("the file is a configuration");
    assert_eq!(faults(&converted.text), Vec::<String>::new(), "{}", converted.text);
    let told = converted.notes.iter().filter_map(|note| {
        let place = note.place.as_ref()?;
        Some(format!("{}: {note}", place.line))
    });
    told.filter(|line| !line.contains("`Queue`")).collect()
}

#[test]
fn of_two_properties_with_one_name_the_last_counts_unless_the_first_is_final() {
    let text = "<configuration>\n\
        <property><name>yarn.scheduler.capacity.root.queues</name><value>a,b</value></property>\n\
        <property><name>yarn.scheduler.capacity.root.a.capacity</name><value>10</value></property>\n\
        <property><name>yarn.scheduler.capacity.root.a.capacity</name><value>40</value><final>true</final></property>\n\
        <property><name>yarn.scheduler.capacity.root.a.capacity</name><value>70</value></property>\n\
        <property><name>yarn.scheduler.capacity.root.b.capacity</name><value>60</value></property>\n\
        </configuration>";
    assert_eq!(
        lines(text),
        [
            "3: without effect: yarn.scheduler.capacity.root.a.capacity = 10: x.xml:4 sets the \
             property again, and the last value applies; remove one of the two properties",
            "5: without effect: yarn.scheduler.capacity.root.a.capacity = 70: x.xml:4 sets the \
             property as final, so that value applies; remove one of the two properties",
        ]
    );
    let text = read(text).unwrap().text;
    assert!(text.contains("{mode: percent, value: 40}"), "{text}");
    // From file to file, too.
    let file = |value: &str| {
        format!(
            "<configuration><property name='{PREFIX}root.queues' value='{value}'/></configuration>"
        )
    };
    let (first, second) = (file("a"), file("a,b"));
    let files =
        [Source { name: "one.xml", text: &first }, Source { name: "two.xml", text: &second }];
    let found = convert(&files, Formula::Yarn3).unwrap();
    assert_eq!(
        of(&found, "root.queues"),
        ["without effect: two.xml:1 sets the property again, and the last value applies; remove \
             one of the two properties"]
    );
    assert!(found.text.contains("name: b"), "{}", found.text);
}

#[test]
fn what_hadoop_passes_over_is_told_with_its_line() {
    let text = "<configuration>\n\
        <property><name>yarn.scheduler.capacity.root.queues</name><value>a,b</value></property>\n\
        <proprety>\n<name>yarn.scheduler.capacity.root.a.capacity</name>\n<value>40</value>\n</proprety>\n\
        <property>\n<nam>yarn.scheduler.capacity.root.b.capacity</nam>\n<value>60</value>\n</property>\n\
        <property><name>yarn.scheduler.capacity.root.a.state</name><vlaue>STOPPED</vlaue></property>\n\
        <property><name>yarn.scheduler.capacity.root.acl_submit_applications</name><value></value></property>\n\
        yarn.scheduler.capacity.root.b.state STOPPED\n\
        <description>ours</description>\n\
        <properties>\n<property name='yarn.scheduler.capacity.root.b.capacity' value='100'/>\n</properties>\n\
        <property>\n<name>yarn.scheduler.capacity.root.a.capacity</name><value>0</value><note>none</note>\n</property>\n\
        </configuration>";
    let by = "so Hadoop ignores it";
    let (a, capacity) =
        ("yarn.scheduler.capacity.root.a", "yarn.scheduler.capacity.root.b.capacity");
    let mut expected =
        vec![
        format!("7: unknown: <property> = 60: the property has no name, {by}; write <name> instead \
                 of <nam>"),
        format!("3: unknown: <proprety> = {a}.capacity 40: `configuration` has no element with \
                 this name, {by}; did you mean <property>?"),
        format!("8: unknown: <nam> = {capacity}: `property` has no element with this name, {by}; \
                 did you mean <name>?"),
        format!("11: without effect: {a}.state: the property has no value, {by}; write <value> \
                 instead of <vlaue>"),
        format!("11: unknown: <vlaue> = STOPPED: `property` has no element with this name, {by}; \
                 did you mean <value>?"),
        format!("12: without effect: {PREFIX}root.acl_submit_applications: the property has no \
                 value, {by}; write a value between <value> and </value>; a single blank is a \
                 value"),
        "13: unknown: text = yarn.scheduler.capacity.root.b.state STOPPED: Hadoop ignores text \
         directly inside `configuration`; write a `property` with `name` and `value`, or change \
         the text to a comment".to_owned(),
        format!("14: unknown: <description> = ours: `configuration` has no element with this name, \
                 {by}; remove the element"),
        format!("15: unknown: <properties>: `configuration` has no element with this name, {by}, \
                 but not the properties inside; remove the element"),
        format!("19: unknown: <note> = none: `property` has no element with this name, {by}; \
                 remove the element"),
    ];
    let mut found = lines(text);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    let text = read(text).unwrap().text;
    // As there: an empty value says nothing, and everybody may submit.
    assert!(text.contains("submitacl: \"*\"") && text.contains("value: 100"), "{text}");
    // Many pieces are counted.
    let many = format!(
        "<configuration><property name='{PREFIX}root.queues' value='a'/>{}</configuration>",
        "<x/>".repeat(100_000)
    );
    let notes = read(&many).unwrap().notes;
    assert!(notes.len() < 300, "{}", notes.len());
    assert!(
        notes
            .iter()
            .any(|note| note.why == "from this line on, Hadoop ignores 99800 more elements")
    );
}
