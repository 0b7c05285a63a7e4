//! `import`: files of other simulators and of switches as scenarios. `export`: scenarios as files of switches.

use super::arguments::{Arguments, Command, Run};
use super::check::load_or_say;
use super::exit::Exit;
use super::import_arguments::{Export, ExportTo, Import, ImportDrawing, ImportFrom, ImportTarget};
use super::{console, deadline};
use clap::Parser;
use scenario::import::Imported;
use scenario::import::drawing::{Defaults, Format};
use std::io::ErrorKind;
use study::sonic::{ExportError, export_sonic};
use study::{
    ChakraFiles, ImportError, InfinibandFiles, Target, import_chakra, import_drawing, import_goal, import_hpcc,
    import_htsim, import_infiniband,
};
use units::grouped;

/// `tailback import`
pub fn import(arguments: &Import) -> Exit {
    if let Err(exit) = deadline::start(arguments.from.target().limit.time_limit) {
        return exit;
    }
    deadline::doing("converting the files");
    match &arguments.from {
        ImportFrom::Hpcc(files) => {
            let target = target(&files.target);
            let (config, control) = (files.config.as_deref(), files.control.as_deref());
            said(&target, import_hpcc(&files.topology, &files.flows, config, control, &target))
        }
        ImportFrom::Htsim(files) => {
            let target = target(&files.target);
            let micros = files.start_unit == "us";
            let (control, options) = (files.control.as_deref(), files.options.as_deref());
            said(&target, import_htsim(&files.matrix, files.topo.as_deref(), micros, control, options, &target))
        }
        ImportFrom::Goal(files) => {
            let target = target(&files.target);
            let (topo, control) = (files.network.topo.as_deref(), files.network.control.as_deref());
            said(&target, import_goal(&files.schedule, topo, control, &target))
        }
        ImportFrom::Chakra(files) => {
            let target = target(&files.target);
            let chakra = ChakraFiles {
                traces: &files.traces,
                groups: files.groups.as_deref(),
                topology: files.network.topo.as_deref(),
            };
            said(&target, import_chakra(&chakra, &files.all_reduce, files.network.control.as_deref(), &target))
        }
        ImportFrom::Sonic(files) => {
            let target = target(&files.target);
            said(&target, study::sonic::import_sonic(&files.path, &target))
        }
        ImportFrom::Infiniband(files) => {
            let target = target(&files.target);
            let given = InfinibandFiles {
                topology: &files.topology,
                lfts: files.lfts.as_deref(),
                qos: files.qos.as_deref(),
                partitions: files.partitions.as_deref(),
            };
            said(&target, import_infiniband(&given, &target))
        }
        ImportFrom::Dot(files) => drawn(files, Format::Dot),
        ImportFrom::Json(files) => drawn(files, Format::NodeLink),
        ImportFrom::Containerlab(files) => drawn(files, Format::Containerlab),
    }
}

fn drawn(files: &ImportDrawing, format: Format) -> Exit {
    let target = target(&files.target);
    let defaults = Defaults { rate: files.rate, latency: files.latency };
    said(&target, import_drawing(&files.file, format, defaults, &target))
}

/// The arguments of `run` with defaults, for a scenario that was written.
pub fn to_run(arguments: &Import) -> Option<Run> {
    let target = arguments.from.target();
    let words = ["tailback".into(), "run".into(), "--".into(), target.output.clone().into_os_string()];
    match Arguments::try_parse_from(words).ok()?.command {
        Command::Run(run) if target.run => Some(run),
        _ => None,
    }
}

/// `tailback export`
pub fn export(arguments: &Export) -> Exit {
    let ExportTo::Sonic(arguments) = &arguments.to;
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let plan = match load_or_say(&arguments.scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    deadline::running();
    let (message, exit) = match export_sonic(&plan, &arguments.output, arguments.overwrite) {
        Ok(exported) => {
            for note in &exported.notes {
                console::note(&format!("note: {}: {}", note.key, note.meaning));
            }
            let count = grouped(exported.switches.len() as u64);
            console::note(&format!("wrote the configurations of {count} switches to {}", arguments.output.display()));
            return Exit::Success;
        }
        Err(ExportError::Plan(reason)) => {
            let (message, help) = reason.split_once("; ").unwrap_or((&reason, ""));
            (format!("{message}\n  {help}"), Exit::BadInput)
        }
        Err(ExportError::Exists(path)) => (
            format!("{} already exists\n  name another directory, or replace it with --overwrite", path.display()),
            Exit::BadInput,
        ),
        Err(ExportError::Write { path, error }) => {
            (format!("cannot write {}: {error}", path.display()), Exit::of_io(&error))
        }
    };
    console::error(&message);
    exit
}

fn target(arguments: &ImportTarget) -> Target<'_> {
    Target { file: &arguments.output, overwrite: arguments.overwrite, ready: deadline::running }
}

/// Says what was written, or why nothing was.
fn said(target: &Target<'_>, imported: Result<Imported, ImportError>) -> Exit {
    let error = match imported {
        Ok(imported) => {
            for note in &imported.notes {
                console::note(&format!("note: {}: {}", note.key, note.meaning));
            }
            let [hosts, switches, flows] = imported.counts.map(|count| grouped(count as u64));
            let mut written = target.file.display().to_string();
            if !imported.flows.is_empty() {
                written = format!("{written} and {}", target.flows().display());
            }
            console::note(&format!("wrote {written}: {hosts} hosts, {switches} switches, {flows} flows"));
            return Exit::Success;
        }
        Err(error) => error,
    };
    failed(&error)
}

/// Says why files could not be converted.
pub fn failed(error: &ImportError) -> Exit {
    let (message, exit) = match error {
        ImportError::Input(errors) => return console::problems(errors),
        ImportError::Read { path, error } => {
            let message = format!("cannot read {}: {error}\n  check the path", path.display());
            (message, if error.kind() == ErrorKind::FileTooLarge { Exit::BadInput } else { Exit::of_io(error) })
        }
        ImportError::Rank(path) => {
            let help = "name the traces NAME.0.et, NAME.1.et, ..., one for each rank, without a gap";
            (format!("{} is not the trace of the next rank\n  {help}", path.display()), Exit::BadInput)
        }
        ImportError::Name(path) => {
            let help = "name a file that ends in .toml: -o network.toml";
            (format!("{} is not the name of a scenario\n  {help}", path.display()), Exit::BadInput)
        }
        ImportError::Exists(path) => {
            let help = "name another file, or replace it with --overwrite";
            (format!("{} already exists\n  {help}", path.display()), Exit::BadInput)
        }
        ImportError::Write { path, error } => (
            format!("cannot write {}: {error}\n  name a file in an existing directory", path.display()),
            Exit::of_io(error),
        ),
    };
    console::error(&message);
    exit
}
