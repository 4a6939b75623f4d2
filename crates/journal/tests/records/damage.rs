//! Bytes that are no record, or one of another version: an error that names what is wrong.

use headroom_journal::proto::{self, command, event};
use headroom_journal::{DecodeError, FORMAT, LEVELS_MAX, Record, What, exercise};
use prost::Message as _;

use crate::samples;

fn refusal(message: &proto::Record) -> String {
    Record::decode(&message.encode_to_vec()).expect_err("it must be refused").to_string()
}

fn sample(name: &str) -> proto::Record {
    let (_, record) = samples::samples().into_iter().find(|(one, _)| one == name).unwrap();
    record.to_message()
}

#[test]
fn a_newer_format_is_refused_by_name_even_where_it_cannot_be_read() {
    let mut message = sample("event-placed");
    message.format = FORMAT + 1;
    let expected = format!(
        "the record has format {}, but this version reads formats up to {FORMAT}. Use the version \
         that wrote the record",
        FORMAT + 1
    );
    assert_eq!(refusal(&message), expected);
    let mut bytes = message.encode_to_vec();
    // A field of a wire type that there is none of.
    bytes.extend([0xff, 0x07]);
    assert_eq!(Record::decode(&bytes).unwrap_err().to_string(), expected);
    message.format = 0;
    assert_eq!(refusal(&message), "the field format of the record is not a version of the format");
}

#[test]
fn what_no_field_takes_is_not_passed_over() {
    let mut bytes = sample("event-placed").encode_to_vec();
    let length = bytes.len();
    bytes.extend([0x78, 0x01]); // Field 15 of the record.
    let expected = DecodeError::Surplus { found: length + 2, understood: length };
    assert_eq!(Record::decode(&bytes), Err(expected));
}

#[test]
fn the_field_that_is_wrong_is_named() {
    let mut placed = sample("event-placed");
    let Some(event::Kind::Placed(inner)) = &mut placed.events[0].kind else { panic!() };
    inner.node = None;
    assert_eq!(refusal(&placed), "the field events[0].placed.node of the record is missing");

    let mut moved = sample("event-application-moved");
    let Some(event::Kind::ApplicationMoved(inner)) = &mut moved.events[0].kind else { panic!() };
    inner.state = 99;
    let expected =
        "the field events[0].application_moved.state of the record has the unknown value 99";
    assert_eq!(refusal(&moved), expected);

    let mut ask = sample("command-ask");
    let Some(command::Kind::Ask(inner)) = &mut ask.command.as_mut().unwrap().kind else { panic!() };
    inner.resources[1].quantity = i64::MIN;
    let field = "the field command.ask.resources[1].quantity of the record";
    let expected = format!("{field} has the amount {}, which is below the minimum", i64::MIN);
    assert_eq!(refusal(&ask), expected);
    let Some(command::Kind::Ask(inner)) = &mut ask.command.as_mut().unwrap().kind else { panic!() };
    inner.resources.swap(0, 2);
    let expected = "the field command.ask.resources[1] of the record is not in ascending order";
    assert_eq!(refusal(&ask), expected);

    let mut queue = sample("event-queue-added");
    for text in ["2.50", "-1", ""] {
        let Some(event::Kind::QueueAdded(inner)) = &mut queue.events[0].kind else { panic!() };
        let limits = inner.settings.as_mut().unwrap().user_limits.as_mut().unwrap();
        limits.floor = Some(text.into());
        let expected = "the field events[0].queue_added.settings.user_limits.floor of the record is not a decimal from 0 to 1000000 with up to six fraction digits, in its shortest form";
        assert_eq!(refusal(&queue), expected);
    }

    let mut queue = sample("event-queue-added");
    let Some(event::Kind::QueueAdded(inner)) = &mut queue.events[0].kind else { panic!() };
    let limits = inner.settings.as_mut().unwrap().application_limits.as_mut().unwrap();
    let field = "the field events[0].queue_added.settings.application_limits";
    limits.driver = Some("1e-1".into());
    assert!(refusal(&queue).starts_with(&format!("{field}.driver of the record is not a decimal")));
    let Some(event::Kind::QueueAdded(inner)) = &mut queue.events[0].kind else { panic!() };
    let limits = inner.settings.as_mut().unwrap().application_limits.as_mut().unwrap();
    limits.max_parallel_by_user.swap(0, 1);
    let expected =
        format!("{field}.max_parallel_by_user[1] of the record is not in ascending order");
    assert_eq!(refusal(&queue), expected);

    let mut queue = sample("event-queue-added");
    let Some(event::Kind::QueueAdded(inner)) = &mut queue.events[0].kind else { panic!() };
    let capacity = inner.settings.as_mut().unwrap().capacity.as_mut().unwrap();
    capacity.maximum = Some("x".into());
    let field = "the field events[0].queue_added.settings.capacity";
    assert!(
        refusal(&queue).starts_with(&format!("{field}.maximum of the record is not a decimal"))
    );
    let Some(event::Kind::QueueAdded(inner)) = &mut queue.events[0].kind else { panic!() };
    inner.settings.as_mut().unwrap().capacity.as_mut().unwrap().share = None;
    assert_eq!(refusal(&queue), format!("{field}.share of the record is missing"));

    let mut unknown = sample("event-placed");
    unknown.events[0].kind = None;
    assert_eq!(refusal(&unknown), "the field events[0] of the record has an unknown kind");
}

#[test]
fn a_tree_of_queues_is_whole_or_refused() {
    let change = |change: &dyn Fn(&mut Vec<proto::QueueConfig>)| {
        let mut message = sample("command-configure");
        let kind = &mut message.command.as_mut().unwrap().kind;
        let Some(command::Kind::Configure(inner)) = kind else { panic!() };
        change(&mut inner.partitions[0].queues);
        refusal(&message)
    };
    let field = "the field command.configure.partitions[0].queues";
    let second = change(&|queues| queues[1].depth = 0);
    assert_eq!(second, format!("{field}[1].depth of the record fits under no parent queue"));
    let gap = change(&|queues| queues[1].depth = 2);
    assert_eq!(gap, format!("{field}[1].depth of the record fits under no parent queue"));
    assert_eq!(change(&Vec::clear), format!("{field} of the record is missing"));
    let deep = change(&|queues| queues[1].depth = 1_025);
    let levels = "is 1025 levels deep, but at most 1024 are allowed";
    assert_eq!(deep, format!("{field}[1].depth of the record {levels}"));
}

#[test]
fn what_is_written_can_be_read_however_deep() {
    use headroom_core::config::QueueConfig;
    use headroom_core::{Command, testkit};
    let (_, mut record) = samples::samples().remove(0);
    for (levels, fits) in [(LEVELS_MAX, true), (LEVELS_MAX + 1, false)] {
        let leaf = QueueConfig { name: "q".into(), ..QueueConfig::default() };
        let root = (0..levels)
            .fold(leaf.clone(), |below, _| QueueConfig { children: vec![below], ..leaf.clone() });
        let configuration = testkit::partition(root);
        record.command = Some(Command::Configure(Box::new(configuration)));
        match record.encode() {
            Ok(bytes) => assert_eq!((fits, Record::decode(&bytes).as_ref()), (true, Ok(&record))),
            Err(error) => {
                assert_eq!(
                    (fits, error),
                    (false, headroom_journal::Unwritable::TooDeep { levels })
                );
            }
        }
    }
}

#[test]
fn no_bytes_make_it_panic() {
    let mut chance = 1_u64;
    let mut next = || {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(chance >> 33).unwrap()
    };
    for (_, record) in samples::samples() {
        let good = record.encode().unwrap();
        assert!(exercise(&good));
        for length in 0..good.len() {
            assert!(!exercise(&good[..length]) || length > 0);
        }
        for _ in 0..4 * good.len() {
            let mut bytes = good.clone();
            for _ in 0..=next() % 3 {
                let at = next() % bytes.len();
                match next() % 4 {
                    0 => bytes[at] ^= 1 << (next() % 8),
                    1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][next() % 5],
                    2 => bytes.insert(at, next().to_le_bytes()[0]),
                    _ => drop(bytes.remove(at)),
                }
            }
            exercise(&bytes);
        }
    }
    assert_eq!(Record::decode(&[]).unwrap_err().to_string(), {
        let what = What::NoFormat;
        format!("the field format of the record {what}")
    });
}

#[test]
fn the_corpus_of_the_fuzzer_holds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/journal_record");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        exercise(&std::fs::read(entry.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files > 0, "{folder} is empty");
}
