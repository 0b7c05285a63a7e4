//! `stability`: what theory says of the fluid of a scenario.

mod beside;
mod text;

use super::arguments::Stability;
use super::check::load_or_say;
use super::console::{self, RunProgress};
use super::deadline;
use super::exit::{Exit, Unwritten};
use super::{INTERRUPT, report};
use render::figure::SCALE;
use render::plot::Drawn;
use render::stability::{beside_charts, map_chart, trajectory_charts};
use results::document::{Document, Stability as StabilityDocument};
use results::{Kind, REPORT_FILE, ResultsError, remove_listed};
use scenario::fluid::FluidPlan;
use std::path::Path;
use study::stability::{BesideFluid, Map, MapAxis, Parts, analyse, trajectory};
use study::{cores, slug};
use text::as_text;

/// `tailback stability`
pub fn stability(arguments: &Stability) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let plan = match load_or_say(&arguments.scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    // What is wrong with the model is wrong with the scenario.
    let refuse = |error: &dyn std::fmt::Display| {
        console::error(&format!("{}: {error}", arguments.scenario.file.display()));
        Exit::BadInput
    };
    let fluid = match plan.fluid.clone().unwrap_or_else(|| FluidPlan::of(&plan)) {
        Ok(fluid) => fluid,
        Err(no) => return refuse(&no),
    };
    let fluid = &fluid;
    let axes: Result<Vec<MapAxis>, _> = arguments.map.iter().map(|text| MapAxis::parse(&fluid.model, text)).collect();
    let axes = match axes.map(<[MapAxis; 2]>::try_from) {
        Ok(Ok(axes)) => Some(axes),
        Ok(Err(axes)) if axes.is_empty() => None,
        Ok(Err(axes)) => {
            console::error(&format!(
                "a map has two axes, not {}\n  give --map twice, such as --map sources=1..400 --map delay=50us..300us",
                axes.len()
            ));
            return Exit::BadInput;
        }
        Err(error) => {
            console::error(&format!("--map: {error}"));
            return Exit::BadInput;
        }
    };
    let place = Path::new("results").join(format!("{}-stability", slug(&plan.name)));
    let out = arguments.out.clone().unwrap_or(place);
    if let Err(error) = may_write(arguments, &out) {
        return Unwritten::from(error).say();
    }
    let analysis = match analyse(fluid) {
        Ok(analysis) => analysis,
        Err(error) => return refuse(&error),
    };
    let threads = arguments.threads.unwrap_or_else(cores);
    let computed = axes.map(|axes| Map::compute(&fluid.model, axes, arguments.points, threads));
    let map = match computed.transpose() {
        Ok(map) => map,
        Err(error) => {
            console::error(&format!("--map: {error}"));
            return Exit::BadInput;
        }
    };
    let mut pictures = Drawn::default();
    let mut course = None;
    if let Some(map) = &map {
        pictures.add(&map_chart(fluid, map).draw(), (&out, "map"), SCALE);
    }
    if arguments.trajectory {
        match trajectory(fluid, 4e3) {
            Ok(drawn) => {
                let charts = trajectory_charts(&plan.name, fluid, &analysis, &drawn);
                charts.iter().for_each(|(name, chart)| pictures.add(&chart.draw(), (&out, name), SCALE));
                course = Some(drawn);
            }
            Err(error) => return refuse(&error),
        }
    }
    let mut packets = None;
    if arguments.packets {
        let progress = RunProgress::new(plan.run.duration, arguments.json);
        let both = BesideFluid::run(&plan, fluid, &analysis, threads, &INTERRUPT, |seen| progress.see(seen));
        progress.end();
        match both {
            Ok(both) => {
                let charts = beside_charts(&plan.name, fluid, &analysis, &both);
                charts.iter().for_each(|(name, chart)| pictures.add(&chart.draw(), (&out, name), SCALE));
                packets = Some(both);
            }
            Err(error) => return refuse(&error),
        }
    }
    deadline::running();
    let parts = Parts { map: map.as_ref(), trajectory: course.as_ref(), packets: packets.as_ref() };
    let document = analysis.document(&plan.name, fluid, &parts);
    if arguments.json {
        console::print(&format!("{:#}\n", document.clone().without_points().to_json()));
    } else {
        console::print(&as_text(fluid, &analysis, map.as_ref()));
        console::print(&packets.map_or_else(String::new, |both| beside::text(&both, &analysis)));
    }
    let drawn = !pictures.is_empty();
    if (drawn || arguments.report)
        && let Err(error) = commit(&out, pictures, document)
    {
        return Unwritten::from(error).say();
    }
    if drawn {
        console::note(&format!("pictures in {}", out.display()));
    }
    report::also(arguments.report, &out, Exit::Success)
}

/// Writes the pictures and the document of an analysis in the place of those of an older one. The document comes last: it
/// lists the pictures, so that the next analysis removes those that it does not replace.
fn commit(out: &Path, pictures: Drawn, mut told: StabilityDocument) -> Result<(), ResultsError> {
    // One that cannot be read lists nothing.
    let older = StabilityDocument::read(out).ok().flatten();
    let new = pictures.records(out);
    pictures.write(false)?;
    match older.map(|older| older.files) {
        Some(Some(listed)) => {
            for edited in remove_listed(out, &listed, &new) {
                console::note(&format!("{} was edited since tailback wrote it, and is kept", edited.display()));
            }
        }
        // Older versions kept no list, but had no other pictures.
        Some(None) => {
            let names = PICTURES.iter().flat_map(|name| ["png", "svg"].map(|ending| format!("{name}.{ending}")));
            for name in names.filter(|name| !new.iter().any(|record| record.path == *name)) {
                Kind::Picture.remove(&out.join(name));
            }
        }
        None => {}
    }
    Kind::Report.remove(&out.join(REPORT_FILE));
    told.files = Some(new);
    told.write(out)
}

/// The pictures of an analysis: its map, its trajectory, and the trajectory over packets.
const PICTURES: [&str; 6] = ["map", "fluid-queue", "fluid-rate", "overlay-queue", "overlay-rate", "overlay-spectrum"];

/// Whether everything that is asked for may be written there, before anything is: a refusal leaves the directory as it was.
fn may_write(arguments: &Stability, out: &Path) -> Result<(), ResultsError> {
    let asked: [(bool, &[&str]); 3] = [
        (!arguments.map.is_empty(), &PICTURES[..1]),
        (arguments.trajectory, &PICTURES[1..3]),
        (arguments.packets, &PICTURES[3..]),
    ];
    let names: Vec<&str> = asked.iter().filter(|(asked, _)| *asked).flat_map(|(_, names)| *names).copied().collect();
    for name in &names {
        for ending in ["svg", "png"] {
            Kind::Picture.may_go_to(&out.join(format!("{name}.{ending}")), false)?;
        }
    }
    if arguments.report {
        Kind::Report.may_go_to(&out.join(REPORT_FILE), false)?;
    }
    if !names.is_empty() || arguments.report {
        StabilityDocument::may_go_to(out)?;
    }
    Ok(())
}
