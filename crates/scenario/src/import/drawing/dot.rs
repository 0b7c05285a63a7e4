//! Graphs in the language of Graphviz: nodes, edges, subgraphs, and attributes with their scopes.

use super::super::{NamedText, Work};
use super::{Attributes, Drawn, DrawnLink};
use crate::source::Place;
use std::collections::BTreeMap;

/// Subgraphs within each other, at most.
const DEEPEST: usize = 64;
/// Attributes of pictures.
const LAYOUT: [&str; 38] = [
    "arrowhead",
    "arrowsize",
    "arrowtail",
    "bgcolor",
    "class",
    "color",
    "colorscheme",
    "constraint",
    "dir",
    "fillcolor",
    "fixedsize",
    "fontcolor",
    "fontname",
    "fontsize",
    "group",
    "headlabel",
    "headport",
    "height",
    "href",
    "image",
    "label",
    "labelloc",
    "len",
    "minlen",
    "nodesep",
    "ordering",
    "penwidth",
    "pos",
    "rank",
    "rankdir",
    "shape",
    "splines",
    "style",
    "taillabel",
    "tailport",
    "tooltip",
    "weight",
    "width",
];

/// A word, a text in quotes, or a character of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Name(&'a str),
    Quoted(&'a str),
    Mark(char),
    /// `--` or `->`.
    Edge,
}

struct Reader<'a, 'w> {
    work: &'w mut Work,
    tokens: Vec<(Token<'a>, Place)>,
    at: usize,
    end: Place,
    drawn: Drawn,
    known: BTreeMap<String, usize>,
}

/// Defaults of a scope.
#[derive(Clone, Default)]
struct Scope {
    node: Attributes,
    edge: Attributes,
}

pub(super) fn read(work: &mut Work, file: NamedText<'_>) -> Drawn {
    let source = work.add(file);
    let Some(tokens) = tokens(work, source, file.text) else { return Drawn::default() };
    let length = file.text.trim_end().len() as u32;
    let end = Place { source, start: length, end: length };
    let mut reader = Reader { work, tokens, at: 0, end, drawn: Drawn::default(), known: BTreeMap::new() };
    let _ = reader.graph();
    for node in &mut reader.drawn.nodes {
        node.attributes.retain(|key, _| !LAYOUT.contains(&key.as_str()));
    }
    for link in &mut reader.drawn.links {
        link.attributes.retain(|key, _| !LAYOUT.contains(&key.as_str()));
    }
    reader.drawn
}

/// The tokens of a text; `None` if one has no end, which is reported.
fn tokens<'a>(work: &mut Work, source: u32, text: &'a str) -> Option<Vec<(Token<'a>, Place)>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let place = |start: usize, end: usize| Place { source, start: start as u32, end: end as u32 };
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let line_start = at == 0 || text.as_bytes()[at - 1] == b'\n';
        let (token, length) = if first.is_whitespace() {
            (None, first.len_utf8())
        } else if rest.starts_with("//") || first == '#' && line_start {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            let Some(end) = rest.find("*/") else {
                work.refuse(place(at, at + 2), "this comment has no end", "end it with */");
                return None;
            };
            (None, end + 2)
        } else if first == '"' {
            let mut escaped = false;
            let closing = rest[1..].char_indices().find(|(_, c)| {
                let ends = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            let Some((end, _)) = closing else {
                work.refuse(place(at, at + 1), "this text has no closing quote", "the file may be truncated");
                return None;
            };
            (Some(Token::Quoted(&rest[1..=end])), end + 2)
        } else if first == '<' {
            let mut depth = 0;
            let closing = rest.char_indices().find(|(_, c)| {
                depth += i32::from(*c == '<') - i32::from(*c == '>');
                depth == 0
            });
            let Some((end, _)) = closing else {
                work.refuse(place(at, at + 1), "this label has no end", "the file may be truncated");
                return None;
            };
            (Some(Token::Quoted(&rest[1..end])), end + 1)
        } else if rest.starts_with("--") || rest.starts_with("->") {
            (Some(Token::Edge), 2)
        } else if "{}[]=;,:+".contains(first) {
            (Some(Token::Mark(first)), 1)
        } else {
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let length = rest.char_indices().skip(1).find(|(_, c)| !inside(*c)).map_or(rest.len(), |(end, _)| end);
            if !(inside(first) || first == '-') {
                let message = format!("a graph cannot have the character {first:?} here");
                work.refuse(place(at, at + first.len_utf8()), message, "put names with such characters in quotes");
                return None;
            }
            (Some(Token::Name(&rest[..length])), length)
        };
        tokens.extend(token.map(|token| (token, place(at, at + length))));
        at += length;
    }
    Some(tokens)
}

impl<'a> Reader<'a, '_> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).map(|(token, _)| *token)
    }

    fn place(&self) -> Place {
        self.tokens.get(self.at).map_or(self.end, |(_, place)| *place)
    }

    fn takes(&mut self, mark: char) -> bool {
        let is = self.peek() == Some(Token::Mark(mark));
        self.at += usize::from(is);
        is
    }

    fn keyword(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Name(name)) if name.eq_ignore_ascii_case(word));
        self.at += usize::from(is);
        is
    }

    fn wrong<T>(&mut self, message: &str) -> Option<T> {
        let what = if self.at >= self.tokens.len() { ", but the file ends: it may be truncated" } else { "" };
        let place = self.place();
        self.work.refuse(place, format!("{message}{what}"), "check it with `dot -Tcanon FILE`");
        None
    }

    /// A name or text; texts may be joined by `+`.
    fn id(&mut self) -> Option<String> {
        let mut text = match self.peek()? {
            Token::Name(name) => name.to_owned(),
            Token::Quoted(text) => unescaped(text),
            _ => return None,
        };
        self.at += 1;
        while self.peek() == Some(Token::Mark('+')) {
            self.at += 1;
            match self.peek() {
                Some(Token::Quoted(more)) => text.push_str(&unescaped(more)),
                _ => return self.wrong("a text is expected after `+`"),
            }
            self.at += 1;
        }
        Some(text)
    }

    fn graph(&mut self) -> Option<()> {
        self.keyword("strict");
        if self.keyword("digraph") {
            self.drawn.directed = true;
        } else if !self.keyword("graph") {
            return self.wrong("a graph begins with `graph` or `digraph`");
        }
        self.id();
        if !self.takes('{') {
            return self.wrong("`{` is expected here");
        }
        self.statements(&mut Scope::default(), 0)?;
        match self.at < self.tokens.len() {
            true => self.wrong("one graph is expected in a file"),
            false => Some(()),
        }
    }

    /// Statements up to the closing brace; returns the nodes that they name.
    fn statements(&mut self, scope: &mut Scope, depth: usize) -> Option<Vec<usize>> {
        let mut named = Vec::new();
        if depth > DEEPEST {
            return self.wrong("subgraphs are nested too deeply");
        }
        loop {
            if self.takes('}') {
                return Some(named);
            }
            if self.takes(';') || self.takes(',') {
                continue;
            }
            if self.at >= self.tokens.len() {
                return self.wrong("`}` is expected");
            }
            if self.keyword("node") {
                let attributes = self.attributes()?;
                scope.node.extend(attributes);
            } else if self.keyword("edge") {
                let attributes = self.attributes()?;
                scope.edge.extend(attributes);
            } else if self.keyword("graph") {
                self.attributes()?;
            } else if matches!(self.tokens.get(self.at + 1), Some((Token::Mark('='), _))) {
                // An attribute of the graph.
                self.id();
                self.at += 1;
                if self.id().is_none() {
                    return self.wrong("a value is expected after `=`");
                }
            } else {
                named.extend(self.chain(scope, depth)?);
            }
        }
    }

    /// Nodes, or edges between them.
    fn chain(&mut self, scope: &mut Scope, depth: usize) -> Option<Vec<usize>> {
        let place = self.place();
        let mut groups = vec![self.group(scope, depth)?];
        while self.peek() == Some(Token::Edge) {
            self.at += 1;
            groups.push(self.group(scope, depth)?);
        }
        let attributes = self.attributes()?;
        if groups.len() == 1 {
            for &node in &groups[0] {
                self.drawn.nodes[node].attributes.extend(attributes.clone());
            }
        }
        for pair in groups.windows(2) {
            for (&a, &b) in pair[0].iter().flat_map(|a| pair[1].iter().map(move |b| (a, b))) {
                let mut all = scope.edge.clone();
                all.extend(attributes.clone());
                self.drawn.links.push(DrawnLink { ends: [a, b], attributes: all, place });
            }
        }
        Some(groups.concat())
    }

    /// A node, or the nodes of a subgraph.
    fn group(&mut self, scope: &mut Scope, depth: usize) -> Option<Vec<usize>> {
        let is_subgraph = self.keyword("subgraph");
        if is_subgraph {
            self.id();
        }
        if self.takes('{') {
            return self.statements(&mut scope.clone(), depth + 1);
        }
        if is_subgraph {
            return self.wrong("`{` is expected after `subgraph`");
        }
        let Some(name) = self.id() else { return self.wrong("the name of a node is expected here") };
        // A port of the picture, and a compass point.
        while self.takes(':') {
            if self.id().is_none() {
                return self.wrong("a port is expected after `:`");
            }
        }
        let count = self.drawn.nodes.len();
        let node = self.drawn.node(&mut self.known, &name);
        if self.drawn.nodes.len() > count {
            self.drawn.nodes[node].attributes = scope.node.clone();
        }
        Some(vec![node])
    }

    /// Lists of attributes in brackets, of which there may be none.
    fn attributes(&mut self) -> Option<Attributes> {
        let mut found = Attributes::new();
        while self.takes('[') {
            while !self.takes(']') {
                if self.takes(',') || self.takes(';') {
                    continue;
                }
                let Some(key) = self.id() else { return self.wrong("an attribute or `]` is expected here") };
                let value = match self.takes('=') {
                    true => match self.id() {
                        Some(value) => value,
                        None => return self.wrong("a value is expected after `=`"),
                    },
                    false => "true".to_owned(),
                };
                found.insert(key.to_ascii_lowercase(), value);
            }
        }
        Some(found)
    }
}

fn unescaped(text: &str) -> String {
    text.replace("\\\n", "").replace("\\\"", "\"")
}
