//! An explanation as text.

use std::fmt::Write;

use headroom_core::books::Books;
use headroom_core::explain::{Amount, Check, Explanation, explain};
use headroom_core::id::AllocationId;
use headroom_core::letter;
use headroom_core::testkit::{World, tell_world};

/// The ask or allocation of this key.
pub(crate) fn find(world: &World, key: &str) -> AllocationId {
    let mut all = world.books.allocations().iter();
    all.find(|(_, row)| row.key == key).map(|(id, _)| id).expect("there is one of this key")
}

/// The explanation of an ask after a story.
pub(crate) fn explained(script: &str, key: &str) -> String {
    let world = tell_world(script);
    let ask = find(&world, key);
    let explanation = explain(&world.books, &world.scheduler, ask).expect("it is there");
    shown(&world.books, &explanation)
}

/// The line, where it stands, and all checks; those that failed have a mark.
pub(crate) fn shown(books: &Books, explanation: &Explanation) -> String {
    let mut text = explanation.line(books);
    if let Some(place) = explanation.place {
        let (position, of, ahead) = (place.position, place.of, place.ahead_in_partition);
        write!(text, "\n{position} of {of}, {ahead} ahead").expect("text takes all");
    }
    if let Some(since) = explanation.since {
        write!(text, ", since {}", since.as_millis()).expect("text takes all");
    }
    text.push('\n');
    for check in &explanation.checks {
        text.push_str(&one(books, check));
    }
    text
}

fn one(books: &Books, check: &Check) -> String {
    let mark = if check.failed { "✗" } else { "·" };
    let code = check.code.as_str();
    let letter = letter(code).map_or_else(String::new, |letter| format!(" ({letter})"));
    let amounts: Vec<String> = check.amounts.iter().map(|one| amount(books, one)).collect();
    let mut text =
        format!("{mark} {code}{letter} {}: {}\n", check.blocker.subject(books), amounts.join(", "));
    for holder in &check.holders {
        let name = &books.application(holder.application).name;
        let used = books.types().amounts(&holder.used);
        writeln!(text, "    {name} has {used}").expect("text takes all");
    }
    if let Some(nodes) = &check.nodes {
        write!(text, "    {} of {} nodes fit", nodes.fitting, nodes.looked_at)
            .expect("text takes all");
        for (reason, count) in &nodes.refused {
            write!(text, ", {count} {}", reason.word()).expect("text takes all");
        }
        text.push('\n');
        for miss in &nodes.nearest {
            let lacks: Vec<String> = miss.lacks.iter().map(|one| amount(books, one)).collect();
            writeln!(text, "    {} lacks {}", books.node(miss.node).name, lacks.join(", "))
                .expect("text takes all");
        }
    }
    text
}

fn amount(books: &Books, one: &Amount) -> String {
    let name = one.resource.map_or("applications", |one| books.types().name(one).as_str());
    let short = one.short();
    format!("{name} {} + {} of {} ({short})", one.used, one.asked, one.limit)
}
