//! Enums of codes. Each code is declared once, with its variant and its text.

/// Declares an enum of codes.
macro_rules! codes {
    ($(#[$of:meta])* $kind:ident { $($(#[$about:meta])* $name:ident = $text:literal,)* }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $kind {
            $($(#[$about])* $name,)*
        }

        impl $kind {
            /// All codes in the order of their text.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$name),*];

            /// Returns the text of the code.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

pub(crate) use codes;
