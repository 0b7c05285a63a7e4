//! Mistakes and findings as a page shows them.

use scenario::{Complaint, Finding};
use serde_json::{Value, json};
use study::severity_name;

/// A mistake and where it is.
pub(crate) fn complaint(it: Complaint) -> Value {
    let Complaint { file, line, column, width, message, help, .. } = it;
    json!({ "file": file, "line": line, "column": column, "width": width, "message": message, "help": help })
}

/// A finding of `tailback check`.
pub(crate) fn finding(it: &Finding) -> Value {
    json!({
        "severity": severity_name(it.severity),
        "subject": it.subject,
        "message": it.message,
        "remedy": it.remedy,
    })
}
