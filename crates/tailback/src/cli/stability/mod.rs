//! `stability`: what theory says of the fluid of a scenario.

mod beside;
mod text;

use super::arguments::Stability;
use super::check::load_or_say;
use super::console::{self, RunProgress};
use super::deadline;
use super::exit::{Exit, Unwritten};
use super::{INTERRUPT, report};
use render::figure::write_canvas;
use render::stability::{beside_charts, map_chart, trajectory_charts};
use results::document::{Document, Stability as StabilityDocument};
use results::{Kind, REPORT_FILE, ResultsError};
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
    let mut pictures = Vec::new();
    let mut course = None;
    if let Some(map) = &map {
        pictures.push(("map", map_chart(fluid, map).draw()));
    }
    if arguments.trajectory {
        match trajectory(fluid, 4e3) {
            Ok(drawn) => {
                let charts = trajectory_charts(&plan.name, fluid, &analysis, &drawn);
                pictures.extend(charts.map(|(name, chart)| (name, chart.draw())));
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
                pictures.extend(charts.into_iter().map(|(name, chart)| (name, chart.draw())));
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
    if let Err(error) = pictures.iter().try_for_each(|(name, canvas)| write_canvas(canvas, &out, name)) {
        return Unwritten::from(error).say();
    }
    if !pictures.is_empty() {
        console::note(&format!("pictures in {}", out.display()));
    }
    if (!pictures.is_empty() || arguments.report)
        && let Err(error) = document.write(&out)
    {
        return Unwritten::from(error).say();
    }
    report::also(arguments.report, &out, Exit::Success)
}

/// Whether everything that is asked for may be written there, before anything is: a refusal leaves the directory as it was.
fn may_write(arguments: &Stability, out: &Path) -> Result<(), ResultsError> {
    let asked: [(bool, &[&str]); 3] = [
        (!arguments.map.is_empty(), &["map"]),
        (arguments.trajectory, &["fluid-queue", "fluid-rate"]),
        (arguments.packets, &["overlay-queue", "overlay-rate", "overlay-spectrum"]),
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
