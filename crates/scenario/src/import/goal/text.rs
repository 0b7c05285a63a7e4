//! Words, numbers and signs of a GOAL schedule, with their places.

use crate::source::Place;

/// A part of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) what: What<'a>,
    pub(super) place: Place,
}

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What<'a> {
    /// A keyword or a label.
    Word(&'a str),
    /// `None` is too large.
    Number(Option<u64>),
    /// -1: any source or tag.
    Any,
    Open,
    Close,
    Colon,
    /// The end of a line; a semicolon, too.
    Line,
    /// A character that nothing begins with.
    Unknown,
    /// The end of the text.
    End,
}

/// The tokens of a text. Comments are skipped.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    source: u32,
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(source: u32, text: &'a str) -> Tokens<'a> {
        Tokens { source, text, at: 0 }
    }

    /// Where the next token is.
    pub(super) fn here(&self) -> Place {
        self.peek().place
    }

    pub(super) fn peek(&self) -> Token<'a> {
        self.clone().token()
    }

    /// Goes past the next token if it is this one.
    pub(super) fn take(&mut self, what: What<'static>) -> bool {
        let mut ahead = self.clone();
        let found = ahead.token().what == what;
        if found {
            *self = ahead;
        }
        found
    }

    /// The next token that is no end of a line; `None` at the end of the text.
    pub(super) fn skip_lines(&mut self) -> Option<Token<'a>> {
        loop {
            let token = self.token();
            match token.what {
                What::Line => {}
                What::End => return None,
                _ => return Some(token),
            }
        }
    }

    pub(super) fn token(&mut self) -> Token<'a> {
        self.skip_space();
        let (start, rest) = (self.at, &self.text[self.at..]);
        let length = |fits: fn(char) -> bool| rest.find(|c: char| !fits(c)).unwrap_or(rest.len());
        let first = rest.chars().next();
        let (what, length) = match first {
            None => (What::End, 0),
            Some('\n' | ';') => (What::Line, 1),
            Some('{') => (What::Open, 1),
            Some('}') => (What::Close, 1),
            Some(':') => (What::Colon, 1),
            Some('0'..='9') => {
                let length = length(|c| c.is_ascii_digit());
                (What::Number(rest[..length].parse().ok()), length)
            }
            Some('-') if rest.starts_with("-1") => (What::Any, 2),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let length = length(|c| c.is_ascii_alphanumeric() || c == '_');
                (What::Word(&rest[..length]), length)
            }
            Some(c) => (What::Unknown, c.len_utf8()),
        };
        self.at += length;
        // At its end, the place is before the break of a line.
        let end = if what == What::Line { start } else { self.at };
        Token { what, place: Place { source: self.source, start: start as u32, end: end as u32 } }
    }

    /// Goes past white space within a line and comments: `//` to the end of the line, and `/*` to `*/`.
    fn skip_space(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let space = rest.find(|c: char| c == '\n' || !c.is_whitespace()).unwrap_or(rest.len());
            let after = &rest[space..];
            let comment = if after.starts_with("//") || after.starts_with('#') {
                after.find('\n').unwrap_or(after.len())
            } else if after.starts_with("/*") {
                after.find("*/").map_or(after.len(), |end| end + 2)
            } else {
                0
            };
            self.at += space + comment;
            if comment == 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_labels_and_comments_are_told_apart() {
        let mut tokens = Tokens::new(0, "l1: send 1024b /* to 2\n */to -1 // x\n}");
        let mut seen = Vec::new();
        while tokens.peek().what != What::End {
            seen.push(tokens.token().what);
        }
        let size = [What::Number(Some(1024)), What::Word("b")];
        let head = [What::Word("l1"), What::Colon, What::Word("send")];
        assert_eq!(seen[..3], head);
        assert_eq!(seen[3..5], size);
        assert_eq!(seen[5..], [What::Word("to"), What::Any, What::Line, What::Close]);
        assert_eq!(Tokens::new(0, "99999999999999999999").token().what, What::Number(None));
    }
}
