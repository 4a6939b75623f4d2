//! A response as rows and in full, printed as a table, JSON, YAML, or CSV.

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;
use serde_json::Value;

use crate::output;

/// Output format of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Table for people
    #[default]
    Table,
    /// All fields, as the server sends them
    Json,
    /// All fields, as YAML
    Yaml,
    /// Rows of the table, for spreadsheets
    Csv,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Listing {
    columns: &'static [&'static str],
    /// Columns with numbers, which are aligned to the right.
    numbers: &'static [&'static str],
    /// Lines above the table, only for people.
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
    full: Value,
}

impl Listing {
    /// Returns a listing without rows. `full` is the whole response.
    ///
    /// # Errors
    /// When the response cannot be written as JSON.
    pub(crate) fn new(columns: &'static [&'static str], full: &impl Serialize) -> Result<Self> {
        let full = serde_json::to_value(full).context("the response is not JSON")?;
        Ok(Self { columns, numbers: &[], headings: Vec::new(), rows: Vec::new(), full })
    }

    /// Sets the columns that contain numbers.
    pub(crate) fn numbers(mut self, numbers: &'static [&'static str]) -> Self {
        self.numbers = numbers;
        self
    }

    /// Adds a line above the table. With such a line, a table without rows is omitted.
    pub(crate) fn heading(&mut self, line: String) {
        self.headings.push(line);
    }

    /// Adds a row, with a cell for each column.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.columns.len(), "a cell for each column");
        self.rows.push(cells.into());
    }

    /// Returns the text of the listing, with a line break at its end.
    ///
    /// # Errors
    /// When a value cannot be written in this format.
    pub(crate) fn render(&self, format: Format) -> Result<String> {
        Ok(match format {
            Format::Table => self.headed(),
            Format::Json => format!("{:#}\n", self.full),
            Format::Yaml => serde_saphyr::to_string(&self.full)
                .context("the response cannot be written as YAML")?,
            Format::Csv => self.csv()?,
        })
    }

    fn headed(&self) -> String {
        let mut lines: Vec<String> = self.headings.iter().map(|line| printable(line)).collect();
        if lines.is_empty() || !self.rows.is_empty() {
            lines.push(self.table());
        }
        format!("{}\n", lines.join("\n"))
    }

    fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.columns);
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| printable(cell)));
        }
        for (index, name) in self.columns.iter().enumerate() {
            if let Some(column) = table.column_mut(index) {
                column.set_padding((0, 2));
                if self.numbers.contains(name) {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        table.trim_fmt()
    }

    fn csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.columns.iter().map(|name| name.to_lowercase()))?;
        for row in &self.rows {
            writer.write_record(row.iter().map(|cell| cell.trim_start()))?;
        }
        let bytes = writer.into_inner().context("the response cannot be written as CSV")?;
        String::from_utf8(bytes).context("the response cannot be written as CSV")
    }
}

/// Replaces control characters, because names from other users could otherwise control the terminal.
fn printable(text: &str) -> String {
    text.chars().map(output::printable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing() -> Listing {
        let full = serde_json::json!([{"name": "a"}, {"name": "b"}]);
        let mut listing =
            Listing::new(&["NAME", "COUNT"], &full).expect("JSON").numbers(&["COUNT"]);
        listing.row(["a".to_owned(), "1".to_owned()]);
        listing.row(["  b,\u{1b}[31m".to_owned(), "100".to_owned()]);
        listing
    }

    #[test]
    fn headings_are_for_people_and_stand_for_a_table_without_rows() {
        let mut headed = listing();
        headed.heading("two \u{1b}of them".to_owned());
        let shown = headed.render(Format::Table).expect("it can be written");
        assert!(shown.starts_with("two \u{fffd}of them\nNAME "), "{shown}");
        for format in [Format::Json, Format::Yaml, Format::Csv] {
            assert_eq!(headed.render(format).unwrap(), listing().render(format).unwrap());
        }
        headed.rows.clear();
        assert_eq!(headed.render(Format::Table).unwrap(), "two \u{fffd}of them\n");
    }

    #[test]
    fn every_format_has_everything() {
        let rendered = |format| listing().render(format).expect("it can be written");
        expect_test::expect![[r"
            NAME       COUNT
            a              1
              b,�[31m    100
        "]]
        .assert_eq(&rendered(Format::Table));
        expect_test::expect![[r#"
            name,count
            a,1
            "b,[31m",100
        "#]]
        .assert_eq(&rendered(Format::Csv).replace('\u{1b}', ""));
        assert_eq!(rendered(Format::Yaml), "- name: a\n- name: b\n");
        assert_eq!(
            serde_json::from_str::<Value>(&rendered(Format::Json)).expect("JSON"),
            listing().full
        );
    }
}
