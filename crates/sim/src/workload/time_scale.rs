//! Multiplies run times, and times between submissions.

use std::fmt;
use std::str::FromStr;

/// Latest time and longest run of a workload: 10¹⁵ ms, 31,709 years.
///
/// Below 2⁵³, so that a scaled time is rounded once, with the same result on every machine.
pub const TIME_MS_MAX: u64 = 1_000_000_000_000_000;

/// Largest factor, and the reciprocal of the smallest.
const FACTOR_MAX: f64 = 1e6;

/// Factors for run times, and for times between submissions. A factor of 1 changes nothing.
///
/// ```
/// use headroom_sim::workload::TimeScale;
/// let time_scale: TimeScale = "run=2,arrivals=0.005".parse()?;
/// assert_eq!(time_scale.run(), 2.0);
/// # Ok::<(), headroom_sim::workload::TimeScaleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeScale {
    run: f64,
    arrivals: f64,
}

/// Reason why a text is not a valid scale.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeScaleError {
    /// The text is not `run=X`, `arrivals=Y`, or both.
    #[error("--stretch is {text:?}; expected run=X, arrivals=Y, or both separated by a comma")]
    Syntax {
        /// The invalid part.
        text: String,
    },
    /// A factor occurs twice.
    #[error("--stretch has {name} twice; expected once")]
    Twice {
        /// `run` or `arrivals`.
        name: String,
    },
    /// A factor is not a number, or is out of range.
    #[error(
        "--stretch has {name}={found}; expected a number from 0.000001 to 1000000, such as 0.5"
    )]
    Factor {
        /// `run` or `arrivals`.
        name: String,
        /// Text after the equals sign.
        found: String,
    },
}

impl Default for TimeScale {
    fn default() -> Self {
        Self { run: 1.0, arrivals: 1.0 }
    }
}

impl TimeScale {
    /// Returns whether all times stay unchanged.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Returns these factors for run times, and for times between submissions.
    ///
    /// # Errors
    /// If a factor is not a number from 10⁻⁶ to 10⁶.
    pub fn new(run: f64, arrivals: f64) -> Result<Self, TimeScaleError> {
        for (name, factor) in [("run", run), ("arrivals", arrivals)] {
            if !(1.0 / FACTOR_MAX..=FACTOR_MAX).contains(&factor) {
                return Err(TimeScaleError::Factor {
                    name: name.to_owned(),
                    found: factor.to_string(),
                });
            }
        }
        Ok(Self { run, arrivals })
    }

    /// Returns the factor for run times.
    pub fn run(self) -> f64 {
        self.run
    }

    /// Returns the factor for times between submissions.
    pub fn arrivals(self) -> f64 {
        self.arrivals
    }

    /// Returns a scaled run time, rounded to whole ms. `None` above [`TIME_MS_MAX`].
    pub(super) fn run_ms(self, ms: u64) -> Option<u64> {
        scaled(ms, self.run)
    }

    /// Returns a scaled time since the first submission, rounded to whole ms. `None` above [`TIME_MS_MAX`].
    pub(super) fn arrival_ms(self, ms: u64) -> Option<u64> {
        scaled(ms, self.arrivals)
    }
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::float_cmp
)]
fn scaled(ms: u64, factor: f64) -> Option<u64> {
    if factor == 1.0 {
        return (ms <= TIME_MS_MAX).then_some(ms);
    }
    let product = (ms.min(TIME_MS_MAX) as f64 * factor).round();
    (product <= TIME_MS_MAX as f64).then_some(product as u64)
}

impl FromStr for TimeScale {
    type Err = TimeScaleError;

    fn from_str(text: &str) -> Result<Self, TimeScaleError> {
        let mut run = None;
        let mut arrivals = None;
        for part in text.split(',') {
            let syntax = || TimeScaleError::Syntax { text: part.trim().to_owned() };
            let (name, number) = part.split_once('=').ok_or_else(syntax)?;
            let (name, number) = (name.trim(), number.trim());
            let slot = match name {
                "run" => &mut run,
                "arrivals" => &mut arrivals,
                _ => return Err(syntax()),
            };
            let factor: f64 = number.parse().map_err(|_| TimeScaleError::Factor {
                name: name.to_owned(),
                found: number.to_owned(),
            })?;
            if slot.replace(factor).is_some() {
                return Err(TimeScaleError::Twice { name: name.to_owned() });
            }
        }
        Self::new(run.unwrap_or(1.0), arrivals.unwrap_or(1.0))
    }
}

impl fmt::Display for TimeScale {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "run={},arrivals={}", self.run, self.arrivals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn times_are_rounded_to_whole_ms() {
        let stretch = TimeScale::new(1.5, 0.005).unwrap();
        for (ms, run, arrival) in [
            (0, Some(0), Some(0)),
            (1, Some(2), Some(0)),
            (100, Some(150), Some(1)),
            (1_000, Some(1_500), Some(5)),
            (TIME_MS_MAX, None, Some(5_000_000_000_000)),
        ] {
            assert_eq!(stretch.run_ms(ms), run, "run of {ms}");
            assert_eq!(stretch.arrival_ms(ms), arrival, "arrival at {ms}");
        }
    }

    #[test]
    fn the_text_names_one_factor_or_both() {
        let texts: Vec<String> = [
            "run=2",
            " arrivals = 0.005 , run = 1",
            "",
            "run",
            "walk=2",
            "run=2,run=2",
            "run=0",
            "run=-1",
            "run=NaN",
            "arrivals=inf",
            "run=two",
        ]
        .into_iter()
        .map(|text| match text.parse::<TimeScale>() {
            Ok(stretch) => stretch.to_string(),
            Err(error) => error.to_string(),
        })
        .collect();
        expect![[r#"
            run=2,arrivals=1
            run=1,arrivals=0.005
            --stretch is ""; expected run=X, arrivals=Y, or both separated by a comma
            --stretch is "run"; expected run=X, arrivals=Y, or both separated by a comma
            --stretch is "walk=2"; expected run=X, arrivals=Y, or both separated by a comma
            --stretch has run twice; expected once
            --stretch has run=0; expected a number from 0.000001 to 1000000, such as 0.5
            --stretch has run=-1; expected a number from 0.000001 to 1000000, such as 0.5
            --stretch has run=NaN; expected a number from 0.000001 to 1000000, such as 0.5
            --stretch has arrivals=inf; expected a number from 0.000001 to 1000000, such as 0.5
            --stretch has run=two; expected a number from 0.000001 to 1000000, such as 0.5"#]]
        .assert_eq(&texts.join("\n"));
    }
}
