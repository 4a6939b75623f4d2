//! Values of the block `reservations`.

use headroom_core::userlimit::Decimal;

use crate::user_limits::decimal;

/// Parses `reservations.share`: a fraction from 0 to 1, a percentage, or `none`. The outer `None` means that the text is
/// not valid, the inner that there is no limit.
pub(crate) fn share(text: &str) -> Option<Option<Decimal>> {
    if text == "none" {
        return Some(None);
    }
    let share = match text.strip_suffix('%') {
        Some(percent) => decimal(percent)?.hundredth(),
        None => decimal(text)?,
    };
    (share <= Decimal::ONE).then_some(Some(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[doc(alias = "NS-12")]
    fn a_share_is_a_fraction_a_percentage_or_none() {
        let of = |text: &str| Some(Decimal::parse(text));
        for (written, expected) in [
            ("10%", of("0.1")),
            ("0.1", of("0.1")),
            ("12.5%", of("0.125")),
            ("0", of("0")),
            ("1", of("1")),
            ("100%", of("1")),
            ("none", Some(None)),
            ("101%", None),
            ("1.1", None),
            ("-1", None),
            ("%", None),
            ("ten", None),
            ("0.0001%", of("0.000001")),
            ("0.0000001%", None),
            ("", None),
        ] {
            assert_eq!(share(written), expected, "{written}");
        }
    }
}
