//! A page of tables and plots whose content the caller defines.

use maud::{Markup, html};

use super::lines::LinePlot;
use super::tables::Table;
use super::text::Text;
use crate::report::Curves;

/// A page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// Kind of the page, as a word.
    pub kind: String,
    /// Title of the page.
    pub title: String,
    /// Most important results, as sentences.
    pub answer: Vec<String>,
    /// Names and values of the inputs.
    pub facts: Vec<(String, String)>,
    /// Parts of the page, in order.
    pub parts: Vec<Part>,
    /// All data as JSON, for programs.
    pub data: String,
}

/// A part of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Rows of cells. The first cell of each is its name.
    Rows(Rows),
    /// Curves up to this time in ms.
    Curves(Curves, u64),
    /// Preformatted text, such as the findings on a file.
    Text {
        /// Title of the text.
        title: String,
        /// Lines of the text.
        text: String,
    },
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Element id of letters, digits, and `-`, which is unique on the page.
    pub id: String,
    /// Title of the table.
    pub title: String,
    /// Note on the table.
    pub note: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows, each with one cell per column.
    pub rows: Vec<Vec<String>>,
    /// Whether all columns except the first and the last are numbers.
    pub numbers: bool,
}

/// Returns the page. The page is self-contained: it needs no network, font, or program.
pub fn page(sheet: &Sheet) -> String {
    let Sheet { kind, title, answer, facts, parts, data } = sheet;
    let main = html! {
        header {
            p class="kind" { "Headroom " (Text(kind)) } h1 { (Text(title)) } "\n"
            div class="answer" { (super::paragraphs(answer)) } "\n"
            dl class="repeat" {
                @for (name, value) in facts {
                    div { dt { (Text(name)) } dd { code { (Text(value)) } } }
                }
            }
            "\n"
        }
        "\n"
        @for (number, part) in parts.iter().enumerate() { (rendered(number, part)) }
    };
    let scripts = html! { (super::data(data)) (super::read_out()) };
    super::whole((title, kind), include_str!("sheet.css"), &main, &scripts)
}

fn rendered(number: usize, part: &Part) -> Markup {
    match part {
        Part::Rows(Rows { id, title, note, columns, rows, numbers }) => {
            let (columns, rows) = (columns.clone(), rows.clone());
            let table = Table { id, title, note, columns, rows };
            let class = if *numbers { "numbers" } else { "words" };
            html! { div class=(class) { (table.render()) } "\n" }
        }
        Part::Curves(curves, end_ms) => LinePlot::of_curves(number, curves, *end_ms).render(),
        Part::Text { title, text } => html! {
            section {
                h2 { (Text(title)) } "\n"
                pre {
                    @for (number, line) in text.lines().enumerate() {
                        @if number > 0 { "\n" }
                        (Text(line))
                    }
                }
            }
            "\n"
        },
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
