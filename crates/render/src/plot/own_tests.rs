//! Tests that plots and pages written by Tailback are recognised, and edited ones are not replaced.

use super::{Canvas, to_png, to_svg};
use results::document::{Document, Exported};
use results::{Kind, REPORT_START, ResultsError, remove_pictures, sealed_markup, sealed_png};
use std::fs;

#[test]
fn ours_is_replaced_and_nothing_else() {
    let scratch = tempfile::tempdir().expect("there is room");
    let canvas = Canvas::new(20.0, 10.0, "picture");
    let (svg, png) = (sealed_markup(to_svg(&canvas)), sealed_png(to_png(&canvas, 1.0).expect("a picture")));
    let report = sealed_markup(format!("{REPORT_START}abc</html>\n"));
    let document = Exported { exported: Vec::new() }.to_text();
    let cases: [(&str, Kind<'_>, &[u8], &[u8]); 5] = [
        ("a.html", Kind::Report, report.as_bytes(), b"<!doctype html>\n<html lang=\"en\">\n"),
        ("a.svg", Kind::Picture, svg.as_bytes(), b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
        ("b.png", Kind::Picture, &png, b"\x89PNG\r\n\x1a\n"),
        ("a.csv", Kind::Csv("time,flow"), b"time,flow\n1,2\n", b"time,flow,mine\n"),
        ("a.json", Kind::Json(Exported::KEYS), document.as_bytes(), b"{\"name\": 1}"),
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
        // One bit behind what a kind is recognised by.
        let mut edited = ours.to_vec();
        edited[if matches!(kind, Kind::Json(_)) { ours.len() / 2 } else { ours.len() * 3 / 4 }] ^= 1;
        // The header line of a table is all that is known of it here; `exported.json` tells whether it was edited.
        if !matches!(kind, Kind::Csv(_)) {
            fs::write(&path, &edited).expect("there is room");
            let error = kind.write(&path, false, ours).expect_err("it was edited");
            assert!(matches!(error, ResultsError::Edited { .. }), "{error}");
            kind.remove(&path);
            assert_eq!(fs::read(&path).expect("it is there"), edited, "{name}");
        }
        kind.write(&path, true, ours).expect("it may be replaced");
        assert_eq!(fs::read(&path).expect("it is there"), ours);
    }
    fs::write(scratch.path().join("mine.svg"), "<svg/>").expect("there is room");
    fs::create_dir(scratch.path().join("deep")).expect("there is room");
    fs::write(scratch.path().join("deep/a.svg"), &svg).expect("there is room");
    fs::write(scratch.path().join("edited.svg"), svg.replace("white", "pink") + " ").expect("there is room");
    remove_pictures(scratch.path());
    let left = |name: &str| scratch.path().join(name).exists();
    assert!(!left("a.svg") && !left("b.png") && !left("deep") && left("mine.svg") && left("a.html"));
    assert!(left("edited.svg"));
}
