//! Renders findings for people: the lines of the file with marks.

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Level, Origin, Renderer, Snippet};

use crate::diagnostic::{Counts, Diagnostic, Diagnostics, Mark, Severity, Span};

/// Maximum size of the text for a finding in bytes, because rendering reads the whole text.
const WINDOW_BYTES_MAX: usize = 64 << 10;

/// Whether the rendering has terminal colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text only: for files, logs, and pipes.
    Plain,
    /// With ANSI colors: for a terminal.
    Coloured,
}

impl Diagnostics {
    /// Renders every error and warning with its lines. `name` is the name of the file.
    ///
    /// Returns an empty text without findings. The text has no line break at its end.
    pub fn render(&self, name: &str, style: Style) -> String {
        let Counts { errors, warnings, recommendations: _ } = self.suppressed();
        render_all(self.source(), self.iter(), errors + warnings, name, style)
    }

    /// Renders every recommendation in the format of [`Diagnostics::render`].
    pub fn render_recommendations(&self, name: &str, style: Style) -> String {
        let more = self.suppressed().recommendations;
        render_all(self.source(), self.recommendations(), more, name, style)
    }
}

/// Renders findings. `more` is the number of findings that were not stored.
fn render_all<'d>(
    source: &str,
    all: impl Iterator<Item = &'d Diagnostic>,
    more: usize,
    name: &str,
    style: Style,
) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let mut text = String::new();
    for (position, diagnostic) in all.enumerate() {
        if position > 0 {
            text.push_str("\n\n");
        }
        text.push_str(&render_one(source, diagnostic, name, &renderer));
    }
    if more > 0 {
        // Writing into a string cannot fail.
        let _ = write!(text, "\n\nand {more} more");
    }
    text
}

fn render_one(source: &str, one: &Diagnostic, name: &str, renderer: &Renderer) -> String {
    let level = match one.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Recommendation => Level::INFO.with_name("recommendation"),
    };
    let title = level.primary_title(one.message.as_str()).id(one.code.as_str());
    let mut group = match window_of(source, one) {
        Some((window, far)) => far.iter().fold(
            title.element(snippet(source, one, name, window, &far)),
            |group, mark| {
                let line = line_of(source, mark.span.start);
                group.element(Level::NOTE.message(format!("{}: line {line}", mark.label)))
            },
        ),
        None => title.element(Origin::path(name).line(one.line).char_column(one.column)),
    };
    if let Some(help) = &one.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    renderer.render(&[group])
}

fn snippet<'a>(
    source: &'a str,
    one: &'a Diagnostic,
    name: &'a str,
    window: Range<usize>,
    far: &[&Mark],
) -> Snippet<'a, Annotation<'a>> {
    let inside = |span: Span| {
        let start = span.start.clamp(window.start, window.end) - window.start;
        let end = span.end.clamp(window.start, window.end) - window.start;
        start..end.max(start)
    };
    let primary = AnnotationKind::Primary.span(inside(one.primary.span));
    let label = one.primary.label.as_str();
    let near = one.secondary.iter().filter(|mark| !far.contains(mark));
    Snippet::source(&source[window.clone()])
        .path(name)
        .line_start(line_of(source, window.start))
        .annotation(if label.is_empty() { primary } else { primary.label(label) })
        .annotations(near.map(|mark| {
            let context = AnnotationKind::Context.span(inside(mark.span));
            context.label(mark.label.as_str())
        }))
}

/// Returns the range of whole lines to show, and the marks that are too far away. `None` if even a single line is too
/// long.
fn window_of<'d>(source: &str, one: &'d Diagnostic) -> Option<(Range<usize>, Vec<&'d Mark>)> {
    let mut window = lines_around(source, one.primary.span);
    if window.len() > WINDOW_BYTES_MAX {
        return None;
    }
    let mut far = Vec::new();
    for mark in &one.secondary {
        let lines = lines_around(source, mark.span);
        let both = window.start.min(lines.start)..window.end.max(lines.end);
        if both.len() > WINDOW_BYTES_MAX {
            far.push(mark);
        } else {
            window = both;
        }
    }
    Some((window, far))
}

fn lines_around(source: &str, span: Span) -> Range<usize> {
    let first = floor_boundary(source, span.start);
    let last = floor_boundary(source, span.end.max(span.start));
    let start = source[..first].rfind('\n').map_or(0, |at| at + 1);
    let end = source[last..].find('\n').map_or(source.len(), |at| last + at);
    start..end
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
