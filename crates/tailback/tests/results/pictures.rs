//! Pictures of a run.

use crate::network::{How, Scratch, everything, incast, run};
use render::plot::{Chart, PlotOptions, picture, to_svg, write_plots};
use results::{Picture, Results};
use units::Span;

#[test]
fn a_run_is_drawn_and_drawn_alike_on_any_number_of_shards() {
    let scratch = Scratch::new("pictures");
    let how = |shards| How { shards, until: Span::from_millis(5), recorder: everything() };
    run(&incast(), &how(1), &scratch.path("one")).expect("it can be written");
    run(&incast(), &how(3), &scratch.path("three")).expect("it can be written");
    let open = |name: &str| Results::open(&scratch.path(name)).expect("a result");
    let (one, three) = (open("one"), open("three"));
    let options = PlotOptions::default();
    let files = write_plots(&one, &scratch.path("plots"), &options).expect("there is room");
    let names: Vec<String> =
        files.iter().filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned())).collect();
    for kind in ["throughput", "queues", "buffers", "pauses", "utilisation"] {
        assert!(names.contains(&format!("{kind}.svg")) && names.contains(&format!("{kind}.png")), "{names:?}");
    }
    assert!(!names.contains(&"rates.svg".to_owned()), "no protocol limits a rate");
    for kind in Picture::ALL {
        let svg =
            |results: &Results| picture(results, kind, &options).expect("readable").map(|chart| to_svg(&chart.draw()));
        assert_eq!(svg(&one), svg(&three), "{kind:?}");
    }
    if let Some(keep) = std::env::var_os("TAILBACK_KEEP_PICTURES") {
        write_plots(&one, std::path::Path::new(&keep), &options).expect("there is room");
    }
}

#[test]
fn only_so_many_lines_are_drawn() {
    let scratch = Scratch::new("few-lines");
    let out = scratch.path("run");
    let how = How { shards: 1, until: Span::from_millis(2), recorder: everything() };
    run(&incast(), &how, &out).expect("it can be written");
    let results = Results::open(&out).expect("a result");
    let options = PlotOptions { most: 3, ..PlotOptions::default() };
    let chart = picture(&results, Picture::Throughput, &options).expect("readable").expect("there is traffic");
    let svg = to_svg(&chart.draw());
    assert!(svg.contains("… and 5 more, not drawn") && svg.contains("throughput (Gb/s)"), "{svg}");
}

#[test]
fn the_utilisation_of_links_is_a_row_for_each_and_no_tangle_of_lines() {
    let scratch = Scratch::new("utilisation");
    let out = scratch.path("run");
    let how = How { shards: 1, until: Span::from_millis(2), recorder: everything() };
    run(&incast(), &how, &out).expect("it can be written");
    let results = Results::open(&out).expect("a result");
    let chart = picture(&results, Picture::Utilisation, &PlotOptions::default()).expect("readable");
    let Some(Chart::Heat(chart)) = chart else { panic!("{chart:?}") };
    // All links that were used, on a scale that ends where a link is full.
    assert!(chart.rows.len() > 8 && chart.more == 0, "{} rows", chart.rows.len());
    assert_eq!(chart.most, Some(1.0));
    let levels = || chart.rows.iter().flat_map(|row| &row.points).map(|point| point.1);
    assert!(levels().all(|level| (0.0..=1.001).contains(&level)) && levels().any(|level| level > 0.9));
}
