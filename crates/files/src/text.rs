//! Escaping of text from files for terminals and spreadsheets.
//!
//! A terminal interprets control characters and Unicode's directional formatting; a spreadsheet may interpret a cell as
//! a formula. Names of scenarios and results may contain either.

use std::borrow::Cow;

/// Formats octets in hexadecimal, two lower-case digits each.
#[must_use]
pub fn hexadecimal(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Returns whether a terminal would interpret a character instead of showing it: control characters, and characters
/// that change the direction of text, end a line or are invisible.
#[must_use]
pub fn is_control(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(letter, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Escapes all control characters as JSON does (`\u001b`), including line breaks and tabs.
#[must_use]
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_control)
}

/// Escapes control characters except line breaks and tabs. In JSON, this changes only the spelling of strings, not
/// their meaning.
#[must_use]
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| is_control(letter) && !matches!(letter, '\n' | '\t'))
}

fn escaped(text: &str, harmful: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&harmful) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if harmful(letter) {
            let mut units = [0; 2];
            letter.encode_utf16(&mut units).iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        } else {
            escaped.push(letter);
        }
    }
    Cow::Owned(escaped)
}

/// Formats text as a CSV cell. Text that a spreadsheet would interpret as a formula (it begins with `=`, `+`, `-`, `@`,
/// a tab or a carriage return and is not a number) is prefixed with an apostrophe. Control characters are escaped as
/// for a terminal, because CSV files are often viewed in one. Cells with commas, quotes or line breaks are quoted.
#[must_use]
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    let starts = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}']);
    let shown = for_terminal(text);
    let cell = if starts && text.parse::<f64>().is_err() { Cow::Owned(format!("'{shown}")) } else { shown };
    if cell.contains([',', '"', '\n', '\r']) { Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\""))) } else { cell }
}

/// A table with aligned columns; numbers to the right if they look like numbers.
#[must_use]
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let shown = |cell: &str| on_one_line(cell).into_owned();
    let head: Vec<String> = head.iter().map(|cell| shown(cell)).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|cell| shown(cell)).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([head[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let numeric = |column: usize| {
        let starts = |cell: &String| cell.is_empty() || cell.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        rows.iter().filter_map(|row| row.get(column)).all(starts)
    };
    let right: Vec<bool> = (0..head.len()).map(|column| !rows.is_empty() && numeric(column)).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (column, cell) in cells.enumerate() {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            let cell = if right[column] { format!("{pad}{cell}") } else { format!("{cell}{pad}") };
            text.push_str(if column == 0 { "" } else { "  " });
            text.push_str(&cell);
        }
        format!("{}\n", text.trim_end())
    };
    let mut text = line(&mut head.iter().map(String::as_str));
    text.push_str(&line(
        &mut widths.iter().map(|&width| "-".repeat(width)).collect::<Vec<_>>().iter().map(String::as_str),
    ));
    for row in &rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_align_and_numbers_go_right() {
        let rows = vec![vec!["a".into(), "1.5".into()], vec!["bcd".into(), "10.25".into()]];
        assert_eq!(table(&["name", "rate"], &rows), "name   rate\n----  -----\na       1.5\nbcd   10.25\n");
    }

    #[test]
    fn no_control_character_reaches_a_terminal() {
        let text = "a\u{1b}[31m\u{7}\u{9b}2J\u{202e}b\u{e0041}\r";
        assert_eq!(for_terminal(text), "a\\u001b[31m\\u0007\\u009b2J\\u202eb\\udb40\\udc41\\u000d");
        assert_eq!(for_terminal("a\n\tb µ"), "a\n\tb µ");
        assert_eq!(on_one_line("a\nb"), "a\\u000ab");
        // What was JSON stays the same JSON.
        let value = serde_json::json!({ "name": text });
        let printed = format!("{value:#}");
        assert!(!for_terminal(&printed).chars().any(|letter| is_control(letter) && letter != '\n'));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&for_terminal(&printed)).expect("JSON"), value);
    }

    #[test]
    fn no_cell_is_a_formula() {
        assert_eq!(csv_cell("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(csv_cell("@SUM(1,2)"), "\"'@SUM(1,2)\"");
        for formula in ["+1+1", "-1+1", "\t=1", "\r=1", "=1"] {
            assert!(csv_cell(formula).trim_start_matches('"').starts_with('\''), "{formula:?}");
        }
        for plain in ["-1.5", "+2e9", "-inf", "h0-h1", "", "a=b"] {
            assert_eq!(csv_cell(plain), plain);
        }
        assert_eq!(csv_cell("\u{1b}[31mX\r"), "\\u001b[31mX\\u000d");
        assert_eq!(csv_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
