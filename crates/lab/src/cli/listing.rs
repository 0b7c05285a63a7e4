//! What there is: protocols, topologies, schema, reference, tables, a file to start from, completions.

use super::arguments::{Arguments, Completions, Init};
use super::console;
use super::exit::Exit;
use clap::CommandFactory;
use fabric::topology::TOPOLOGIES;
use std::io::Write;

/// The commented scenario that `init` writes.
const STARTER: &str = include_str!("../../../../scenarios/starter.toml");

/// `tailback protocols`
pub fn protocols() -> Exit {
    let rows: Vec<Vec<String>> =
        congestion::PROTOCOLS.iter().map(|info| vec![info.name.into(), info.summary.into()]).collect();
    console::print(&console::table(&["protocol", "what it does"], &rows));
    Exit::Success
}

/// `tailback topologies`
pub fn topologies() -> Exit {
    for topology in TOPOLOGIES {
        let mut text = format!("{}: {}\n", topology.name, topology.summary);
        for parameter in topology.parameters {
            text.push_str(&format!("    {} = {}: {}\n", parameter.name, parameter.default, parameter.meaning));
        }
        for link in topology.links {
            text.push_str(&format!("    {}: {}\n", link.name, link.meaning));
        }
        console::print(&text);
    }
    Exit::Success
}

/// `tailback schema`
pub fn schema() -> Exit {
    console::print(&format!("{:#}\n", lab::scenario::schema()));
    Exit::Success
}

/// `tailback reference`
pub fn reference() -> Exit {
    console::print(&lab::scenario::reference());
    Exit::Success
}

/// `tailback tables`
pub fn tables() -> Exit {
    console::print(&lab::results::reference());
    Exit::Success
}

/// `tailback init`
pub fn init(arguments: &Init) -> Exit {
    let path = &arguments.file;
    let written = std::fs::File::create_new(path).and_then(|mut file| file.write_all(STARTER.as_bytes()));
    match written {
        Ok(()) => {
            console::note(&format!("wrote {0}; run it with: tailback run {0} --plot", path.display()));
            Exit::Success
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            console::error(&format!("{} is there already; name another file", path.display()));
            Exit::BadInput
        }
        Err(error) => {
            console::error(&format!("cannot write {}: {error}", path.display()));
            Exit::Failure
        }
    }
}

/// `tailback completions`
pub fn completions(arguments: &Completions) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "tailback", &mut text);
    console::print(&String::from_utf8_lossy(&text));
    Exit::Success
}
