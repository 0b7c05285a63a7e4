//! `routes`: what a routing makes of a network, and its tables for other programs.

use super::arguments::{Format, Routes as Arguments};
use super::check::load_or_say;
use super::console;
use super::deadline;
use super::exit::Exit;
use discovery::spb::{self, Databases, Input, Service};
use discovery::subnet::{File, Subnet};
use fabric::graph::Graph;
use fabric::routing::{Bridges, Routing, Survey};
use scenario::Plan;
use serde_json::json;
use units::grouped;

/// `tailback routes`
pub fn routes(arguments: &Arguments) -> Exit {
    if let Err(exit) = deadline::start(arguments.limit.time_limit) {
        return exit;
    }
    let plan = match load_or_say(&arguments.scenario) {
        Ok(plan) => plan,
        Err(exit) => return exit,
    };
    let spec = &plan.spec;
    if let Some(format) = arguments.format {
        let text = match file(format) {
            Ok(file) => Subnet::new(&spec.graph, &spec.routes, &plan.subnet, arguments.tree)
                .map(|subnet| exported(&subnet, file)),
            Err(maker) => filtering(&plan, maker, arguments.tree),
        };
        deadline::running();
        return match text {
            Ok(text) => {
                console::print(&text);
                Exit::Success
            }
            Err(reason) => {
                console::error(&reason);
                Exit::BadInput
            }
        };
    }
    let (survey, can_deadlock) = study::survey_routes(&plan);
    deadline::running();
    if arguments.json {
        console::print(&format!("{:#}\n", json!(study::routes_record(&survey, can_deadlock))));
    } else {
        console::print(&as_text(&survey, can_deadlock));
    }
    Exit::Success
}

/// A file of a subnet. Rates that no InfiniBand link has are reported.
fn exported(subnet: &Subnet<'_>, file: File) -> String {
    if matches!(file, File::Ibnetdiscover | File::Subnet) {
        for (rate, nearest) in subnet.approximated() {
            console::note(&format!("no InfiniBand link has {rate}; {nearest} ({}) is written", nearest.rate()));
        }
    }
    subnet.file(file)
}

/// What makes the filtering databases of a tree.
type Maker = fn(&Graph, &Bridges, u8, &[Service]) -> Result<Databases, String>;

fn filtering(plan: &Plan, maker: Maker, tree: u8) -> Result<String, String> {
    let Some(Routing::Spb { bridges, trees }) = &plan.routing else {
        return Err("only shortest path bridging has filtering databases; add --set network.routing=spb".into());
    };
    if tree >= *trees {
        return Err(format!("there is no tree {tree}; there are {trees}, numbered from 0"));
    }
    let graph = &plan.spec.graph;
    let databases = maker(graph, bridges, tree, &plan.services)?;
    let row = |name: &str, entry: &spb::Entry| {
        let input = match entry.input {
            Input::Any => "any".to_owned(),
            Input::Own => "own".to_owned(),
            Input::Port(port) => port.to_string(),
        };
        let address = entry.address.map_or("any".to_owned(), |address| address.to_string());
        let outputs: Vec<String> = entry.outputs.iter().map(u16::to_string).collect();
        let kind = if entry.group { "group" } else { "one" };
        vec![name.to_owned(), kind.into(), input, address, entry.vlan.to_string(), outputs.join(" ")]
    };
    let rows: Vec<Vec<String>> = databases
        .iter()
        .flat_map(|(node, entries)| {
            let name = graph.nodes[node.0 as usize].name.as_str();
            entries.iter().map(move |entry| row(name, entry))
        })
        .collect();
    Ok(console::table(&["bridge", "for", "from port", "address", "VLAN", "to ports"], &rows))
}

/// The file of a subnet manager that is asked for, or what makes the filtering databases that are.
fn file(format: Format) -> Result<File, Maker> {
    Ok(match format {
        Format::Ibnetdiscover => File::Ibnetdiscover,
        Format::Subnet => File::Subnet,
        Format::Fdbs => File::Fdbs,
        Format::Lfts => File::Lfts,
        Format::Guid2lid => File::Guid2lid,
        Format::PathSl => File::PathSl,
        Format::Sl2vl => File::Sl2vl,
        Format::Spbm => return Err(spb::spbm),
        Format::Spbv => return Err(spb::spbv),
    })
}

fn as_text(survey: &Survey, circle: bool) -> String {
    let lines = [
        ("pairs of hosts on different switches", grouped(survey.pairs)),
        ("pairs without a path", grouped(survey.unreached)),
        ("links between switches", grouped(survey.trunks.into())),
        ("links in use", grouped(survey.used.into())),
        ("hops between switches, mean", format!("{:.4}", survey.hops)),
        ("hops on shortest paths, mean", format!("{:.4}", survey.shortest)),
        ("path length / shortest, mean", format!("{:.4}", study::mean_stretch(survey))),
        ("path length / shortest, worst pair", format!("{:.4}", survey.stretch)),
        ("hops on the longest path", survey.longest.to_string()),
        ("pairs per link direction, mean", format!("{:.2}", survey.load.0)),
        ("pairs per link direction, max", format!("{:.2}", survey.load.1)),
        ("trees", survey.trees.to_string()),
        ("virtual lanes", survey.lanes.to_string()),
        ("lossless traffic can deadlock", if circle { "yes".into() } else { "no".into() }),
    ];
    lines.iter().map(|(what, value)| format!("{what:<42}{value}\n")).collect()
}
