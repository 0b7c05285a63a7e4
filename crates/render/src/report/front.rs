//! The front-end of pages.
//!
//! It is built from `report/` by `cargo xtask report-ui`, and its simulator from the crate `lab` by `cargo xtask wasm`.

use crate::kept::kept;

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

/// Returns a text of `crates/render/front`.
macro_rules! text {
    ($name:literal) => {
        std::str::from_utf8(kept!(concat!("../../front/", $name, ".z"))).unwrap_or_default()
    };
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
