//! Tests that plots and pages written by Tailback are recognised by their first bytes.

use super::{Canvas, to_png, to_svg};
use results::{Kind, REPORT_START, ResultsError, remove_pictures};
use std::fs;

#[test]
fn ours_is_replaced_and_nothing_else() {
    let scratch = tempfile::tempdir().expect("there is room");
    let canvas = Canvas::new(20.0, 10.0, "picture");
    let (svg, png) = (to_svg(&canvas), to_png(&canvas, 1.0).expect("a picture"));
    let report = format!("{REPORT_START}abc");
    let keys = ["name", "rows"];
    let cases: [(&str, Kind<'_>, &[u8], &[u8]); 5] = [
        ("a.html", Kind::Report, report.as_bytes(), b"<!doctype html>\n<html lang=\"en\">\n"),
        ("a.svg", Kind::Picture, svg.as_bytes(), b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
        ("b.png", Kind::Picture, &png, b"\x89PNG\r\n\x1a\n"),
        ("a.csv", Kind::Csv("time,flow"), b"time,flow\n1,2\n", b"time,flow,mine\n"),
        ("a.json", Kind::Json(&keys), b"{\"name\": 1, \"rows\": []}", b"{\"name\": 1}"),
    ];
    for (name, kind, ours, theirs) in cases {
        let path = scratch.path().join(name);
        kind.write(&path, false, ours).expect("nothing is there");
        kind.write(&path, false, ours).expect("ours is there");
        for theirs in [theirs, b"precious"] {
            fs::write(&path, theirs).expect("there is room");
            let error = kind.write(&path, false, ours).expect_err("it is not ours");
            assert!(matches!(error, ResultsError::Foreign { .. }), "{error}");
            assert_eq!(fs::read(&path).expect("it is there"), theirs, "{name}");
        }
        kind.write(&path, true, ours).expect("it may be replaced");
        assert_eq!(fs::read(&path).expect("it is there"), ours);
    }
    fs::write(scratch.path().join("mine.svg"), "<svg/>").expect("there is room");
    fs::create_dir(scratch.path().join("deep")).expect("there is room");
    fs::write(scratch.path().join("deep/a.svg"), &svg).expect("there is room");
    remove_pictures(scratch.path());
    let left = |name: &str| scratch.path().join(name).exists();
    assert!(!left("a.svg") && !left("b.png") && !left("deep") && left("mine.svg") && left("a.html"));
}
