//! Other people's readers: pandas, polars and DuckDB, for real.
//!
//! They live in a virtual environment under the target directory and nowhere else:
//!
//! ```text
//! python3 -m venv target/python
//! target/python/bin/pip install -r crates/lab/tests/python/requirements.txt
//! cargo test -p tailback-lab --test results -- --ignored
//! ```
//!
//! `TAILBACK_PYTHON` names another interpreter that has them.

use crate::network::{How, Scratch, everything, incast, run};
use lab::results::{Results, export_csv};
use std::path::{Path, PathBuf};
use std::process::Command;
use units::Span;

#[test]
#[ignore = "needs pandas, polars and DuckDB: see tests/results/python.rs"]
fn pandas_polars_and_duckdb_read_what_was_written() {
    let scratch = Scratch::new("python");
    let out = scratch.path("run");
    let how = How { shards: 2, until: Span::from_millis(3), recorder: everything() };
    run(&incast(), &how, &out).expect("it can be written");
    export_csv(&Results::open(&out).expect("a result"), &scratch.path("csv")).expect("there is room");
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python =
        std::env::var_os("TAILBACK_PYTHON").map_or(crate_root.join("../../target/python/bin/python"), PathBuf::from);
    let output = Command::new(&python)
        .arg(crate_root.join("tests/python/read_results.py"))
        .args([&out, &scratch.path("csv")])
        .output()
        .unwrap_or_else(|error| panic!("{} cannot be started: {error}", python.display()));
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(said.contains("all tables agree"), "{said}");
}
