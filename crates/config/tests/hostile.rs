//! Files that mean harm: each ends in a clear error, in bounded time and memory.

use std::fmt::Write as _;

use headroom_config::{DEPTH_MAX, DIAGNOSTICS_MAX, FILE_BYTES_MAX, Style, read, read_file};

/// The first complaint about a text.
fn complaint(text: &str) -> String {
    let faults = read(text).expect_err("the file must be refused");
    let first = faults.iter().next().expect("a refusal has a reason");
    format!("{}: {}", first.code, first.message)
}

#[test]
fn aliases_that_multiply_are_stopped() {
    let mut text = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for (one, other) in "abcdefgh".chars().zip("bcdefghi".chars()) {
        writeln!(text, "{other}: &{other} [*{one},*{one},*{one},*{one},*{one},*{one},*{one}]")
            .unwrap();
    }
    assert_eq!(complaint(&text), "YAML: aliases repeat more values than the limit of 200000");
}

#[test]
fn an_alias_of_itself_is_stopped() {
    let expected = "YAML: an alias refers to a value that contains the alias";
    assert_eq!(complaint("partitions: &a [*a]\n"), expected);
}

#[test]
fn deep_nesting_is_stopped_whatever_it_is_made_of() {
    let expected = format!("YAML: lists and mappings nest deeper than {DEPTH_MAX} levels");
    assert_eq!(complaint(&"- ".repeat(10_000)), expected);
    for opening in ["[", "{a: "] {
        let text = complaint(&opening.repeat(100_000));
        assert!(text.starts_with("YAML: "), "{text}");
    }
}

#[test]
fn a_tree_as_deep_as_allowed_is_read() {
    let levels = DEPTH_MAX / 2 - 2;
    let mut text = "partitions:\n- queues:\n  - name: root\n".to_owned();
    for level in 0..levels - 1 {
        let indent = " ".repeat(2 * level + 4);
        write!(text, "{indent}queues:\n{indent}- name: q\n").unwrap();
    }
    let loaded = read(&text).map_err(|faults| faults.to_string()).unwrap();
    let mut queue = &loaded.configuration.partitions[0].root;
    let mut depth = 0;
    while let Some(child) = queue.children.first() {
        queue = child;
        depth += 1;
    }
    assert_eq!(depth, levels - 1);
}

#[test]
fn a_file_that_is_too_large_is_not_looked_at() {
    let text = complaint(&" ".repeat(FILE_BYTES_MAX + 1));
    assert!(text.contains("8388609 bytes"), "{text}");
    let many = format!("partitions: [{}]", "{},".repeat(600_000));
    assert_eq!(complaint(&many), "YAML: the file has more than 500000 values");
}

#[test]
fn of_very_many_faults_the_first_are_shown_and_the_others_counted() {
    let queues = "{name: '!'},".repeat(1_000);
    let faults = read(&format!("partitions: [{{queues: [{queues}]}}]")).unwrap_err();
    assert_eq!(faults.iter().len(), DIAGNOSTICS_MAX);
    assert_eq!(faults.suppressed().errors, 1_000 - DIAGNOSTICS_MAX);
    assert!(faults.to_string().ends_with("and 900 more"));
}

#[test]
fn places_that_are_far_apart_are_told_by_line() {
    let filler = "# nothing\n".repeat(10_000);
    let text = format!("partitions:\n- name: a\n{filler}  queues: []\n- {{name: A, queues: []}}\n");
    let shown = read(&text).unwrap_err().render("far", Style::Plain);
    assert!(shown.contains("first entry: line 2"), "{shown}");
    let long = format!("partitions: [{{queues: [{}]}}]", "{name: '!'},".repeat(20_000));
    let shown = read(&long).unwrap_err().render("long", Style::Plain);
    assert!(shown.contains("--> long:1:31\n"), "{}", &shown[..300]);
}

/// One text for each number, with commas between.
fn many(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().join(", ")
}

#[test]
fn many_types_and_many_queues_do_not_multiply() {
    let types = many(20_000, |number| format!("t{number}: 5"));
    let limits = format!("[{{users: [ann], maxresources: {{{types}}}}}]");
    let own = "resources: {max: {t1: 1}}, limits: [{users: [ann], maxresources: {t1: 1}}]";
    let queues = many(15_000, |number| format!("{{name: n{number}, {own}}}"));
    let parent = format!(
        "{{name: p, resources: {{max: {{{types}}}}}, limits: {limits}, queues: [{queues}]}}"
    );
    let text = format!("partitions: [{{queues: [{parent}]}}]");
    let loaded = read(&text).map_err(|faults| faults.to_string()).unwrap();
    let root = &loaded.configuration.partitions[0].root;
    assert_eq!(root.children[0].children.len(), 15_000);
}

#[test]
fn many_types_and_many_names_do_not_multiply() {
    let names = many(60_000, |number| format!("n{number}"));
    for amount in [5, 6] {
        let limits = |amount: i64| {
            let types = many(60_000, |number| format!("t{number}: {amount}"));
            format!("limits: [{{users: [{names}], maxresources: {{{types}}}}}]")
        };
        let (above, below) = (limits(5), limits(amount));
        let parent = format!("{{name: p, {above}, queues: [{{name: a, {below}}}]}}");
        let text = format!("partitions: [{{queues: [{parent}]}}]");
        if amount == 5 {
            read(&text).map_err(|faults| faults.to_string()).unwrap();
        } else {
            let expected =
                "user `n0` has a limit of 6 t0 in queue `a`, but a queue above allows 5 t0";
            assert_eq!(complaint(&text), format!("L-RES>ANC: {expected}"));
        }
    }
}

#[test]
fn broken_text_of_any_kind_never_panics() {
    let good = include_str!("queues.yaml");
    let pieces = [
        "\t", "é", "&a ", "*a", "<<: ", "!x ", "'", "\"", "{", "]", "\u{feff}", "- ", "|", ": ",
        "\r", "%",
    ];
    // How many were accepted and refused.
    let mut counts = [0, 0];
    let mut judge = |text: &str, style| match read(text) {
        Ok(_) => counts[0] += 1,
        Err(faults) => {
            counts[1] += 1;
            let first = faults.iter().next().expect("a refusal has a reason");
            let (shown, code) = (faults.render("x.yaml", style), format!("[{}]", first.code));
            assert!(shown.contains(&code) && shown.contains("x.yaml:"), "{text}\n{shown}");
        }
    };
    for (start, _) in good.char_indices() {
        // Cut off, and with a stray piece in the middle.
        judge(&good[..start], Style::Plain);
        let piece = pieces[start % pieces.len()];
        judge(&format!("{}{piece}{}", &good[..start], &good[start..]), Style::Coloured);
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?} were accepted and refused");
}

#[test]
fn a_file_on_disk_that_cannot_be_read_is_named() {
    let folder = std::env::temp_dir().join(format!("headroom-config-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("queues.yaml");
    let message = |path| match read_file(path) {
        Ok(_) => "read".to_owned(),
        Err(error) => error.to_string(),
    };
    let shown = path.display().to_string();
    assert_eq!(message(&path), format!("cannot read the queue file {shown}"));
    std::fs::write(&path, [b'a', b':', b' ', 0xff]).unwrap();
    let expected = format!("{shown}:1: byte 4 is not valid UTF-8; expected text in UTF-8");
    assert_eq!(message(&path), expected);
    std::fs::write(&path, "").unwrap();
    assert!(read_file(&path).unwrap().is_empty());
    std::fs::write(&path, "partitions: 5").unwrap();
    assert!(message(&path).contains("`partitions` must be a list"));
    std::fs::remove_dir_all(&folder).unwrap();
}
