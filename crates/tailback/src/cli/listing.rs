//! What there is: protocols, topologies, schema, reference, tables, a file to start from, completions.

use super::arguments::{Arguments, Completions, Init, Protocols};
use super::console;
use super::exit::Exit;
use clap::CommandFactory;
use congestion::parameter::{Parameter, ParameterDefault, ParameterKind, Preset};
use congestion::{POINTS, PROTOCOLS};
use fabric::topology::TOPOLOGIES;
use scenario::near_name;

/// The commented scenarios that `init` writes: name and content. The first is the default.
const TEMPLATES: [(&str, &str); 5] = [
    ("starter", include_str!("templates/starter.toml")),
    ("incast", include_str!("templates/incast.toml")),
    ("infiniband-hotspot", include_str!("templates/infiniband-hotspot.toml")),
    ("ring-allreduce", include_str!("templates/ring-allreduce.toml")),
    ("roce-websearch", include_str!("templates/roce-websearch.toml")),
];

/// The names of the templates.
pub const TEMPLATE_NAMES: [&str; TEMPLATES.len()] = {
    let mut names = [""; TEMPLATES.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = TEMPLATES[place].0;
        place += 1;
    }
    names
};

/// `tailback protocols`
pub fn protocols(arguments: &Protocols) -> Exit {
    let sources = PROTOCOLS.iter().map(|info| (info.name, info.summary, (info.parameters, info.presets), "[protocol]"));
    let points =
        POINTS.iter().map(|info| (info.name, info.summary, (info.parameters, info.presets), "[congestion_point]"));
    let Some(name) = &arguments.name else {
        let rows = |all: &mut dyn Iterator<Item = Entry>| -> Vec<Vec<String>> {
            all.map(|(name, summary, ..)| vec![name.to_owned(), summary.to_owned()]).collect()
        };
        let mut text = console::table(&["protocol", "behaviour of sources"], &rows(&mut sources.into_iter()));
        text.push('\n');
        text.push_str(&console::table(&["congestion point", "behaviour of switches"], &rows(&mut points.into_iter())));
        text.push_str("\n'tailback protocols NAME' lists the parameters of one.\n");
        console::print(&text);
        return Exit::Success;
    };
    let mut text = String::new();
    for (known, summary, parameters, section) in sources.clone().chain(points.clone()) {
        if known == name {
            text.push_str(&parameter_table(known, summary, parameters, section));
        }
    }
    if text.is_empty() {
        let names = sources.chain(points).map(|(known, ..)| known);
        let near = near_name(name, names).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
        let hint = format!("{near}'tailback protocols' lists all of them");
        console::error(&format!("there is no protocol or congestion point `{name}`\n  {hint}"));
        return Exit::BadInput;
    }
    console::print(&text);
    Exit::Success
}

/// A protocol or congestion point: name, summary, parameters, and the section that holds them.
type Entry = (&'static str, &'static str, Tables, &'static str);

/// Parameters and presets.
type Tables = (&'static [Parameter], &'static [Preset]);

fn parameter_table(name: &str, summary: &str, (parameters, presets): Tables, section: &str) -> String {
    let row = |parameter: &Parameter| {
        let (default, source) = match parameter.default {
            ParameterDefault::Value(value, source) => (value, source),
            ParameterDefault::Absent(meaning) => ("", meaning),
        };
        let values = match parameter.kind {
            ParameterKind::Choice(names) => {
                let one = |(name, meaning): &(&str, &str)| format!(" {name}: {meaning};");
                names.iter().map(one).collect::<String>().trim_end_matches(';').to_owned()
            }
            _ => String::new(),
        };
        let meaning =
            if values.is_empty() { parameter.meaning.to_owned() } else { format!("{}{values}.", parameter.meaning) };
        vec![parameter.name.to_owned(), default.to_owned(), meaning, source.to_owned()]
    };
    let rows: Vec<Vec<String>> = parameters.iter().map(row).collect();
    let table = console::table(&["parameter", "default", "meaning", "source of the default"], &rows);
    let mut text = format!("{section} name = \"{name}\": {summary}\n\n{table}\n");
    for preset in presets {
        text.push_str(&format!("preset = \"{}\": {}\n", preset.name, preset.meaning));
        for (name, value, source) in preset.values {
            text.push_str(&format!("    {name} = {value}  ({source})\n"));
        }
    }
    if !presets.is_empty() {
        text.push('\n');
    }
    text
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
    text.push_str("Write a section [network] with topology = \"NAME\", its parameters, and link = { rate = ..., latency = ... }.\n");
    console::print(&text);
    Exit::Success
}

/// `tailback schema`
pub fn schema() -> Exit {
    console::print(&format!("{:#}\n", scenario::schema()));
    Exit::Success
}

/// `tailback reference`
pub fn reference() -> Exit {
    console::print(&scenario::reference());
    Exit::Success
}

/// `tailback tables`
pub fn tables() -> Exit {
    console::print(&results::reference());
    Exit::Success
}

/// `tailback init`
pub fn init(arguments: &Init) -> Exit {
    let path = &arguments.file;
    let template = TEMPLATES.iter().find(|(name, _)| *name == arguments.template).unwrap_or(&TEMPLATES[0]);
    let written = match std::fs::symlink_metadata(path) {
        Ok(_) => Err(std::io::ErrorKind::AlreadyExists.into()),
        Err(_) => files::output::write_given(path, template.1),
    };
    match written {
        Ok(()) => {
            console::note(&format!("wrote {0}; run it with: tailback run {0} --plot", path.display()));
            Exit::Success
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            console::error(&format!("{} already exists\n  name another file: tailback init FILE", path.display()));
            Exit::BadInput
        }
        Err(error) => {
            console::error(&format!(
                "cannot write {}: {error}\n  name a file in an existing directory",
                path.display()
            ));
            Exit::of_io(&error)
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
