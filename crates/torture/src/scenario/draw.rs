//! Values of keys: by kind for any key, by path for those whose values must fit the rest of the scenario.

use super::tree::quoted;
use super::world::World;
use crate::random::Random;
use scenario::format::{Default, Key, Kind, NONE};

/// A value as it is written, and the names that it chooses.
pub type Drawn = (String, Vec<String>);

/// A value of a key that is no table.
pub fn value(path: &str, key: &Key, world: &mut World, random: &mut Random) -> Drawn {
    let wanted = world.wanted.get(path).filter(|values| !values.is_empty()).cloned();
    if let Some(values) = &wanted {
        let value = random.of(values).clone();
        let text = if matches!(key.kind, Kind::Choices(_)) { format!("[{}]", quoted(&value)) } else { quoted(&value) };
        return (text, vec![value]);
    }
    if key.takes_none() && !world.wanted.contains_key(path) && random.percent(4) {
        return (quoted(NONE), vec![NONE.into()]);
    }
    if let Some(text) = super::hints::value(path, world, random) {
        let chosen = if key.kind.is_choice() { vec![text.trim_matches('"').to_owned()] } else { Vec::new() };
        return (text, chosen);
    }
    by_kind(key, world, random)
}

fn names(choices: &[(String, String)]) -> Vec<String> {
    choices.iter().map(|(name, _)| name.clone()).collect()
}

fn by_kind(key: &Key, world: &World, random: &mut Random) -> Drawn {
    let plain = |text: String| (text, Vec::new());
    match &key.kind {
        Kind::Time(_) => plain(time(world, random)),
        Kind::TimeOr(choices) | Kind::PercentOr(choices) if random.percent(60) => chosen(random.of(&names(choices))),
        Kind::TimeOr(_) => plain(time(world, random)),
        Kind::PercentOr(_) => plain(format!("\"{}%\"", random.of(&[10, 25, 50, 100]))),
        Kind::Rate(least, most) => {
            let rates =
                [1_000_000, 50_000_000, 400_000_000, 1_000_000_000, 5_000_000_000, 10_000_000_000, 40_000_000_000];
            let rate: u64 = *random.of(&rates);
            plain(format!("\"{}b/s\"", rate.clamp(least.as_bits_per_sec(), most.as_bits_per_sec())))
        }
        Kind::Size(least, most) => {
            plain(format!("\"{}B\"", random.scaled(least.get(), most.get().min(200_000).max(least.get()))))
        }
        Kind::Count(least, most) => plain(random.scaled(*least, (*most).min(least + 30)).to_string()),
        Kind::Number(least, most) => {
            let top = most.min(least + *random.of(&[1.0, 4.0, 1000.0]));
            let part = *random.of(&[0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0]);
            plain(format!("{:?}", least + (top - least) * part))
        }
        Kind::Ratio => plain(random.of(&["1", "2", "\"1/2\"", "\"3/2\"", "\"1/16\""]).to_string()),
        Kind::Flag => plain(random.percent(50).to_string()),
        Kind::Text => plain(quoted(random.of(&["words", "=1+1", "a, \"b\"; c", "\u{fc}n\u{ef}cod\u{e9} \u{2192}"]))),
        Kind::File => plain(quoted("nowhere.toml")),
        Kind::Choice(choices) => chosen(random.of(&names(choices))),
        Kind::Choices(choices) => {
            let some = random.some(&names(choices));
            let list: Vec<String> = some.iter().map(quoted).collect();
            (format!("[{}]", list.join(", ")), some)
        }
        Kind::Names => plain(quoted("*")),
        Kind::Counts(least, most) => {
            let list: Vec<String> =
                (0..1 + random.below(3)).map(|_| random.scaled(*least, (*most).min(least + 3)).to_string()).collect();
            plain(format!("[{}]", list.join(", ")))
        }
        Kind::Pair => plain(pair(world, random)),
        Kind::Pairs => plain(format!("[{}]", pair(world, random))),
        Kind::Interval => {
            let from = random.below(world.duration);
            let until = from + 1 + random.below(world.duration - from);
            plain(format!("[\"{from}ns\", \"{until}ns\"]"))
        }
        Kind::Any => {
            plain(random.of(&["1", "0.5", "\"1Gb/s\"", "\"10KB\"", "\"5us\"", "\"finished\"", "[1, 2]"]).to_string())
        }
        Kind::Table(_) | Kind::Tables(_) => plain("{}".into()),
    }
}

fn chosen(name: impl AsRef<str>) -> Drawn {
    (quoted(&name), vec![name.as_ref().to_owned()])
}

/// A time up to the length of the run, in quotes.
pub fn time(world: &World, random: &mut Random) -> String {
    match random.below(12) {
        0 => "\"0s\"".into(),
        1 => "\"1ps\"".into(),
        2..6 => format!("\"{}ns\"", random.scaled(1, world.duration)),
        _ => format!("\"{}ns\"", random.below(world.duration.max(1))),
    }
}

/// The two ends of a cable.
pub fn pair(world: &World, random: &mut Random) -> String {
    match world.cables.len() {
        0 => "[\"*\", \"*\"]".into(),
        count => {
            let (a, b) = &world.cables[random.index(count)];
            if random.percent(15) {
                format!("[{}, \"*\"]", quoted(a))
            } else {
                format!("[{}, {}]", quoted(a), quoted(b))
            }
        }
    }
}

/// One or several of these names, or a wildcard.
pub fn some_names(all: &[String], random: &mut Random) -> String {
    if all.is_empty() || random.percent(25) {
        return quoted("*");
    }
    let some = random.some(all);
    let list: Vec<String> = some.iter().map(quoted).collect();
    if let [one] = &list[..] { one.clone() } else { format!("[{}]", list.join(", ")) }
}

/// Whether a key is given that may be left out.
pub fn given(path: &str, key: &Key, world: &World, random: &mut Random) -> bool {
    if world.wanted.contains_key(path) {
        return true;
    }
    if let Some(given) = super::hints::given(path, world, random) {
        return given;
    }
    match key.default {
        Default::Required => true,
        Default::Nested(_) => random.percent(60),
        _ => random.percent(world.density),
    }
}
