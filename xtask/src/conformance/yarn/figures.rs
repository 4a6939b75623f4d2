//! Our figures beside the recorded ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::Result;
use serde_json::Value;

use super::size::Size;

/// How many figures of each field were compared, and which differ.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) compared: BTreeMap<&'static str, u64>,
    pub(super) differences: Vec<Difference>,
}

/// One figure that is not the recorded one.
#[derive(Debug)]
pub(super) struct Difference {
    /// Which queue, user or application.
    pub(super) subject: String,
    pub(super) field: &'static str,
    ours: String,
    recorded: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, field, ours, recorded } = self;
        write!(f, "{field} of {subject} is {ours}, recorded is {recorded}")
    }
}

impl Figures {
    /// Compare a size.
    ///
    /// # Errors
    /// When what is recorded is none.
    pub(super) fn size(
        &mut self,
        subject: &str,
        field: &'static str,
        ours: Size,
        recorded: &Value,
        counted: impl Fn(Size) -> Size,
    ) -> Result<()> {
        self.one_of(subject, field, &BTreeSet::from([ours]), recorded, counted)
    }

    /// Compare a size that may be any of these.
    ///
    /// # Errors
    /// When what is recorded is none.
    pub(super) fn one_of(
        &mut self,
        subject: &str,
        field: &'static str,
        ours: &BTreeSet<Size>,
        recorded: &Value,
        counted: impl Fn(Size) -> Size,
    ) -> Result<()> {
        let recorded = counted(Size::read(recorded)?);
        let ours: BTreeSet<Size> = ours.iter().map(|one| counted(*one)).collect();
        let shown: Vec<String> = ours.iter().map(Size::to_string).collect();
        self.note(subject, field, ours.contains(&recorded), &shown.join(" or "), &recorded);
        Ok(())
    }

    /// Compare what shows itself where it differs.
    pub(super) fn plain<T: PartialEq + fmt::Debug>(
        &mut self,
        subject: &str,
        field: &'static str,
        ours: &T,
        recorded: &T,
    ) {
        let (shown, other) = (format!("{ours:?}"), format!("{recorded:?}"));
        self.note(subject, field, ours == recorded, &shown, &other);
    }

    fn note(
        &mut self,
        subject: &str,
        field: &'static str,
        equal: bool,
        ours: &str,
        recorded: &dyn fmt::Display,
    ) {
        *self.compared.entry(field).or_default() += 1;
        if !equal {
            self.differences.push(Difference {
                subject: subject.to_owned(),
                field,
                ours: ours.to_owned(),
                recorded: recorded.to_string(),
            });
        }
    }
}
