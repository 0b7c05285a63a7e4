//! The page: one self-contained HTML file that makes no network requests.
//!
//! All text from scenarios is in blocks of deflated bytes, so that no name can end a block or become script. A content
//! security policy in the page allows only its own script and style sheet, by their hashes.

use super::front::Front;
use results::{REPORT_START, base64, sealed_markup};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Deflated blocks next to the document, as text.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    texts: Vec<String>,
    known: BTreeMap<[u8; 32], usize>,
}

impl Blocks {
    /// Appends a block unless it already exists, and returns its number.
    pub(super) fn add(&mut self, text: String) -> usize {
        let next = self.texts.len();
        let number = *self.known.entry(Sha256::digest(text.as_bytes()).into()).or_insert(next);
        if number == next {
            self.texts.push(text);
        }
        number
    }

    /// Returns the blocks by their numbers.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Returns the total size in bytes.
    pub(super) fn size(&self) -> u64 {
        self.texts.iter().map(|text| text.len() as u64).sum()
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns the whole file, sealed; the document is already deflated.
pub(super) fn page(title: &str, document: &str, blocks: &Blocks, front: Front<'_>) -> String {
    let hash = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())));
    // A simulator is compiled from the page's own bytes, and runs in a thread with the page's own script.
    let simulates = front.module.map_or("", |_| " 'wasm-unsafe-eval'; worker-src blob:");
    let asks = if front.asks { "; connect-src 'self'" } else { "" };
    // Reports are known by how they begin: by the hash of the script, after the policy's own words.
    let policy = format!(
        "{}'{simulates}{asks}; style-src {}; img-src data: blob:; base-uri 'none'; form-action 'none'",
        base64(&Sha256::digest(front.script.as_bytes())),
        hash(front.style)
    );
    let mut page = format!(
        "{REPORT_START}{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>{}</style>\n</head>\n<body>\n\
         <main id=\"report\"><p class=\"wait\">Unpacking the report\u{2026}</p></main>\n\
         <noscript><p>This report draws itself with JavaScript, which is switched off here.</p></noscript>\n",
        escaped(title),
        front.style
    );
    let block = |page: &mut String, name: &str, text: &str| {
        let _ = writeln!(page, "<script type=\"application/octet-stream\" id=\"{name}\">{text}</script>");
    };
    block(&mut page, "document", document);
    // The script comes before what it does not need at once: the page stands while a browser still reads the rest.
    let _ = writeln!(page, "<script>{}</script>", front.script);
    for (number, text) in blocks.texts.iter().enumerate() {
        block(&mut page, &format!("block-{number}"), text);
    }
    if let Some(module) = front.module {
        block(&mut page, "module", &base64(module));
    }
    page.push_str("</body>\n</html>\n");
    sealed_markup(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::deflated;

    #[test]
    fn no_name_becomes_markup() {
        let nasty = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"&";
        let mut blocks = Blocks::default();
        assert_eq!(blocks.add(deflated(nasty.as_bytes())), 0);
        let front = Front { script: "run();", style: "p{}", module: None, asks: false };
        let page = page(nasty, &deflated(nasty.as_bytes()), &blocks, front);
        assert!(!page.contains("alert(1)</script>") && !page.contains("<img"), "{page}");
        // What is there already is not put there again.
        assert_eq!((blocks.add("other".into()), blocks.add(deflated(nasty.as_bytes()))), (1, 0));
        // One script that runs, allowed by its hash and nothing else.
        assert_eq!(page.matches("<script>").count(), 1);
        let hash = base64(&Sha256::digest(b"run();"));
        assert!(page.contains(&format!("script-src 'sha256-{hash}'")) && !page.contains("unsafe"));
        assert!(!page.contains("worker-src"));
        assert!(page.contains("default-src 'none'") && !page.contains("http://") && !page.contains("https://"));
    }
}
