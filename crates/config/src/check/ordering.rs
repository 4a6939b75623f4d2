//! Checks `orderingpolicy` of queues: whether the value is valid for the kind of queue, and whether properties
//! contradict the value. User headroom §4, §10 (C9, C10).

use crate::code::Code;
use crate::diagnostic::{Diagnostic, Report};
use crate::ordering::{OF_LEAVES, OF_PARENTS, Ordering, is_leaf};
use crate::raw::{Queue, Text};

/// Checks a queue.
pub(super) fn check(queue: &Queue, is_root: bool, report: &mut Report) {
    let Some(word) = &queue.ordering else { return };
    let is_leaf = is_leaf(queue, is_root);
    let Some(ordering) = Ordering::of(&word.value, is_leaf) else {
        return report.push(wrong_word(word, is_leaf));
    };
    let property = queue.properties.iter().find(|(key, _)| key.value == ordering.key);
    if let Some((key, value)) = property
        && !ordering.agrees_with(&value.value)
    {
        let message = format!(
            "`orderingpolicy` is `{}`, but the property `{}` is `{}`",
            word.value, key.value, value.value
        );
        let fault = Diagnostic::error(Code::OrderingProperty, word.span, message)
            .also(value.span, "the other order")
            .help("remove one of the two settings");
        report.push(fault);
    }
    if word.value == "fifo-with-partitions" {
        let message = "`fifo-with-partitions` means `fifo`, because every partition orders \
                       applications by age";
        let warning = Diagnostic::warning(Code::OrderingPartitions, word.span, message);
        report.push(warning.help("write `fifo`"));
    }
}

fn wrong_word(word: &Text, is_leaf: bool) -> Diagnostic {
    let (kind, words, others): (_, &[&str], &[&str]) = if is_leaf {
        ("a leaf", &OF_LEAVES, &OF_PARENTS)
    } else {
        ("a queue with queues below", &OF_PARENTS, &OF_LEAVES)
    };
    let expected = list(words);
    let message =
        format!("`orderingpolicy` of {kind} is `{}`, but it must be {expected}", word.value);
    let lower = word.value.to_lowercase();
    let help = if words.contains(&lower.as_str()) {
        format!("write {lower}")
    } else if others.contains(&word.value.as_str()) {
        let where_it_goes = if is_leaf { "a queue with queues below" } else { "each leaf below" };
        format!("move the key to {where_it_goes}, or remove the key")
    } else {
        "remove the key to use the default order".to_owned()
    };
    Diagnostic::error(Code::OrderingWord, word.span, message).help(help)
}

/// Returns a list such as `a, b or c`.
fn list(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.join(""),
    }
}
