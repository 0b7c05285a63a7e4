//! YAML as a tree whose parts know their places.

use super::super::{NamedText, Work};
use crate::source::Place;
use saphyr_parser::{Event, Parser, ScanError, Span};
use std::collections::BTreeMap;

/// Parts of a document with its aliases, at most.
const MOST_PARTS: usize = 1_000_000;
/// Depth of a document, at most.
const DEEPEST: usize = 100;

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Yaml {
    pub(super) value: Value,
    pub(super) place: Place,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

impl Yaml {
    pub(super) fn get(&self, key: &str) -> Option<&Yaml> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(super) fn entries(&self) -> &[(String, Yaml)] {
        if let Value::Map(entries) = &self.value { entries } else { &[] }
    }

    pub(super) fn list(&self) -> &[Yaml] {
        if let Value::List(list) = &self.value { list } else { &[] }
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }
}

/// Reads the first document of a file; `None` if it is not YAML, which is reported.
pub(super) fn read(work: &mut Work, file: NamedText<'_>) -> Option<Yaml> {
    let source = work.add(file);
    let mut reader =
        Reader { source, lines: starts(file.text), anchors: BTreeMap::new(), parts: 0, length: file.text.len() };
    let mut events = Parser::new_from_str(file.text);
    let result = reader.document(&mut events);
    match result {
        Ok(value) => Some(value),
        Err((line, column, reason)) => {
            let place = reader.place(line, column);
            work.refuse(place, format!("this is not YAML that is understood: {reason}"), "the file may be truncated");
            None
        }
    }
}

fn starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

struct Reader {
    source: u32,
    /// Where each line starts.
    lines: Vec<usize>,
    anchors: BTreeMap<usize, Yaml>,
    parts: usize,
    length: usize,
}

type Failed = (usize, usize, String);
type Events<'a> = dyn Iterator<Item = Result<(Event<'a>, Span), ScanError>> + 'a;

impl Reader {
    fn place(&self, line: usize, column: usize) -> Place {
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(self.length);
        let start = (start + column).min(self.length) as u32;
        Place { source: self.source, start, end: start }
    }

    fn next<'a>(events: &mut Events<'a>) -> Result<(Event<'a>, Span), Failed> {
        match events.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err((error.marker().line(), error.marker().col(), error.info().to_owned())),
            None => Err((usize::MAX, 0, "it ends too early".to_owned())),
        }
    }

    fn document(&mut self, events: &mut Events<'_>) -> Result<Yaml, Failed> {
        loop {
            let (event, span) = Self::next(events)?;
            match event {
                Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
                Event::StreamEnd | Event::DocumentEnd => return Err((1, 0, "it is empty".to_owned())),
                event => return self.value(event, span, events, 0),
            }
        }
    }

    fn value(&mut self, event: Event<'_>, span: Span, events: &mut Events<'_>, depth: usize) -> Result<Yaml, Failed> {
        let (line, column) = (span.start.line(), span.start.col());
        self.parts += 1;
        if depth > DEEPEST || self.parts > MOST_PARTS {
            return Err((line, column, "it is too deep or too large".to_owned()));
        }
        let place = self.place(line, column);
        let (value, anchor) = match event {
            Event::Scalar(text, _, anchor, _) => (Value::Text(text.into_owned()), anchor),
            Event::SequenceStart(anchor, _) => {
                let mut list = Vec::new();
                loop {
                    match Self::next(events)? {
                        (Event::SequenceEnd, _) => break,
                        (event, span) => list.push(self.value(event, span, events, depth + 1)?),
                    }
                }
                (Value::List(list), anchor)
            }
            Event::MappingStart(anchor, _) => (Value::Map(self.map(events, depth)?), anchor),
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor).cloned();
                let known = known.ok_or((line, column, "an alias names no anchor".to_owned()))?;
                self.parts += size(&known);
                return Ok(known);
            }
            _ => return Err((line, column, "a value is expected here".to_owned())),
        };
        let yaml = Yaml { value, place };
        if anchor > 0 {
            self.anchors.insert(anchor, yaml.clone());
        }
        Ok(yaml)
    }

    fn map(&mut self, events: &mut Events<'_>, depth: usize) -> Result<Vec<(String, Yaml)>, Failed> {
        let mut entries: Vec<(String, Yaml)> = Vec::new();
        let mut merged = Vec::new();
        loop {
            let (event, span) = Self::next(events)?;
            let (line, column) = (span.start.line(), span.start.col());
            let key = match event {
                Event::MappingEnd => break,
                event => self.value(event, span, events, depth + 1)?,
            };
            let Some(key) = key.text().map(str::to_owned) else {
                return Err((line, column, "a key must be a text".to_owned()));
            };
            let (event, span) = Self::next(events)?;
            let value = self.value(event, span, events, depth + 1)?;
            if key == "<<" {
                merged.extend(value.entries().to_vec());
            } else if entries.iter().any(|(known, _)| *known == key) {
                return Err((line, column, format!("the key {key} is there twice")));
            } else {
                entries.push((key, value));
            }
        }
        for (key, value) in merged {
            if !entries.iter().any(|(known, _)| *known == key) {
                entries.push((key, value));
            }
        }
        Ok(entries)
    }
}

fn size(yaml: &Yaml) -> usize {
    match &yaml.value {
        Value::Text(_) => 1,
        Value::List(list) => 1 + list.iter().map(size).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|(_, value)| size(value)).sum::<usize>(),
    }
}
