//! A capture file, written during the run.

use super::{Capture, Medium, Record, Synthesizer, Written, medium};
use fabric::record::FrameRow;
use files::output::OutputFile;
use results::ResultsError;
use scenario::Plan;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use wire::pcapng::{self, Interface, LinkType, Resolution};

/// A file of captured frames. It is complete after [`CaptureFile::finish`], and at its final path after the commit.
pub struct CaptureFile<'a> {
    path: PathBuf,
    file: BufWriter<OutputFile>,
    synthesizer: Synthesizer<'a>,
    /// Interface by port.
    interfaces: Vec<Option<u32>>,
    resolution: Resolution,
    octets: Vec<u8>,
    block: Vec<u8>,
    /// Frames written.
    pub frames: u64,
    /// Frames that are longer than simulated because the headers of their format need so many octets.
    pub longer: u64,
    /// The longest of these, in octets.
    pub longest: usize,
}

impl<'a> CaptureFile<'a> {
    /// Creates a file with the links of a capture.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    pub fn create(path: &Path, plan: &'a Plan, capture: &Capture) -> Result<CaptureFile<'a>, ResultsError> {
        let file = OutputFile::create_given(path).map_err(|source| ResultsError::io("create", path, source))?;
        let synthesizer = Synthesizer::new(plan);
        let resolution = Resolution::for_span(plan.run.duration.as_picos());
        let mut interfaces = vec![None; synthesizer.ports.len()];
        let mut block = Vec::new();
        let comment =
            format!("{}, seed {}: simulated; times count from the start of the run", plan.name, plan.run.seed);
        pcapng::section(&mut block, &format!("tailback {}", results::VERSION), &comment);
        let graph = &plan.spec.graph;
        let ends: Vec<_> = graph
            .ports()
            .into_iter()
            .enumerate()
            .flat_map(|(node, ends)| ends.into_iter().map(move |end| (node, end)))
            .collect();
        for (number, direction) in (0u32..).zip(&capture.links) {
            let Some(&(node, end)) = ends.get(direction.port as usize) else { continue };
            let here = fabric::graph::NodeId(node as u32);
            let medium = medium(&plan.spec, here, end.peer);
            let speed = graph.cables[end.cable as usize].link.rate.as_bits_per_sec();
            let interface = Interface {
                link_type: if medium == Medium::Ethernet { LinkType::Ethernet } else { LinkType::Erf },
                name: &direction.name,
                description: "what is sent, at the instant its first bit leaves",
                speed,
                check_length: (medium == Medium::Ethernet).then_some(wire::fcs::LENGTH as u8),
                resolution,
            };
            pcapng::interface(&mut block, &interface);
            interfaces[direction.port as usize] = Some(number);
        }
        let mut capture = CaptureFile {
            path: path.to_owned(),
            file: BufWriter::new(file),
            synthesizer,
            interfaces,
            resolution,
            octets: Vec::new(),
            block,
            frames: 0,
            longer: 0,
            longest: 0,
        };
        capture.put()?;
        Ok(capture)
    }

    /// Writes frames, in the order in which they started.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    pub fn take(&mut self, frames: &[FrameRow]) -> Result<(), ResultsError> {
        for row in frames {
            let Some(interface) = self.interfaces.get(row.port as usize).copied().flatten() else { continue };
            let Some(Written { record, longer }) = self.synthesizer.write(row, &mut self.octets) else { continue };
            let mut comment = String::new();
            if longer {
                self.longer += 1;
                self.longest = self.longest.max(self.octets.len());
                comment = format!("simulated with {} octets, fewer than its headers need", row.frame.len);
            }
            let time = row.time.as_picos();
            if let Record::InfiniBand(kind) = record {
                let header = pcapng::erf(kind, time, self.octets.len() as u16);
                self.octets.splice(0..0, header);
            }
            pcapng::commented_packet(&mut self.block, interface, self.resolution, time, &self.octets, &comment);
            self.frames += 1;
            self.put()?;
        }
        Ok(())
    }

    fn put(&mut self) -> Result<(), ResultsError> {
        let written = self.file.write_all(&self.block);
        self.block.clear();
        written.map_err(|source| ResultsError::io("write", &self.path, source))
    }

    /// Finishes the file, which the caller commits.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    pub fn finish(self) -> Result<(PathBuf, OutputFile), ResultsError> {
        match self.file.into_inner() {
            Ok(file) => Ok((self.path, file)),
            Err(error) => Err(ResultsError::Io { doing: "write", path: self.path, source: error.into_error() }),
        }
    }
}
