//! Malicious files: faults are reported with their lines, and the work is bounded.

use std::fs;
use std::path::Path;
use std::time::Instant;

use headroom_config::yarn::{ConvertError, YARN_BYTES_MAX};

use crate::{read, xml};

/// What is never closed.
const BRACKETS: &str = "brackets";

/// Why a text cannot be converted.
fn refused(text: &str) -> String {
    words(&read(text).expect_err("the text cannot be converted"))
}

/// An error with its causes.
fn words(error: &ConvertError) -> String {
    let mut error: &dyn std::error::Error = error;
    let mut words = error.to_string();
    while let Some(cause) = error.source() {
        words.push_str(": ");
        words.push_str(&cause.to_string());
        error = cause;
    }
    words
}

#[test]
fn what_is_no_configuration_is_told_with_its_line() {
    let deep = format!("<configuration>{}", "<a>".repeat(40));
    for (text, expected) in [
        ("", "line 1: the file has no element `configuration`"),
        ("partitions:\n", "line 2: there is text outside of the element `configuration`"),
        ("<configuration>\n<property>\n", "line 3: the file ends inside the element `property`"),
        ("<configuration>\n</property>", "line 2: "),
        (
            "<html/>",
            "line 1: the element `html` is at the top level, where exactly one `configuration` is \
             expected",
        ),
        (
            "<configuration/>\n<configuration/>",
            "line 2: the element `configuration` is at the top level, where exactly one \
             `configuration` is expected",
        ),
        (
            "<!DOCTYPE x [<!ENTITY a 'b'>]>\n<configuration/>",
            "line 1: the file declares a document type",
        ),
        (
            "<configuration>\n&a;</configuration>",
            "line 2: the entity `&a;` is not declared. Replace the entity with its value",
        ),
        ("<configuration>&#xD800;</configuration>", "line 1: "),
        (
            "<configuration>\n<xi:include href='a'/></configuration>",
            "line 2: the file includes another file",
        ),
        (deep.as_str(), "line 1: elements nest deeper than 32 levels"),
    ] {
        let expected = format!("cannot convert x.xml: {expected}");
        let found = refused(text);
        assert!(
            found.starts_with(&expected),
            "{text:?}: {found:?} does not begin with {expected:?}"
        );
    }
    assert_eq!(read("<configuration/>"), Err(ConvertError::NoQueues));
    let found = refused(&"<".repeat(YARN_BYTES_MAX + 1));
    assert!(found.contains("but a file to convert can have at most 8388608"), "{found}");
}

#[test]
fn queues_nest_to_a_bound() {
    let chain = |levels: usize| {
        let mut path = String::from("root");
        let mut properties = Vec::new();
        for _ in 0..levels {
            properties.push((format!("{path}.queues"), "q".to_owned()));
            path += ".q";
        }
        let properties: Vec<(&str, &str)> =
            properties.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        read(&xml(&properties))
    };
    assert!(chain(64).is_ok());
    assert!(matches!(chain(65), Err(ConvertError::TooDeep { .. })));
}

#[test]
fn nothing_costs_more_than_its_bytes() {
    let many = |count: usize, one: &dyn Fn(usize) -> String| {
        (0..count).map(one).collect::<Vec<_>>().concat()
    };
    let names = many(40_000, &|number| format!("é{number:x},"));
    let mappings = many(40_000, &|number| format!("u:u{number}:é{number:x},"));
    let users = many(60_000, &|number| {
        let name = format!("yarn.scheduler.capacity.root.a.user-settings.u{number}.weight");
        format!("<property name='{name}' value='1'/>")
    });
    let attributes = many(200_000, &|number| format!(" a{number}=''"));
    let doubling: Vec<(String, String)> = (0..40)
        .map(|level| (format!(".v{level}"), format!("${{v{0}}}${{v{0}}}", level + 1)))
        .collect();
    let mut doubling: Vec<(&str, &str)> =
        doubling.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    doubling.push(("root.queues", "${v0}"));
    let head = "<configuration><property name='yarn.scheduler.capacity.root.queues' value='a'/>";
    for (what, text) in [
        ("queues with one name", xml(&[("root.queues", &names), ("queue-mappings", &mappings)])),
        ("users", format!("{head}{users}</configuration>")),
        ("attributes", format!("{head}<property{attributes}/></configuration>")),
        ("dots", xml(&[("root.queues", "a"), (&format!("root{}", ".a".repeat(500_000)), "1")])),
        ("variables", xml(&doubling)),
        (BRACKETS, format!("{head}{}", "<a".repeat(1_000_000))),
    ] {
        let begin = Instant::now();
        let found = read(&text).map(drop).map_err(|error| words(&error));
        // Far above what it takes; what grows with a square takes minutes.
        assert!(begin.elapsed().as_secs() < 20, "{what} took {:?}", begin.elapsed());
        let unclosed = "cannot convert x.xml: line 1: syntax error: tag not closed: `>` not found \
                        before end of input";
        let expected = if what == BRACKETS { Err(unclosed.to_owned()) } else { Ok(()) };
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn the_corpus_of_the_fuzzer_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/yarn_configuration");
    let mut files = 0;
    for file in fs::read_dir(&folder).expect("the corpus is there") {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        headroom_config::exercise_yarn(&bytes);
        files += 1;
    }
    assert!(files > 15, "{files} files");
}

#[test]
fn every_damage_of_a_file_is_told_or_harmless() {
    let whole = include_bytes!("capacity-scheduler.xml");
    // Cut off at, without, and with another byte at places all over the file.
    for step in 0..400 {
        let at = step * whole.len() / 400;
        headroom_config::exercise_yarn(&whole[..at]);
        let mut changed = whole.to_vec();
        changed.remove(at);
        headroom_config::exercise_yarn(&changed);
        changed.insert(at, b"<>&${}[],.\"\n\xff"[step % 13]);
        headroom_config::exercise_yarn(&changed);
    }
}
