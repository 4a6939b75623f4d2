//! Names from the fields of a job: `u{user}`, `root.team{row%10}.jobs`.

use std::fmt;
use std::str::FromStr;

/// A template for names from a job of the source: text with fields in braces.
///
/// ```
/// use headroom_sim::workload::Template;
/// let users: Template = "u{row%40}".parse()?;
/// assert_eq!(users.to_string(), "u{row%40}");
/// # Ok::<(), headroom_sim::workload::TemplateError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Field(Field),
}

/// Field of a job in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    User,
    Group,
    Queue,
    Partition,
    Job,
    Qos,
    Account,
    /// Position among the jobs of the source, from 0. With a number, the position modulo this number.
    Row(Option<u64>),
}

/// Reason why a text is not a valid template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The field in braces does not exist.
    #[error(
        "the template {template:?} has the field {field:?}, which does not exist. Use {{user}}, \
         {{group}}, {{queue}}, {{partition}}, {{job}}, {{qos}}, {{account}}, {{row}}, or {{row%N}} \
         with N of at least 1"
    )]
    Field {
        /// Text of the template.
        template: String,
        /// Text in the braces.
        field: String,
    },
    /// The template has `{` without `}`, or the other way round.
    #[error("the template {template:?} has an unmatched {brace:?}. Add or remove a brace")]
    Brace {
        /// Text of the template.
        template: String,
        /// The unmatched brace.
        brace: char,
    },
    /// A tag has no key or no value.
    #[error("{found:?} is not a tag; expected KEY=TEMPLATE, such as namespace={{group}}")]
    Tag {
        /// Text of the tag.
        found: String,
    },
    /// The template is empty.
    #[error("the template is empty; expected text with fields, such as u{{user}}")]
    Empty,
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(template: &str) -> Result<Self, TemplateError> {
        if template.is_empty() {
            return Err(TemplateError::Empty);
        }
        let brace = |brace| TemplateError::Brace { template: template.to_owned(), brace };
        let mut pieces = Vec::new();
        let mut rest = template;
        while !rest.is_empty() {
            let (text, field) =
                rest.split_once('{').map_or((rest, None), |(text, rest)| (text, Some(rest)));
            if text.contains('}') {
                return Err(brace('}'));
            }
            if !text.is_empty() {
                pieces.push(Piece::Text(text.to_owned()));
            }
            let Some(field) = field else { break };
            let (field, behind) = field.split_once('}').ok_or_else(|| brace('{'))?;
            let known = field_of(field).ok_or_else(|| TemplateError::Field {
                template: template.to_owned(),
                field: field.to_owned(),
            })?;
            pieces.push(Piece::Field(known));
            rest = behind;
        }
        Ok(Self(pieces))
    }
}

/// A tag of every job: its key, and a template of its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagTemplate {
    /// Key of the tag.
    pub key: String,
    /// Template of the value.
    pub value: Template,
}

impl FromStr for TagTemplate {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok(Self { key: key.trim().to_owned(), value: value.parse()? })
            }
            _ => Err(TemplateError::Tag { found: text.to_owned() }),
        }
    }
}

fn field_of(text: &str) -> Option<Field> {
    Some(match text.to_ascii_lowercase().as_str() {
        "user" | "username" => Field::User,
        "group" | "groupname" => Field::Group,
        "queue" => Field::Queue,
        "partition" => Field::Partition,
        "job" | "jobid" | "job_id" | "id" | "name" => Field::Job,
        "qos" => Field::Qos,
        "account" | "project" => Field::Account,
        "row" => Field::Row(None),
        _ => {
            let modulus = text.strip_prefix("row%")?;
            let digits = modulus.bytes().all(|byte| byte.is_ascii_digit());
            Field::Row(Some(modulus.parse().ok().filter(|n| digits && *n > 0)?))
        }
    })
}

impl Template {
    /// Returns the name for a job. `value` returns the fields of the job. `None` if the job lacks a field.
    pub(super) fn fill<'a>(
        &self,
        row: u64,
        value: impl Fn(Field) -> Option<&'a str>,
    ) -> Option<String> {
        let mut name = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => name.push_str(text),
                Piece::Field(Field::Row(modulus)) => {
                    let row = modulus.map_or(row, |modulus| row % modulus);
                    name.push_str(&row.to_string());
                }
                Piece::Field(field) => name.push_str(value(*field)?),
            }
        }
        Some(name)
    }
}

impl fmt::Display for Template {
    /// Writes the template in its original notation.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            let field = match piece {
                Piece::Text(text) => {
                    out.write_str(text)?;
                    continue;
                }
                Piece::Field(Field::Row(Some(modulus))) => {
                    write!(out, "{{row%{modulus}}}")?;
                    continue;
                }
                Piece::Field(Field::Row(None)) => "row",
                Piece::Field(Field::User) => "user",
                Piece::Field(Field::Group) => "group",
                Piece::Field(Field::Queue) => "queue",
                Piece::Field(Field::Partition) => "partition",
                Piece::Field(Field::Job) => "job",
                Piece::Field(Field::Qos) => "qos",
                Piece::Field(Field::Account) => "account",
            };
            write!(out, "{{{field}}}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn fields_are_filled_in_and_a_missing_one_gives_no_name() {
        for (template, expected) in [
            ("all", Some("all")),
            ("u{user}", Some("u7")),
            ("{group}.{user}-{row}", Some("g.7-83")),
            ("u{row%40}", Some("u3")),
            ("{queue}", None),
        ] {
            let parsed: Template = template.parse().unwrap();
            let name = parsed.fill(83, |field| match field {
                Field::User => Some("7"),
                Field::Group => Some("g"),
                _ => None,
            });
            assert_eq!(name.as_deref(), expected, "{template}");
            assert_eq!(parsed.to_string(), template);
        }
    }

    #[test]
    fn a_wrong_template_is_reported_with_its_correction() {
        let texts: Vec<String> =
            ["", "u{usr}", "{row%0}", "{row%+3}", "{row%x}", "{}", "a{user", "a}b"]
                .into_iter()
                .map(|template| template.parse::<Template>().unwrap_err().to_string())
                .collect();
        expect![[r#"
            the template is empty; expected text with fields, such as u{user}
            the template "u{usr}" has the field "usr", which does not exist. Use {user}, {group}, {queue}, {partition}, {job}, {qos}, {account}, {row}, or {row%N} with N of at least 1
            the template "{row%0}" has the field "row%0", which does not exist. Use {user}, {group}, {queue}, {partition}, {job}, {qos}, {account}, {row}, or {row%N} with N of at least 1
            the template "{row%+3}" has the field "row%+3", which does not exist. Use {user}, {group}, {queue}, {partition}, {job}, {qos}, {account}, {row}, or {row%N} with N of at least 1
            the template "{row%x}" has the field "row%x", which does not exist. Use {user}, {group}, {queue}, {partition}, {job}, {qos}, {account}, {row}, or {row%N} with N of at least 1
            the template "{}" has the field "", which does not exist. Use {user}, {group}, {queue}, {partition}, {job}, {qos}, {account}, {row}, or {row%N} with N of at least 1
            the template "a{user" has an unmatched '{'. Add or remove a brace
            the template "a}b" has an unmatched '}'. Add or remove a brace"#]].assert_eq(&texts.join("\n"));
    }
}
