//! A plan as an HTML page.

use anyhow::Result;
use headroom_api::headroomv1::{
    PlanAsk, PlanAskChange, PlanEffects, PlanEviction, PlanExcess, PlanMove,
};
use headroom_config::Style;
use headroom_sim::report::html::sheet::{Part, Rows, Sheet, page as sheet_page};

use super::Found;
use super::text::{self, amounts, shown};

/// Returns the page.
pub(super) fn page(found: &Found) -> Result<String> {
    let plan = &found.plan;
    let mut facts = vec![
        ("file".to_owned(), plan.file.clone()),
        ("checksum".to_owned(), plan.checksum.clone()),
        ("state".to_owned(), moment(found)),
    ];
    if let Some(effects) = &plan.effects {
        facts.push(("digest".to_owned(), effects.digest.clone()));
    }
    let mut parts: Vec<Part> = file(found).into_iter().collect();
    if let Some(effects) = &plan.effects {
        parts.extend(differences(effects));
        parts.extend(at_once(effects));
        parts.extend(settled(effects));
    }
    if let Some(times) = &found.times {
        parts.extend(times.parts());
    }
    let sheet = Sheet {
        kind: "plan".to_owned(),
        title: format!("What {} would change", plan.file),
        answer: answer(found),
        facts,
        parts,
        data: found.json()?,
    };
    Ok(sheet_page(&sheet))
}

fn moment(found: &Found) -> String {
    match (found.plan.sequence, &found.plan.as_of) {
        (sequence, Some(time)) => format!("record {sequence} of {time}"),
        (0, None) => "an empty cluster".to_owned(),
        (sequence, None) => format!("record {sequence}"),
    }
}

/// Returns the most important results as sentences.
fn answer(found: &Found) -> Vec<String> {
    let plan = &found.plan;
    let Some(effects) = &plan.effects else {
        let why = plan.refused.as_ref().map(|why| format!(": {}", why.message));
        return vec![format!("The file would be rejected{}.", why.unwrap_or_default())];
    };
    if !effects.changes {
        return vec!["Nothing changes: the file has the settings of the active file.".to_owned()];
    }
    let counts = [
        (effects.starts.total, "start"),
        (effects.held.total, "wait that would have started without the file"),
        (effects.impossible.total, "can never start"),
        (effects.withdrawn.total, "are withdrawn"),
    ];
    let some = counts.iter().filter(|(count, _)| *count > 0);
    let some: Vec<String> = some.map(|(count, what)| format!("{count} {what}")).collect();
    let asks = if some.is_empty() {
        "none starts or waits because of the file".to_owned()
    } else {
        some.join(", ")
    };
    vec![
        format!("{}.", text::settings(effects.differences.len())),
        format!("Asks: {asks}."),
        format!(
            "{} allocations must stop within an hour, and {} limits are exceeded.",
            effects.evictions.total,
            effects.excesses.len()
        ),
    ]
}

/// Returns the errors and warnings of the file.
fn file(found: &Found) -> Option<Part> {
    let mut text = String::new();
    if !found.review.diagnostics.is_empty() {
        text.push_str(&found.review.diagnostics.render(&found.plan.file, Style::Plain));
        text.push('\n');
    }
    text.push_str(&found.more_warnings().join("\n"));
    (!text.is_empty()).then(|| Part::Text { title: "The file".to_owned(), text })
}

fn table(id: &str, title: &str, note: &str, columns: &[&str], rows: Vec<Vec<String>>) -> Part {
    Part::Rows(Rows {
        id: id.to_owned(),
        title: title.to_owned(),
        note: note.to_owned(),
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        rows,
        numbers: false,
    })
}

fn differences(effects: &PlanEffects) -> Option<Part> {
    let rows = effects.differences.iter().map(|one| {
        vec![
            one.queue.clone().unwrap_or_else(|| format!("partition {}", one.partition)),
            one.key.clone(),
            shown(one.before.as_ref()),
            shown(one.after.as_ref()),
        ]
    });
    let rows: Vec<_> = rows.collect();
    let mut note = "Differences in comments, order, or notation do not count.".to_owned();
    if let Some(more) = text::of_templates(effects) {
        note = format!("{note} {more}");
    }
    let columns = ["queue", "setting", "active file", "new file"];
    (!rows.is_empty()).then(|| table("differences", "Settings that change", &note, &columns, rows))
}

/// Returns the total, and how many entries are listed if the list is incomplete.
fn note(total: u64, named: usize) -> String {
    let named = u64::try_from(named).unwrap_or(u64::MAX);
    if total > named {
        format!("The first {named} of {total}.")
    } else {
        format!("{total} in total.")
    }
}

fn at_once(effects: &PlanEffects) -> Vec<Part> {
    const ASK: [&str; 4] = ["ask", "queue", "user", "amount"];
    const WAIT: [&str; 5] = ["ask", "queue", "user", "amount", "why"];
    let mut parts = Vec::new();
    let mut add = |id: &str, title: &str, columns: &[&str], total: u64, rows: Vec<Vec<String>>| {
        if total > 0 {
            let note = note(total, rows.len());
            parts.push(table(id, title, &note, columns, rows));
        }
    };
    let all = &effects.excesses;
    let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
    let columns = ["who", "at queue", "uses", "limit", "excess"];
    add("excesses", "Above a new limit", &columns, total, all.iter().map(excess).collect());
    for (id, title, list) in [
        ("starts", "Asks that start", &effects.starts),
        ("withdrawn", "Asks that are withdrawn", &effects.withdrawn),
        ("released", "Allocations that are released", &effects.released),
        ("dropped", "Asks that lose their reservation", &effects.reservations_dropped),
    ] {
        add(id, title, &ASK, list.total, list.first.iter().map(|one| ask(one).to_vec()).collect());
    }
    for (id, title, list) in [
        ("held", "Asks that wait, but would have started without the file", &effects.held),
        ("otherwise", "Asks that wait for another reason", &effects.waits_otherwise),
        ("impossible", "Asks that can never start", &effects.impossible),
    ] {
        add(id, title, &WAIT, list.total, list.first.iter().map(change).collect());
    }
    let list = &effects.placed_otherwise;
    let columns = ["application", "user", "queue", "new queue", "why"];
    let title = "Applications that would be in another queue";
    add("moved", title, &columns, list.total, list.first.iter().map(moved).collect());
    let list = &effects.evictions;
    let columns = ["allocation", "queue", "user", "amount", "for", "after"];
    let title = "Allocations that must stop";
    add("evictions", title, &columns, list.total, list.first.iter().map(eviction).collect());
    parts
}

fn ask(one: &PlanAsk) -> [String; 4] {
    [one.name(), one.queue.clone(), one.user.clone(), amounts(&one.resources)]
}

fn change(one: &PlanAskChange) -> Vec<String> {
    let mut cells = ask(&one.ask).to_vec();
    cells.push(one.after.as_ref().map(|why| why.message.clone()).unwrap_or_default());
    cells
}

fn excess(one: &PlanExcess) -> Vec<String> {
    let who = match &one.tenant {
        Some(tenant) => format!("{} {} of tenant {tenant}", one.holder, one.name),
        None => format!("{} {}", one.holder, one.name),
    };
    let [used, limit, excess] = text::excess(one);
    vec![who, one.queue.clone(), used, limit, excess]
}

fn moved(one: &PlanMove) -> Vec<String> {
    vec![
        one.application.clone(),
        one.user.clone(),
        one.before.clone(),
        one.after.clone().unwrap_or_else(|| "nowhere".to_owned()),
        one.why.clone().unwrap_or_default(),
    ]
}

fn eviction(one: &PlanEviction) -> Vec<String> {
    let mut cells = ask(&one.victim).to_vec();
    cells.push(match (&one.for_ask, &one.for_maximum_of) {
        (Some(other), _) => format!("{} in {}", other.name(), other.queue),
        (None, queue) => format!("the maximum of {}", queue.as_deref().unwrap_or_default()),
    });
    cells.push(format!("{} s", one.after_ms.div_ceil(1_000)));
    cells
}

fn settled(effects: &PlanEffects) -> Vec<Part> {
    let settled = &effects.settled;
    let queues = settled.queues.iter().map(|one| {
        let [used, uses] = one.used.each_ref().map(amounts);
        let [waited, waits] = one.pending.each_ref().map(amounts);
        vec![one.queue.clone(), used, uses, waited, waits]
    });
    let users = settled.users.iter().map(|one| {
        let [used, uses] = one.used.each_ref().map(amounts);
        vec![one.user.clone(), used, uses]
    });
    let (queues, users): (Vec<_>, Vec<_>) = (queues.collect(), users.collect());
    let note = if effects.at_rest {
        "When nothing more changes."
    } else {
        "At the end of the prediction. More changes follow."
    };
    let mut parts = Vec::new();
    if !queues.is_empty() {
        let columns = ["queue", "uses now", "uses then", "waits for now", "waits for then"];
        parts.push(table("queues", "Queues after settling", note, &columns, queues));
    }
    if !users.is_empty() {
        let even = |thousandths: u64| format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
        let note = match settled.evenness {
            [Some(before), Some(after)] => format!(
                "Fairness between users (Jain\u{2019}s index, 1 is even): {} now, {} then.",
                even(before),
                even(after)
            ),
            _ => String::new(),
        };
        let columns = ["user", "uses now", "uses then"];
        parts.push(table("users", "Users after settling", &note, &columns, users));
    }
    parts
}
