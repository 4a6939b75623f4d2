//! Values of the block `reservations`.

use headroom_core::userlimit::Decimal;

use crate::user_limits::decimal;

/// Value of `reservations.share`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// `none`: reservations are not limited.
    NoLimit,
    /// Largest fraction of the nodes.
    AtMost(Decimal),
}

impl Share {
    /// Parses a fraction from 0 to 1, a percentage, or `none`. `None` if the text is not valid.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if text == "none" {
            return Some(Self::NoLimit);
        }
        let share = match text.strip_suffix('%') {
            Some(percent) => decimal(percent)?.hundredth(),
            None => decimal(text)?,
        };
        (share <= Decimal::ONE).then_some(Self::AtMost(share))
    }

    /// Returns the largest fraction. `None` without a limit.
    pub(crate) const fn limit(self) -> Option<Decimal> {
        match self {
            Self::NoLimit => None,
            Self::AtMost(share) => Some(share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[doc(alias = "NS-12")]
    fn a_share_is_a_fraction_a_percentage_or_none() {
        let of = |text: &str| Decimal::parse(text).map(Share::AtMost);
        for (written, expected) in [
            ("10%", of("0.1")),
            ("0.1", of("0.1")),
            ("12.5%", of("0.125")),
            ("0", of("0")),
            ("1", of("1")),
            ("100%", of("1")),
            ("none", Some(Share::NoLimit)),
            ("101%", None),
            ("1.1", None),
            ("-1", None),
            ("%", None),
            ("ten", None),
            ("0.0001%", of("0.000001")),
            ("0.0000001%", None),
            ("", None),
        ] {
            assert_eq!(Share::read(written), expected, "{written}");
        }
    }
}
