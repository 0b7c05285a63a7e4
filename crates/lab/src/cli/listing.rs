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
    let mut text = console::table(&["protocol", "what it does"], &rows);
    // The schema is made from the one table of keys; what it says of [protocol] is all there is to set.
    let schema = lab::scenario::schema();
    let keys = schema["properties"]["protocol"]["properties"].as_object();
    let parameters = keys.into_iter().flatten().filter(|(key, _)| *key != "name");
    let rows: Vec<Vec<String>> = parameters
        .map(|(key, about)| vec![key.clone(), about["description"].as_str().unwrap_or_default().to_owned()])
        .collect();
    text.push('\n');
    text.push_str(&console::table(&["parameter", "what it means"], &rows));
    text.push_str("\nWrite [protocol] with name = \"NAME\" and the parameters.\n");
    console::print(&text);
    Exit::Success
}

/// `tailback topologies`
pub fn topologies() -> Exit {
    let mut text = String::new();
    for topology in TOPOLOGIES {
        // Names as scenarios write them. Cables to hosts are `link` there, the others `trunk`.
        text.push_str(&format!("{}: {}\n", topology.name.replace('_', "-"), topology.summary));
        let parameters = topology.parameters.iter().map(|p| {
            let value = if p.default.contains(',') { format!("[{}]", p.default) } else { p.default.to_owned() };
            (format!("{} = {value}", p.name), p.meaning)
        });
        let key = |place| if place == 0 { "link" } else { "trunk" };
        let links = topology.links.iter().enumerate().map(|(place, link)| (key(place).to_owned(), link.meaning));
        for (key, meaning) in parameters.chain(links) {
            text.push_str(&format!("    {key:<22}  {meaning}\n"));
        }
        text.push('\n');
    }
    text.push_str("Write [network] with topology = \"NAME\", the numbers, and link = { rate = ..., latency = ... }.\n");
    console::print(&text);
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
            console::error(&format!("{} is there already\n  name another file: tailback init FILE", path.display()));
            Exit::BadInput
        }
        Err(error) => {
            console::error(&format!(
                "cannot write {}: {error}\n  name a file in a folder that is there",
                path.display()
            ));
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
