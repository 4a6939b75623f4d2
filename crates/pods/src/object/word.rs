//! Words of Kubernetes objects as enums.

/// Defines an enum of words, which reads any text. Other texts give the variant after `else`, and an absent or empty
/// text gives the variant after `default`.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }
        default $default:ident else $(#[$other_doc:meta])* $other:ident
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            $(#[$other_doc])*
            $other,
        }

        impl $name {
            /// Returns the variant of this word.
            pub fn from_word(word: &str) -> Self {
                match word {
                    "" => Self::$default,
                    $($word => Self::$variant,)*
                    _ => Self::$other,
                }
            }

            /// Returns the word of this variant. `None` for other texts, which are not stored.
            pub fn word(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($word),)*
                    Self::$other => None,
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(Self::from_word(&$crate::object::Text::deserialize(deserializer)?))
            }
        }
    };
}

pub(super) use words;
