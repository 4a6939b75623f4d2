//! Converts rows to the fields of a block, its reader, and its table.

use crate::raw::Fields;

use super::{Block, Content, Setting};

/// A block whose keys are rows of a table.
pub(crate) trait Rows: Sized {
    /// Table of the keys.
    const BLOCK: &'static Block;

    /// Reads the values of all rows. Adds faults to the report of `fields`.
    fn read(fields: Fields<'_, '_>) -> Self;

    /// Returns the written values, in the order of the table.
    fn rows(&self) -> Vec<(&'static Setting, Content)>;
}

/// Declare blocks of the queue file. Each row becomes a field of the struct, its reader, and a row of the table:
///
/// ```text
/// /// What the block is for.
/// Name = "what messages call it" {
///     /// What the setting does.
///     "key" "NameInJson" field: Kind { default: "what applies without it" };
/// }
/// ```
///
/// Fields after `also` are not rows: a function computes them from the block.
macro_rules! blocks {
    ($(
        $(#[doc = $about:literal])*
        $name:ident = $what:literal $(null $null:ident)? {
            $(
                $(#[doc = $meaning:literal])*
                $key:literal $json:literal $field:ident: $kind:ty
                    $({ $($column:ident: $value:expr),* $(,)? })?;
            )*
            $( also $extra:ident: $type:ty = $of:path; )*
        }
    )*) => { $(
        $(#[doc = $about])*
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name {
            /// Place of the block, or of its key if the block is empty.
            #[allow(dead_code, reason = "only some blocks are named in messages as a whole")]
            pub(crate) span: $crate::diagnostic::Span,
            $(
                $(#[doc = $meaning])*
                pub(crate) $field: <$kind as $crate::schema::Kind>::Value,
            )*
            $( pub(crate) $extra: $type, )*
        }

        impl $crate::schema::Rows for $name {
            #[allow(clippy::needless_update, reason = "a block may set all there is")]
            const BLOCK: &'static $crate::schema::Block = &$crate::schema::Block {
                what: $what,
                about: concat!($($about),*),
                settings: &[$(
                    $crate::schema::Setting {
                        key: $key,
                        json: $json,
                        meaning: concat!($($meaning),*),
                        holds: <$kind as $crate::schema::Kind>::HOLDS,
                        $($($column: $value,)*)?
                        ..$crate::schema::Setting::PLAIN
                    }
                ),*],
                $(null: $crate::schema::Null::$null,)?
                ..$crate::schema::Block::EMPTY
            };

            fn read(mut fields: $crate::raw::Fields<'_, '_>) -> Self {
                let span = fields.span;
                $( let $extra = $of(&mut fields); )*
                let mut settings = Self::BLOCK.settings.iter();
                Self {
                    span,
                    $(
                        $field: {
                            let setting = settings.next().expect("each field is a row");
                            <$kind as $crate::schema::Kind>::read(&mut fields, setting)
                        },
                    )*
                    $( $extra, )*
                }
            }

            fn rows(
                &self,
            ) -> Vec<(&'static $crate::schema::Setting, $crate::schema::Content)> {
                let mut settings = Self::BLOCK.settings.iter();
                let mut rows = Vec::new();
                $(
                    let setting = settings.next().expect("each field is a row");
                    rows.extend(
                        <$kind as $crate::schema::Kind>::content(&self.$field)
                            .map(|content| (setting, content)),
                    );
                )*
                rows
            }
        }
    )* };
}
pub(crate) use blocks;
