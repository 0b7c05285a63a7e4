//! A short example for each section of the reference page. The tests load every one of them, so that none can go stale.

mod devices;
mod network;
mod study;
mod traffic;

/// Lists of examples, each with the path of its section.
pub(crate) type Examples = &'static [&'static [(&'static str, &'static str)]];

/// Examples of the sections of a scenario. Each is a part of a scenario, unless it states `schema_version`.
pub(crate) const SCENARIO: Examples = &[network::SCENARIO, devices::SCENARIO, traffic::SCENARIO, study::SCENARIO];

/// Examples of the sections of `paper.toml`.
pub(crate) const PAPER: Examples = &[study::PAPER];

#[cfg(test)]
mod tests {
    use super::super::{paper::paper, root};
    use super::*;
    use crate::key::{Kind, Section};
    use crate::paper::read_paper;
    use crate::source::FileReader;
    use crate::{Limits, load_str};
    use std::path::Path;

    /// The rest of the scenario that an example is a part of.
    const REST: &str = r#"
        schema_version = 1
        [[switches]]
        buffers = { capacity = "200KB" }
        [[workloads]]
        name = "incast"
        kind = "incast"
        from = "h{1..3}"
        to = "h0"
        [run]
        duration = "1ms"
    "#;
    const NETWORK: &str = r#"
        [network]
        topology = "leaf-spine"
        link = { rate = "10Gb/s", latency = "500ns" }
    "#;

    /// Holds the file that examples change.
    struct Base(String);

    impl FileReader for Base {
        fn read(&self, _path: &Path) -> Result<String, String> {
            Ok(self.0.clone())
        }
    }

    fn walk(section: &Section, path: &str, see: &mut impl FnMut(&str)) {
        see(path);
        for key in &section.keys {
            if let Kind::Table(inner) | Kind::Tables(inner) = &key.kind {
                let inner_path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
                walk(inner, &inner_path, see);
            }
        }
    }

    #[test]
    fn every_example_of_a_scenario_loads() {
        let mut wrong = Vec::new();
        for (path, example) in SCENARIO.concat() {
            let (text, base) = if example.starts_with("schema_version") {
                (example.to_owned(), String::new())
            } else {
                let network = if example.contains("nodes = [") { "" } else { NETWORK };
                (format!("schema_version = 1\nbase = \"base.toml\"\n{example}"), format!("{REST}{network}"))
            };
            if let Err(errors) = load_str("example.toml", &text, &[], &Base(base), Limits::default()) {
                wrong.push(format!("the example of [{path}]: {errors}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_example_of_a_paper_loads() {
        for (path, example) in PAPER.concat() {
            let text = if path.is_empty() { example.to_owned() } else { format!("title = \"A paper\"\n{example}") };
            read_paper("paper.toml".into(), text).unwrap_or_else(|errors| panic!("the example of [{path}]: {errors}"));
        }
    }

    #[test]
    fn every_example_has_its_section() {
        for (section, examples) in [(root(), SCENARIO), (paper(), PAPER)] {
            let mut paths = Vec::new();
            walk(section, "", &mut |path| paths.push(path.to_owned()));
            for (path, _) in examples.concat() {
                assert!(paths.iter().any(|known| known == path), "there is no section [{path}]");
            }
        }
    }
}
