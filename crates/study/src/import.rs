//! Files of other simulators, converted to scenarios on disk.
//!
//! The scenario and the list of its flows are written, or neither: everything is read, converted and checked before, and
//! what exists is not replaced unless that is asked for.

use files::output::{is_replaced, write_file, write_given};
use files::{LARGEST_DATA, read_given};
use scenario::import::{Imported, NamedText, chakra, drawing, goal, hpcc, htsim, infiniband};
use scenario::{Errors, FileReader, Limits, load_str};
use std::io;
use std::path::{Path, PathBuf};

/// A conversion that failed.
#[derive(Debug)]
pub enum ImportError {
    /// A file cannot be read.
    Read {
        /// Its path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The name of a trace does not say its rank, or a rank is missing or there twice.
    Rank(PathBuf),
    /// Something in the files is wrong.
    Input(Box<Errors>),
    /// The name of the scenario to write is not that of a TOML file.
    Name(PathBuf),
    /// A file to write exists.
    Exists(PathBuf),
    /// A file cannot be written.
    Write {
        /// Its path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
}

/// Where to write a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The scenario; its flows, if it has a list of them, are beside it, in a file of the same name that ends in `.flows.csv`.
    pub file: &'a Path,
    /// Whether existing files are replaced.
    pub overwrite: bool,
    /// Called when everything is ready, before the first file is written.
    pub ready: fn(),
}

impl Target<'_> {
    /// The file of flows.
    #[must_use]
    pub fn flows(&self) -> PathBuf {
        self.file.with_extension("flows.csv")
    }

    /// Names of the scenario and of the file of flows.
    pub(crate) fn names(&self) -> Result<(String, String), ImportError> {
        let text = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let stem = self.file.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
        let is_toml = self.file.extension().is_some_and(|extension| extension == "toml");
        match (stem, text(&self.flows())) {
            (Some(stem), Some(flows)) if is_toml => Ok((stem, flows)),
            _ => Err(ImportError::Name(self.file.to_owned())),
        }
    }
}

/// A file that was read.
pub(crate) struct Opened {
    name: String,
    text: String,
}

impl Opened {
    pub(crate) fn read(path: &Path) -> Result<Opened, ImportError> {
        let read = read_given(path, LARGEST_DATA);
        let text = read.map_err(|error| ImportError::Read { path: path.to_owned(), error })?;
        Ok(Opened { name: path.to_string_lossy().into_owned(), text })
    }

    pub(crate) fn text(&self) -> NamedText<'_> {
        NamedText { name: &self.name, text: &self.text }
    }
}

/// Converts files of the public HPCC simulator: a topology, flows and, if given, a configuration. `control` replaces the
/// congestion control of the configuration.
///
/// # Errors
/// Fails if a file cannot be read or written, or if something in the files is wrong; then nothing is written.
pub fn import_hpcc(
    topology: &Path,
    flows: &Path,
    config: Option<&Path>,
    control: Option<&str>,
    target: &Target<'_>,
) -> Result<Imported, ImportError> {
    let (name, flows_file) = target.names()?;
    let (topology, flows) = (Opened::read(topology)?, Opened::read(flows)?);
    let config = config.map(Opened::read).transpose()?;
    let options = hpcc::Options { name: &name, flows_file: &flows_file, control };
    finish(hpcc::import(topology.text(), flows.text(), config.as_ref().map(Opened::text), &options), target)
}

/// Converts files of htsim: a connection matrix and, if given, a topology. `micros` says that starts are in microseconds, as
/// in older files; `control` is the program of htsim whose defaults the scenario gets, and `options` are those of its
/// command line.
///
/// # Errors
/// Fails if a file cannot be read or written, or if something in the files is wrong; then nothing is written.
pub fn import_htsim(
    matrix: &Path,
    topology: Option<&Path>,
    micros: bool,
    control: Option<&str>,
    options: Option<&str>,
    target: &Target<'_>,
) -> Result<Imported, ImportError> {
    let (name, flows_file) = target.names()?;
    let matrix = Opened::read(matrix)?;
    let topology = topology.map(Opened::read).transpose()?;
    let options = htsim::Options { name: &name, flows_file: &flows_file, micros, control, options };
    finish(htsim::import(matrix.text(), topology.as_ref().map(Opened::text), &options), target)
}

/// Converts a GOAL schedule. `topology` is a file of htsim, and `control` the program of htsim whose defaults the scenario
/// gets.
///
/// # Errors
/// Fails if a file cannot be read or written, or if something in the files is wrong; then nothing is written.
pub fn import_goal(
    schedule: &Path,
    topology: Option<&Path>,
    control: Option<&str>,
    target: &Target<'_>,
) -> Result<Imported, ImportError> {
    let (name, flows_file) = target.names()?;
    let schedule = Opened::read(schedule)?;
    let topology = topology.map(Opened::read).transpose()?;
    let options = goal::Options { name: &name, flows_file: &flows_file, control };
    finish(goal::import(schedule.text(), topology.as_ref().map(Opened::text), &options), target)
}

/// Files of Chakra, and the network that their ranks are in.
#[derive(Clone, Copy, Debug)]
pub struct ChakraFiles<'a> {
    /// The traces, whose names end in the number of their rank and `.et`.
    pub traces: &'a [PathBuf],
    /// The ranks of process groups.
    pub groups: Option<&'a Path>,
    /// A topology of htsim.
    pub topology: Option<&'a Path>,
}

/// Converts execution traces of Chakra. `all_reduce` is an algorithm, and `control` the program of htsim whose defaults the
/// scenario gets.
///
/// # Errors
/// Fails if a file cannot be read or written, or if something in the files is wrong; then nothing is written.
pub fn import_chakra(
    files: &ChakraFiles<'_>,
    all_reduce: &str,
    control: Option<&str>,
    target: &Target<'_>,
) -> Result<Imported, ImportError> {
    let (name, flows_file) = target.names()?;
    let rank = |path: &PathBuf| {
        let stem = path.file_name()?.to_str()?.strip_suffix(".et")?;
        stem.rsplit('.').next()?.parse::<usize>().ok()
    };
    let mut ordered: Vec<(Option<usize>, &PathBuf)> = files.traces.iter().map(|path| (rank(path), path)).collect();
    ordered.sort();
    if let Some((_, (_, path))) = ordered.iter().enumerate().find(|(place, (rank, _))| *rank != Some(*place)) {
        return Err(ImportError::Rank((*path).clone()));
    }
    let mut traces = Vec::new();
    for (_, path) in ordered {
        let read = files::read(path, LARGEST_DATA);
        let bytes = read.map_err(|error| ImportError::Read { path: path.clone(), error })?;
        traces.push((path.to_string_lossy().into_owned(), bytes));
    }
    let groups = files.groups.map(Opened::read).transpose()?;
    let topology = files.topology.map(Opened::read).transpose()?;
    let named: Vec<chakra::NamedBytes<'_>> =
        traces.iter().map(|(name, bytes)| chakra::NamedBytes { name, bytes }).collect();
    let options = chakra::Options { name: &name, flows_file: &flows_file, all_reduce, control };
    let imported =
        chakra::import(&named, groups.as_ref().map(Opened::text), topology.as_ref().map(Opened::text), &options);
    finish(imported, target)
}

/// Files of an InfiniBand fabric.
#[derive(Clone, Copy, Debug)]
pub struct InfinibandFiles<'a> {
    /// Output of ibnetdiscover.
    pub topology: &'a Path,
    /// Forwarding tables of opensm.
    pub lfts: Option<&'a Path>,
    /// Options of opensm.
    pub qos: Option<&'a Path>,
    /// Partitions of opensm.
    pub partitions: Option<&'a Path>,
}

/// Converts an InfiniBand fabric.
///
/// # Errors
/// Fails if a file cannot be read or written, or if something in the files is wrong; then nothing is written.
pub fn import_infiniband(files: &InfinibandFiles<'_>, target: &Target<'_>) -> Result<Imported, ImportError> {
    let (name, _) = target.names()?;
    let topology = Opened::read(files.topology)?;
    let lfts = files.lfts.map(Opened::read).transpose()?;
    let qos = files.qos.map(Opened::read).transpose()?;
    let partitions = files.partitions.map(Opened::read).transpose()?;
    let files = infiniband::Files {
        topology: topology.text(),
        lfts: lfts.as_ref().map(Opened::text),
        qos: qos.as_ref().map(Opened::text),
        partitions: partitions.as_ref().map(Opened::text),
    };
    finish(infiniband::import(&files, &name), target)
}

/// Converts a drawing of a network: Graphviz DOT, node-link JSON or a topology of containerlab.
///
/// # Errors
/// Fails if the file cannot be read or written, or if something in it is wrong; then nothing is written.
pub fn import_drawing(
    file: &Path,
    format: drawing::Format,
    defaults: drawing::Defaults,
    target: &Target<'_>,
) -> Result<Imported, ImportError> {
    let (name, _) = target.names()?;
    let file = Opened::read(file)?;
    finish(drawing::import(file.text(), format, &defaults, &name), target)
}

/// A reader of the one file that a converted scenario names.
struct Beside<'a>(&'a str);

impl FileReader for Beside<'_> {
    fn read(&self, _path: &Path) -> Result<String, String> {
        Ok(self.0.to_owned())
    }
}

/// Checks a converted scenario and writes it with its flows.
pub(crate) fn finish(imported: Result<Imported, Errors>, target: &Target<'_>) -> Result<Imported, ImportError> {
    let wrong = |errors: Errors| ImportError::Input(Box::new(errors));
    let imported = imported.map_err(wrong)?;
    // It is not written yet, and will not be if it is wrong.
    load_str(
        "the converted scenario, which is not written",
        &imported.scenario,
        &[],
        &Beside(&imported.flows),
        Limits::default(),
    )
    .map_err(wrong)?;
    (target.ready)();
    if imported.flows.is_empty() {
        if is_replaced(target.file) && !target.overwrite {
            return Err(ImportError::Exists(target.file.to_owned()));
        }
        let failed = |error| ImportError::Write { path: target.file.to_owned(), error };
        write_given(target.file, &imported.scenario).map_err(failed)?;
        return Ok(imported);
    }
    let flows = target.flows();
    for path in [target.file, &flows] {
        if is_replaced(path) && !target.overwrite {
            return Err(ImportError::Exists(path.to_owned()));
        }
    }
    // Its name was not given: it is not written through a link.
    files::plain(&flows).map_err(|error| ImportError::Write { path: flows.clone(), error })?;
    let had_flows = is_replaced(&flows);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| ImportError::Write { path, error }
    };
    write_file(&flows, &imported.flows).map_err(failed(&flows))?;
    write_given(target.file, &imported.scenario).map_err(|error| {
        if !had_flows {
            // Without its scenario it would be half a result.
            let _ = std::fs::remove_file(&flows);
        }
        failed(target.file)(error)
    })?;
    Ok(imported)
}
