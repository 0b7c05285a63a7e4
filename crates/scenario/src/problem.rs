//! Problems of a scenario: all reported at once, each with its line, a caret and a remedy.

use super::plan::Plan;
use super::source::{Place, SourceKind, SourceText, Sources, floor_boundary};
use super::tree::Paths;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use files::text::on_one_line;
use std::fmt;

/// Maximum number of problems shown; the rest is counted.
const SHOWN: usize = 40;

/// A problem.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    /// The position.
    pub(crate) place: Place,
    /// The message.
    pub(crate) message: String,
    /// The remedy; may be empty.
    pub(crate) help: String,
    /// A related position.
    pub(crate) also: Option<(Place, String)>,
}

impl Problem {
    pub(crate) fn new(place: Place, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem { place, message: message.into(), help: help.into(), also: None }
    }

    pub(crate) fn and(mut self, place: Place, label: impl Into<String>) -> Problem {
        self.also = Some((place, label.into()));
        self
    }
}

/// A problem, as seen by a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// File, or the name of the override.
    pub file: String,
    /// Path of the key, such as `workloads[0].load`, in values that have no lines, and in an override.
    pub key: Option<String>,
    /// Line number, from one.
    pub line: usize,
    /// Column in characters, from one.
    pub column: usize,
    /// How many characters of the line it concerns.
    pub width: usize,
    /// The problem.
    pub message: String,
    /// The remedy; may be empty.
    pub help: String,
}

/// All problems of a scenario.
#[derive(Clone, Debug)]
pub struct Errors {
    sources: Sources,
    problems: Vec<Problem>,
    /// The name of a scenario that was no text, and the paths of its keys, by which its problems are shown.
    values: Option<(String, Paths)>,
}

impl Errors {
    pub(crate) fn new(sources: Sources, mut problems: Vec<Problem>) -> Errors {
        // Names from the file stand in messages.
        let shown = |text: &mut String| *text = on_one_line(text).into_owned();
        for problem in &mut problems {
            shown(&mut problem.message);
            shown(&mut problem.help);
            problem.also.iter_mut().for_each(|(_, label)| shown(label));
        }
        let sources = sources.on_one_line();
        problems.sort_by_key(|problem| problem.place);
        problems.dedup_by(|a, b| a.place == b.place && a.message == b.message);
        Errors { sources, problems, values: None }
    }

    /// The same of a cell of that scenario's grid: a value of an axis is shown where `[sweep]` states it, and else under
    /// the name of the option that gave it.
    #[must_use]
    pub fn of_cell(mut self, plan: &Plan, values: &[String], option: &str) -> Errors {
        let stated = |place: Place, sources: &Sources| {
            let source = sources.get(place.source).filter(|source| source.kind == SourceKind::Override)?;
            plan.place_in_sweep(&source.text).filter(|_| values.contains(&source.text))
        };
        for problem in &mut self.problems {
            problem.place = stated(problem.place, &self.sources).unwrap_or(problem.place);
            if let Some((place, _)) = &mut problem.also {
                *place = stated(*place, &self.sources).unwrap_or(*place);
            }
        }
        self.given_by(values, option)
    }

    /// The same with these overrides under the name of the option that gave them.
    #[must_use]
    pub fn given_by(mut self, overrides: &[String], option: &str) -> Errors {
        self.sources.call(overrides, option);
        self
    }

    /// The same of a scenario whose first text, of that name, was written for values that have no lines, such as a dictionary
    /// of Python: its problems are shown by the paths of their keys. Other scenarios' problems stay as they are.
    #[must_use]
    pub fn of_values(mut self, text: &str, shown: &str) -> Errors {
        if let Some(source) = self.sources.get(0).filter(|source| source.name == text) {
            self.values = Some((shown.to_owned(), Paths::of(&source.text)));
        }
        self
    }

    /// The same with every override under the name of that option.
    #[must_use]
    pub fn overrides_as(mut self, option: &str) -> Errors {
        self.sources.call_all(option);
        self
    }

    /// Returns the values that a position is in: their name, and the path of the key there.
    fn values_at(&self, place: Place) -> Option<(&str, Option<String>)> {
        let (name, paths) = self.values.as_ref().filter(|_| place.source == 0)?;
        Some((name, paths.at(place.start as usize).map(|path| on_one_line(path).into_owned())))
    }

    /// Returns the path of the key that an override sets.
    fn override_at(&self, place: Place) -> Option<String> {
        let source = self.sources.get(place.source).filter(|source| source.kind == SourceKind::Override)?;
        source.text.split_once('=').map(|(key, _)| on_one_line(key.trim()).into_owned())
    }

    /// Returns the problems in the order of the text.
    pub fn complaints(&self) -> impl Iterator<Item = Complaint> {
        self.problems.iter().map(|problem| {
            let (line, column) = self.sources.position(problem.place);
            let named = || self.sources.get(problem.place.source).map(|source| source.name.clone()).unwrap_or_default();
            let (file, key) = match self.values_at(problem.place) {
                Some((name, key)) => (name.to_owned(), key),
                None => (named(), self.override_at(problem.place)),
            };
            let text = self.sources.get(problem.place.source).map_or("", |source| source.text.as_str());
            let width = text[self.range(problem.place)].chars().count();
            Complaint { file, key, line, column, width, message: problem.message.clone(), help: problem.help.clone() }
        })
    }

    /// Returns the number of problems.
    #[must_use]
    pub fn count(&self) -> usize {
        self.problems.len()
    }

    /// Formats the problems for humans, with the source lines; `color` adds terminal escapes.
    #[must_use]
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut text = String::new();
        for problem in self.problems.iter().take(SHOWN) {
            text.push_str(&renderer.render(&self.groups(problem)));
            text.push_str("\n\n");
        }
        match self.problems.len() {
            1 => text.push_str("1 error"),
            count => text.push_str(&format!("{count} errors")),
        }
        if self.problems.len() > SHOWN {
            text.push_str(&format!(", the first {SHOWN} shown"));
        }
        text
    }

    fn groups<'a>(&'a self, problem: &'a Problem) -> Vec<Group<'a>> {
        let mut group = Group::with_title(Level::ERROR.primary_title(problem.message.as_str()));
        if let Some((name, key)) = self.values_at(problem.place) {
            return vec![self.by_key(group, key.unwrap_or_else(|| name.to_owned()), problem)];
        }
        // Two places of one text go into one excerpt, places of two texts into two.
        let also = problem.also.as_ref();
        let together = also.filter(|(place, _)| place.source == problem.place.source);
        if let Some(mut snippet) = self.snippet(problem.place) {
            snippet = snippet.annotation(AnnotationKind::Primary.span(self.range(problem.place)));
            if let Some((place, label)) = together {
                snippet = snippet.annotation(AnnotationKind::Context.span(self.range(*place)).label(label.as_str()));
            }
            group = group.element(snippet);
        } else if let Some(source) = self.sources.get(problem.place.source) {
            let origin = Origin::path(source.name.as_str());
            let line = (!source.text.is_empty()).then(|| self.sources.position(problem.place).0);
            group = group.element(line.map_or(origin.clone(), |line| origin.line(line)));
        }
        if let Some((place, label)) = also.filter(|_| together.is_none())
            && let Some(snippet) = self.snippet(*place)
        {
            let label = AnnotationKind::Context.span(self.range(*place)).label(label.as_str());
            group = group.element(snippet.annotation(label));
        }
        if !problem.help.is_empty() {
            group = group.element(Level::HELP.message(problem.help.as_str()));
        }
        vec![group]
    }

    /// Adds the path of the key to a group, in the place of an excerpt.
    fn by_key<'a>(&'a self, group: Group<'a>, key: String, problem: &'a Problem) -> Group<'a> {
        let mut group = group.element(Origin::path(key));
        if let Some((place, label)) = &problem.also {
            let other = self.values_at(*place).and_then(|(_, key)| key).or_else(|| self.override_at(*place));
            let label = other.map_or(label.clone(), |other| format!("{other}: {label}"));
            group = group.element(Level::NOTE.message(label));
        }
        if problem.help.is_empty() { group } else { group.element(Level::HELP.message(problem.help.as_str())) }
    }

    fn snippet<'a>(&'a self, place: Place) -> Option<Snippet<'a, annotate_snippets::Annotation<'a>>> {
        // An empty file, or one that could not be read, has no line to show; what is no scenario is not quoted.
        let shown = |source: &&SourceText| !source.text.is_empty() && source.kind != SourceKind::Data;
        let source = self.sources.get(place.source).filter(shown)?;
        Some(Snippet::source(source.text.as_str()).path(source.name.as_str()))
    }

    /// Returns the range of a position within its text, on one line and not empty unless the text is.
    fn range(&self, place: Place) -> std::ops::Range<usize> {
        let text = self.sources.get(place.source).map_or("", |source| source.text.as_str());
        let start = floor_boundary(text, place.start as usize);
        let end = floor_boundary(text, place.end as usize).max(start);
        let line = text[start..end].find('\n').map_or(end, |at| start + at);
        start..line.max(start)
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Errors {}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(text: &str, problems: Vec<(u32, u32)>) -> Errors {
        let mut sources = Sources::default();
        let source = sources.add("a.toml".into(), SourceKind::File, text.into());
        let problem = |(start, end)| Problem::new(Place { source, start, end }, "it is wrong", "mend it");
        Errors::new(sources, problems.into_iter().map(problem).collect())
    }

    #[test]
    fn a_problem_shows_its_line_with_a_caret_and_a_remedy() {
        let text = errors("a = 1\nbb = 22\n", vec![(11, 13)]).to_string();
        let expected = "error: it is wrong
 --> a.toml:2:6
  |
2 | bb = 22
  |      ^^
  |
  = help: mend it

1 error";
        assert_eq!(text, expected);
    }

    #[test]
    fn values_without_lines_show_the_paths_of_their_keys() {
        let errors = errors("a = 1\nbb = { c = [3, 4] }\n", vec![(21, 22), (4, 5)]).of_values("a.toml", "a dictionary");
        let expected = "error: it is wrong
--> a
 = help: mend it

error: it is wrong
--> bb.c[1]
 = help: mend it

2 errors";
        assert_eq!(errors.to_string(), expected);
        let told = |it: Complaint| (it.file, it.key);
        let key = |key: &str| ("a dictionary".to_owned(), Some(key.to_owned()));
        assert_eq!(errors.complaints().map(told).collect::<Vec<_>>(), [key("a"), key("bb.c[1]")]);
    }

    #[test]
    fn problems_are_sorted_and_told_once() {
        let errors = errors("a = 1\nbb = 22\n", vec![(11, 13), (0, 1), (0, 1)]);
        let at = |it: Complaint| (it.line, it.column, it.width);
        assert_eq!(errors.complaints().map(at).collect::<Vec<_>>(), [(1, 1, 1), (2, 6, 2)]);
    }

    #[test]
    fn places_outside_the_text_do_no_harm() {
        for place in [(90, 99), (5, 2), (0, 0), (7, 8)] {
            for text in ["", "a\n", "\u{b5}\u{b5}\u{b5}\u{b5}", "\r\n\t\0x = 1\r\n"] {
                assert!(errors(text, vec![place]).render(true).contains("it is wrong"));
            }
        }
    }
}
