//! Lines about a resource manager and its verdicts on nodes.

use alloc::vec::Vec;

use crate::books::{Away, NodeVerdict, Questions};
use crate::command::{Command, Verdicts};
use crate::name::Name;
use crate::time::Timestamp;

use super::Words;

/// Reads `questions on`, `answer`, `void n1`, `manager-away yunikorn 1000`, or `manager-back`. The number is the time
/// of its last contact, in milliseconds.
pub(super) fn command(
    partition: Name,
    verb: &str,
    words: &mut Words<'_>,
    open: impl Fn(&str) -> Option<u64>,
) -> Command {
    match verb {
        "questions" => Command::SetQuestions { partition, questions: questions(words) },
        "answer" => answer(partition, words, open),
        "void" => Command::VoidVerdicts { partition, node: words.name("a node id") },
        "manager-back" => Command::SetManagerAway { partition, away: None },
        "manager-away" => {
            let manager = words.name("the name of a resource manager");
            let since = words.next("milliseconds").parse().expect("milliseconds");
            let away = Away { manager, since: Timestamp::from_millis(since) };
            Command::SetManagerAway { partition, away: Some(away) }
        }
        _ => panic!("nobody understands `{}`", words.line),
    }
}

/// Reads `on victims at-once 2`, or `off`.
fn questions(words: &mut Words<'_>) -> Option<Questions> {
    let on = words.next("on or off") == "on";
    let victims = words.take("victims");
    let at_once = if words.take("at-once") {
        words.next("a number").parse().expect("a number above 0")
    } else {
        Questions::AT_ONCE
    };
    on.then_some(Questions { victims, at_once })
}

/// Reads `answer a1 n1=ok n2=taint n3=2 question 3`: the answer to the open question, unless the line names another. On
/// n3, two victims must be stopped.
fn answer(partition: Name, words: &mut Words<'_>, open: impl Fn(&str) -> Option<u64>) -> Command {
    let key = words.name("an allocation key");
    let (mut question, mut verdicts) = (open(&key).unwrap_or_default(), Vec::new());
    while let Some(word) = words.optional() {
        if word == "question" {
            let number = words.next("a number").parse();
            question = number.expect("questions are numbered");
            continue;
        }
        let (node, text) = word.split_once('=').expect("a verdict is node=ok or node=reason");
        let verdict = match (text, text.parse()) {
            ("ok", _) => NodeVerdict::Suits,
            (_, Ok(count)) => NodeVerdict::SuitsWithout(count),
            (reason, Err(_)) => NodeVerdict::Refused(Name::new(reason)),
        };
        verdicts.push((Name::new(node), verdict));
    }
    Command::Verdicts(Verdicts { partition, key, question, verdicts })
}
