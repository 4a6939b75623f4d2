//! The document that is made from the table of routes: whole, as it was, and true to the examples.

mod document;
mod example;
mod table;
