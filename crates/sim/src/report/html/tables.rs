//! Tables of users, groups, and queues. On a phone, each row becomes a card.

use maud::{Markup, html};

use super::text::Text;
use crate::metric::{QueueSummary, Scope, Summary, TypeSummary};
use crate::report::{pretty, table};

/// Number of rows that are initially visible. A reader can expand the remaining rows.
const ROWS_OPEN: usize = 25;

/// Maximum number of rows in the page. All rows are in the embedded JSON.
const ROWS_MAX: usize = 500;

/// Maximum number of types with a column of resource-hours, because more would make the table too wide.
const TYPES_MAX: usize = 3;

/// Returns a table of users, sorted by total wait, with the longest first.
pub(super) fn users(summary: &Summary) -> Markup {
    people(summary, "users", "Users", "user", &summary.users)
}

/// Returns the groups in the same order. Empty if no job has a group.
pub(super) fn groups(summary: &Summary) -> Markup {
    if summary.groups.is_empty() {
        return Markup::default();
    }
    people(summary, "groups", "Groups", "group", &summary.groups)
}

fn people(summary: &Summary, id: &str, title: &str, kind: &str, scopes: &[Scope]) -> Markup {
    let mut rows: Vec<&Scope> = scopes.iter().collect();
    let waited = |one: &Scope| one.waits.total_ms.saturating_add(one.still_waiting.total_ms);
    rows.sort_by_key(|one| std::cmp::Reverse(waited(one)));
    let table = Table {
        id,
        title,
        note: "The waits are those of started jobs. The user with the longest total wait is first.",
        columns: columns(summary, kind, TYPES_MAX, &[]),
        rows: rows.iter().map(|one| cells(summary, one, TYPES_MAX, Vec::new())).collect(),
    };
    table.render()
}

/// Returns the queues in the order of the file. A queue includes its descendants.
pub(super) fn queues(summary: &Summary) -> Markup {
    let shown = |one: &&QueueSummary| one.scope.jobs.total > 0 || one.guarantee.is_some();
    let row = |one: &QueueSummary| {
        let guarantee = one.guarantee.as_ref().map_or_else(
            || "–".to_owned(),
            |given| {
                let (used, of) = (given.used_percent, given.percent);
                format!("{used:.1} / {of:.1}\u{a0}% of {}", given.resource)
            },
        );
        cells(summary, &one.scope, 1, vec![guarantee])
    };
    let table = Table {
        id: "queues",
        title: "Queues",
        note: "A queue includes the queues below it. Guarantees and their mean use are in \
               percent of the cluster.",
        columns: columns(summary, "queue", 1, &["used / guaranteed"]),
        rows: summary.queues.iter().filter(shown).map(row).collect(),
    };
    table.render()
}

fn columns(summary: &Summary, kind: &str, types: usize, more: &[&str]) -> Vec<String> {
    let mut columns = vec![kind.to_owned()];
    columns.extend(["jobs", "not started", "mean wait", "p95 wait", "longest"].map(str::to_owned));
    let hours = shown_types(summary, types).map(|(name, unit)| match unit {
        "cores" => "core-hours".to_owned(),
        "GiB" => "GiB-hours".to_owned(),
        _ => format!("{name} hours"),
    });
    columns.extend(hours);
    columns.extend(more.iter().map(|one| (*one).to_owned()));
    columns.push("main wait reason".to_owned());
    columns
}

fn cells(summary: &Summary, scope: &Scope, types: usize, more: Vec<String>) -> Vec<String> {
    let started = scope.waits.jobs > 0;
    let wait = |ms: u64| {
        if started { pretty::duration(ms) } else { "–".to_owned() }
    };
    let jobs = &scope.jobs;
    let never = jobs.waiting + jobs.impossible + jobs.rejected;
    let mut cells = vec![scope.name.clone(), pretty::count(jobs.total), pretty::count(never)];
    let waits = &scope.waits;
    cells.extend([waits.mean_ms, waits.p95_ms, waits.max_ms].map(wait));
    let hours = shown_types(summary, types).map(|(name, _)| scope.resource_hours.get(name));
    cells.extend(hours.map(|hours| pretty::number(hours.copied().unwrap_or(0.0))));
    cells.extend(more);
    cells.push(table::short_reason(summary, scope).unwrap_or_else(|| "–".to_owned()));
    cells
}

/// Returns names and units of the `count` types with the highest usage.
fn shown_types(summary: &Summary, count: usize) -> impl Iterator<Item = (&str, &str)> {
    let of_cluster = summary.types.iter().filter(|one| one.capacity_hours > 0.0);
    let mut types: Vec<&TypeSummary> = of_cluster.collect();
    types.sort_by(|left, right| right.used_percent.total_cmp(&left.used_percent));
    let names = types.into_iter().take(count);
    names.map(|one| (one.name.as_str(), one.unit.as_str()))
}

/// A table of text cells. The first and the last column contain words, and all other columns contain numbers.
pub(super) struct Table<'a> {
    pub(super) id: &'a str,
    pub(super) title: &'a str,
    pub(super) note: &'a str,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table<'_> {
    pub(super) fn render(&self) -> Markup {
        let (id, title, note) = (self.id, self.title, self.note);
        let open = self.rows.len().min(ROWS_OPEN);
        let last = self.rows.len().min(ROWS_MAX);
        html! {
            section id=(id) aria-labelledby={ (id) "-title" } {
                h2 id={ (id) "-title" } { (Text(title)) } "\n"
                p class="quiet" { (Text(note)) } "\n"
                (self.part(&self.rows[..open]))
                @if last > open {
                    details {
                        summary { (last - open) " more" }
                        (self.part(&self.rows[open..last]))
                    }
                    "\n"
                }
                @if self.rows.len() > last {
                    p { (self.rows.len() - last) " more are in the JSON data of this report." } "\n"
                }
            }
            "\n"
        }
    }

    fn part(&self, rows: &[Vec<String>]) -> Markup {
        let class = |column: usize| {
            let is_number = column > 0 && column + 1 < self.columns.len();
            is_number.then_some("number")
        };
        html! {
            div class="scroll" {
                table {
                    thead {
                        tr {
                            @for (column, name) in self.columns.iter().enumerate() {
                                th scope="col" class=[class(column)] { (Text(name)) }
                            }
                        }
                    }
                    tbody {
                        "\n"
                        @for row in rows {
                            tr {
                                @for (column, (name, cell)) in self.columns.iter().zip(row).enumerate() {
                                    @if column == 0 {
                                        th scope="row" { (Text(cell)) }
                                    } @else {
                                        td class=[class(column)] data-label=(Text(name)) { (Text(cell)) }
                                    }
                                }
                            }
                            "\n"
                        }
                    }
                }
            }
            "\n"
        }
    }
}
