//! The CSV files as a stranger reads them.

use std::collections::BTreeMap;

use super::Amounts;

pub(super) struct Job {
    pub(super) user: String,
    pub(super) group: String,
    pub(super) queue: String,
    pub(super) submit: u64,
    pub(super) start: Option<u64>,
    pub(super) end: Option<u64>,
    pub(super) wait: Option<u64>,
    pub(super) state: String,
    pub(super) asks: u64,
    pub(super) resources: Amounts,
}

pub(super) struct Allocation {
    pub(super) name: String,
    pub(super) job: String,
    pub(super) user: String,
    pub(super) group: String,
    pub(super) queue: String,
    pub(super) node: String,
    pub(super) start: u64,
    pub(super) end: Option<u64>,
    pub(super) resources: Amounts,
    pub(super) placeholder: bool,
    pub(super) ended_by: String,
}

pub(super) struct Node {
    pub(super) from: u64,
    pub(super) to: Option<u64>,
    pub(super) resources: Amounts,
}

/// The rows of a file, each by column name.
struct Row(BTreeMap<String, String>);

impl Row {
    fn text(&self, column: &str) -> String {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column}")).clone()
    }

    fn optional(&self, column: &str) -> Option<u64> {
        let text = self.text(column);
        (!text.is_empty()).then(|| text.parse().unwrap_or_else(|_| panic!("{column} is {text}")))
    }

    fn number(&self, column: &str) -> u64 {
        self.optional(column).unwrap_or_else(|| panic!("{column} is empty"))
    }

    fn amounts(&self, column: &str) -> Amounts {
        let text = self.text(column);
        let entries = text.split(';').filter(|entry| !entry.is_empty());
        entries
            .map(|entry| {
                let (name, amount) = entry.rsplit_once('=').unwrap();
                (name.to_owned(), amount.parse().unwrap())
            })
            .collect()
    }
}

fn rows(text: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().unwrap().clone();
    let named = |record: csv::StringRecord| {
        Row(columns.iter().map(str::to_owned).zip(record.iter().map(str::to_owned)).collect())
    };
    reader.records().map(|record| named(record.unwrap())).collect()
}

pub(super) fn jobs(text: &str) -> BTreeMap<String, Job> {
    let rows = rows(text);
    let count = rows.len();
    let jobs: BTreeMap<String, Job> = rows
        .into_iter()
        .map(|row| {
            let job = Job {
                user: row.text("user"),
                group: row.text("group"),
                queue: row.text("queue"),
                submit: row.number("submit_ms"),
                start: row.optional("start_ms"),
                end: row.optional("end_ms"),
                wait: row.optional("wait_ms"),
                state: row.text("state"),
                asks: row.number("asks"),
                resources: row.amounts("resources"),
            };
            (row.text("job"), job)
        })
        .collect();
    assert_eq!(jobs.len(), count, "a job stands twice in jobs.csv");
    jobs
}

pub(super) fn allocations(text: &str) -> Vec<Allocation> {
    rows(text)
        .into_iter()
        .map(|row| Allocation {
            name: row.text("allocation"),
            job: row.text("job"),
            user: row.text("user"),
            group: row.text("group"),
            queue: row.text("queue"),
            node: row.text("node"),
            start: row.number("start_ms"),
            end: row.optional("end_ms"),
            resources: row.amounts("resources"),
            placeholder: row.text("placeholder") == "true",
            ended_by: row.text("ended_by"),
        })
        .collect()
}

/// The spans of time in which each node was there.
pub(super) fn nodes(text: &str) -> BTreeMap<String, Vec<Node>> {
    let mut nodes: BTreeMap<String, Vec<Node>> = BTreeMap::new();
    for row in rows(text) {
        let node = Node {
            from: row.number("from_ms"),
            to: row.optional("to_ms"),
            resources: row.amounts("resources"),
        };
        let spans = nodes.entry(row.text("node")).or_default();
        let before = spans.last().map(|last| (last.to.unwrap_or(u64::MAX), &last.resources));
        assert!(
            before.is_none_or(|(to, size)| to <= node.from && *size == node.resources),
            "a node is there twice at once in nodes.csv, or has another size"
        );
        spans.push(node);
    }
    nodes
}
