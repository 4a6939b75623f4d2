//! Diagnostics as people read them: the lines of the file with marks below.

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, Diagnostics, Severity, Span};

/// Whether the rendering carries terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text only: for files, logs and pipes.
    Plain,
    /// With ANSI colours: for a terminal.
    Coloured,
}

impl Diagnostics {
    /// Every diagnostic with the lines that it points at; `name` is what the file is called.
    ///
    /// Empty when there is nothing to say. Ends without a line feed.
    pub fn render(&self, name: &str, style: Style) -> String {
        let renderer = match style {
            Style::Plain => Renderer::plain(),
            Style::Coloured => Renderer::styled(),
        };
        let mut text = String::new();
        for (position, diagnostic) in self.iter().enumerate() {
            if position > 0 {
                text.push_str("\n\n");
            }
            text.push_str(&render_one(self.source(), diagnostic, name, &renderer));
        }
        if self.suppressed() > 0 {
            // Writing into a string cannot fail.
            let _ = write!(text, "\n\nand {} more", self.suppressed());
        }
        text
    }
}

fn render_one(source: &str, one: &Diagnostic, name: &str, renderer: &Renderer) -> String {
    let level = match one.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let window = window_of(source, one);
    let inside = |span: Span| {
        let start = span.start.clamp(window.start, window.end) - window.start;
        let end = span.end.clamp(window.start, window.end) - window.start;
        start..end.max(start)
    };
    let mut snippet = Snippet::source(&source[window.clone()])
        .path(name)
        .line_start(line_of(source, window.start));
    let primary = AnnotationKind::Primary.span(inside(one.primary.span));
    snippet = snippet.annotation(if one.primary.label.is_empty() {
        primary
    } else {
        primary.label(one.primary.label.as_str())
    });
    for mark in &one.secondary {
        let context = AnnotationKind::Context.span(inside(mark.span));
        snippet = snippet.annotation(context.label(mark.label.as_str()));
    }
    let mut group: Group<'_> =
        level.primary_title(one.message.as_str()).id(one.code.as_str()).element(snippet);
    if let Some(help) = &one.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

/// The whole lines from the first mark to the last: the renderer's work then follows the
/// distance of the marks and not the size of the file.
fn window_of(source: &str, one: &Diagnostic) -> Range<usize> {
    let spans = || core::iter::once(one.primary.span).chain(one.secondary.iter().map(|m| m.span));
    let first = spans().map(|span| span.start).min().unwrap_or(0);
    let last = spans().map(|span| span.end).max().unwrap_or(0);
    let first = floor_boundary(source, first);
    let last = floor_boundary(source, last);
    let start = source[..first].rfind('\n').map_or(0, |at| at + 1);
    let end = source[last..].find('\n').map_or(source.len(), |at| last + at);
    start..end.max(start)
}

fn floor_boundary(source: &str, at: usize) -> usize {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn line_of(source: &str, at: usize) -> usize {
    source[..at].bytes().filter(|byte| *byte == b'\n').count() + 1
}
