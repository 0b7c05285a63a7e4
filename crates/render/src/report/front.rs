//! The front-end of pages, which the program keeps deflated.
//!
//! It is built from `report/` by `cargo xtask report-ui`, and its simulator from the crate `lab` by `cargo xtask wasm`. A
//! text is inflated once, when a page first needs it.

use flate2::read::ZlibDecoder;
use std::io::Read;
use std::sync::OnceLock;

/// The front-end that runs in the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Front<'a> {
    /// The script.
    pub script: &'a str,
    /// The style sheet.
    pub style: &'a str,
    /// The simulator, deflated, if the page has one.
    pub module: Option<&'a [u8]>,
    /// Whether the page may ask the server that it comes from.
    pub asks: bool,
}

/// Inflates a text of `crates/render/front` once.
macro_rules! text {
    ($name:literal) => {{
        static TEXT: OnceLock<String> = OnceLock::new();
        TEXT.get_or_init(|| inflated(include_bytes!(concat!("../../front/", $name, ".z"))))
    }};
}

impl Front<'static> {
    /// Returns the front-end of reports.
    #[must_use]
    pub fn report() -> Front<'static> {
        Front { script: text!("report.js"), style: text!("report.css"), module: None, asks: false }
    }

    /// Returns the front-end of the lab and of reports that can be run again: it has a simulator.
    #[must_use]
    pub fn lab() -> Front<'static> {
        // A constant would be in the program once for each crate that uses it.
        static MODULE: &[u8] = include_bytes!("../../front/lab.wasm.z");
        Front { script: text!("lab.js"), style: text!("lab.css"), module: Some(MODULE), asks: false }
    }
}

/// Returns the examples, lessons and recipes of the lab, and the files that they name, as JSON.
pub(super) fn examples() -> &'static str {
    text!("examples.json")
}

/// Returns a text that was deflated when the front-end was built; a test reads each.
fn inflated(bytes: &[u8]) -> String {
    let mut text = String::new();
    // What is wrong with an embedded file is wrong in every run: the test below finds it.
    let _ = ZlibDecoder::new(bytes).read_to_string(&mut text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_whole() {
        for (text, first, last) in [
            (Front::report().script, "\"use strict\";", "})();"),
            (Front::report().style, ":root{", "}"),
            (Front::lab().script, "\"use strict\";", "})();"),
            (Front::lab().style, ":root{", "}"),
            (examples(), "{\"examples\":", "}\n"),
        ] {
            let ends = (text.get(..40), text.len());
            assert!(text.starts_with(first) && text.ends_with(last), "{ends:?}");
        }
    }
}
