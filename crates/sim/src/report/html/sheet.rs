//! A page of tables and plots that is not the report of one run: what it says is somebody else's.

use std::fmt::Write;

use super::lines::LinePlot;
use super::tables::Table;
use super::text::{escape, json_in_script};
use crate::report::Curves;

/// A page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// What kind of page it is, in a word.
    pub kind: String,
    /// What it is about.
    pub title: String,
    /// What is to be known first, in a sentence each.
    pub answer: Vec<String>,
    /// Names and values of what it was made from.
    pub facts: Vec<(String, String)>,
    /// What follows, in this order.
    pub parts: Vec<Part>,
    /// All of it for programs: JSON.
    pub data: String,
}

/// A part of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Rows of cells, the first of each its name.
    Rows(Rows),
    /// Curves over the time up to this moment, in ms.
    Curves(Curves, u64),
    /// Text as it is, such as what is wrong with a file.
    Text {
        /// What it is.
        title: String,
        /// Its lines.
        text: String,
    },
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Letters, digits and `-`, once on the page.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What to know of it.
    pub note: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, with as many cells.
    pub rows: Vec<Vec<String>>,
    /// Whether all columns but the first and the last are numbers.
    pub numbers: bool,
}

/// The page, which needs nothing else: no network, font or program.
pub fn page(sheet: &Sheet) -> String {
    let mut html = super::head(&sheet.title, &sheet.kind, include_str!("sheet.css"));
    let kind = escape(&sheet.kind);
    let title = escape(&sheet.title);
    let _ = write!(
        html,
        "<header><p class=\"kind\">Headroom {kind}</p><h1>{title}</h1>\n<div class=\"answer\">"
    );
    for line in &sheet.answer {
        let _ = write!(html, "<p>{}</p>", escape(line));
    }
    html.push_str("</div>\n<dl class=\"repeat\">");
    for (name, value) in &sheet.facts {
        let (name, value) = (escape(name), escape(value));
        let _ = write!(html, "<div><dt>{name}</dt><dd><code>{value}</code></dd></div>");
    }
    html.push_str("</dl>\n</header>\n");
    for (number, part) in sheet.parts.iter().enumerate() {
        html.push_str(&rendered(number, part));
    }
    let _ = write!(
        html,
        "</main>\n<script type=\"application/json\" id=\"summary\">{}</script>\n\
         <script>\n{}</script>\n</body></html>\n",
        json_in_script(&sheet.data),
        include_str!("script.js"),
    );
    html
}

fn rendered(number: usize, part: &Part) -> String {
    match part {
        Part::Rows(rows) => {
            let (title, note) = (escape(&rows.title), escape(&rows.note));
            let (columns, cells) = (rows.columns.clone(), rows.rows.clone());
            let table = Table { id: &rows.id, title: &title, note: &note, columns, rows: cells };
            let class = if rows.numbers { "numbers" } else { "words" };
            format!("<div class=\"{class}\">{}</div>\n", table.render())
        }
        Part::Curves(curves, end_ms) => LinePlot::of_curves(number, curves, *end_ms).render(),
        Part::Text { title, text } => format!(
            "<section><h2>{}</h2>\n<pre>{}</pre></section>\n",
            escape(title),
            text.lines().map(escape).collect::<Vec<_>>().join("\n"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_have_named_is_text_on_the_page() {
        let evil = "<script>alert(1)</script>".to_owned();
        let rows = Rows {
            id: "differences".to_owned(),
            title: evil.clone(),
            note: evil.clone(),
            columns: vec![evil.clone(), "after".to_owned()],
            rows: vec![vec![evil.clone(), evil.clone()]],
            numbers: false,
        };
        let curves = Curves {
            title: evil.clone(),
            quantity: evil.clone(),
            unit: "%".to_owned(),
            curves: vec![(evil.clone(), vec![(0, 1.0)])],
        };
        let sheet = Sheet {
            kind: "plan".to_owned(),
            title: evil.clone(),
            answer: vec![evil.clone()],
            facts: vec![("file".to_owned(), evil.clone())],
            parts: vec![
                Part::Rows(rows),
                Part::Curves(curves, 3_600_000),
                Part::Text { title: evil.clone(), text: evil.clone() },
            ],
            data: serde_json::to_string(&evil).unwrap(),
        };
        let html = page(&sheet);
        assert!(!html.contains("<script>alert"), "{html}");
        assert_eq!(
            html.matches("alert(1)").count(),
            html.matches("&lt;script&gt;alert(1)").count() + 1
        );
        for outside in ["href=\"http", "src=", "@import", "url("] {
            assert!(!html.contains(outside), "{outside}");
        }
    }
}
