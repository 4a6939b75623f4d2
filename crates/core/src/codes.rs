//! Lists of codes: each is declared once, as a value, in order, and as what is shown.

/// Declares the codes of one kind.
macro_rules! codes {
    ($(#[$of:meta])* $kind:ident { $($(#[$about:meta])* $name:ident = $text:literal,)* }) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $kind {
            $($(#[$about])* $name,)*
        }

        impl $kind {
            /// All of them, in the order of what is shown.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$name),*];

            /// What is shown.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

pub(crate) use codes;
