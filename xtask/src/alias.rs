//! Tests and the ids that they carry: `#[doc(alias = "SD-24")]` among the attributes of a test.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprLit, Ident, ItemFn, Lit, Macro, MetaNameValue, Token, Visibility};

/// One id that a test carries.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Alias {
    pub(crate) id: String,
    /// The name of the test.
    pub(crate) test: String,
}

/// Every id that a test of a Rust file carries, the tests inside macros included.
///
/// # Errors
/// When the text is no Rust.
pub(crate) fn aliases(text: &str) -> syn::Result<Vec<Alias>> {
    let file = syn::parse_file(text)?;
    let mut search = Search::default();
    search.visit_file(&file);
    Ok(search.found)
}

#[derive(Default)]
struct Search {
    found: Vec<Alias>,
}

impl Search {
    fn note(&mut self, attributes: &[Attribute], name: &Ident) {
        if attributes.iter().any(is_test) {
            let ids = attributes.iter().filter_map(id_of);
            self.found.extend(ids.map(|id| Alias { id, test: name.to_string() }));
        }
    }

    /// Read what a macro is given. No syntax is known there, except that of a function's head.
    fn read(&mut self, tokens: TokenStream) {
        let heads = |input: ParseStream<'_>| {
            while !input.is_empty() {
                let ahead = input.fork();
                if let Ok((attributes, name)) = head(&ahead) {
                    input.advance_to(&ahead);
                    self.note(&attributes, &name);
                } else if let TokenTree::Group(group) = input.parse()? {
                    self.read(group.stream());
                }
            }
            Ok(())
        };
        // There is always a token to take before the end.
        let _: syn::Result<()> = heads.parse2(tokens);
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.note(&function.attrs, &function.sig.ident);
        visit::visit_item_fn(self, function);
    }

    fn visit_macro(&mut self, one: &'ast Macro) {
        self.read(one.tokens.clone());
    }
}

/// The attributes and the name of a function.
fn head(input: ParseStream<'_>) -> syn::Result<(Vec<Attribute>, Ident)> {
    let attributes = input.call(Attribute::parse_outer)?;
    let _: Visibility = input.parse()?;
    let _: Option<Token![async]> = input.parse()?;
    let _: Token![fn] = input.parse()?;
    Ok((attributes, input.parse()?))
}

/// Whether this is `#[test]`, or that of an asynchronous one.
fn is_test(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|part| part.ident == "test")
}

/// The id in `#[doc(alias = "…")]`.
fn id_of(attribute: &Attribute) -> Option<String> {
    if !attribute.path().is_ident("doc") {
        return None;
    }
    let alias: MetaNameValue = attribute.parse_args().ok()?;
    match alias.value {
        Expr::Lit(ExprLit { lit: Lit::Str(id), .. }) if alias.path.is_ident("alias") => {
            Some(id.value())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let found = aliases(text).unwrap();
        found.into_iter().map(|one| format!("{}: {}", one.test, one.id)).collect()
    }

    #[test]
    fn a_test_carries_its_ids_wherever_it_stands() {
        for (code, expected) in [
            ("#[test] #[doc(alias = \"SD-24\")] fn nodes() {}", &["nodes: SD-24"][..]),
            ("#[doc(alias = \"SD-24\")] #[test] fn nodes() {}", &["nodes: SD-24"]),
            (
                "#[test] #[doc(alias = \"C8\")] #[doc(alias = \"queues W5\")] fn both() {}",
                &["both: C8", "both: queues W5"],
            ),
            (
                "#[tokio::test(flavor = \"multi_thread\")] #[doc(alias = \"TR-07\")] \
                 async fn waits() {}",
                &["waits: TR-07"],
            ),
            ("mod a { mod b { #[test] #[doc(alias = \"C1\")] fn deep() {} } }", &["deep: C1"]),
            (
                "proptest! { #![proptest_config(x)] #[test] #[doc(alias = \"C1\")] \
                 fn any(a in 0..9) {} }",
                &["any: C1"],
            ),
            (
                "macro_rules! m { ($($a:meta)*) => { $(#[$a])* #[test] #[doc(alias = \"C1\")] \
                 pub async fn made() {} } }",
                &["made: C1"],
            ),
        ] {
            assert_eq!(read(code), expected, "{code}");
        }
    }

    #[test]
    fn nothing_else_carries_an_id() {
        for code in [
            "#[test] fn sd_24_nodes() {}",
            "#[doc(alias = \"SD-24\")] fn helper() {}",
            "#[test] #[doc = \"SD-24\"] fn documented() {}",
            "#[test] #[doc(keyword = \"SD-24\")] fn other() {}",
            "// #[test] #[doc(alias = \"SD-24\")] fn gone() {}",
            "const TEXT: &str = \"#[test] #[doc(alias = 'SD-24')] fn quoted() {}\";",
        ] {
            assert_eq!(read(code), [""; 0], "{code}");
        }
        assert!(aliases("fn (").is_err());
    }
}
