//! Parsing of one value, from TOML or from the text of a default, by the kind of its key.

use super::key::{Kind, near};
use super::problem::Problem;
use super::resolve::Node;
use super::source::Place;
use super::tree::{Data, Item};
use std::fmt;
use units::{Bytes, Rate, Span};

/// A typed value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Time(Span),
    Rate(Rate),
    Size(Bytes),
    Count(u64),
    Number(f64),
    Ratio((u32, u32)),
    Flag(bool),
    Text(String),
    Counts(Vec<(u64, Place)>),
    Names(Vec<(String, Place)>),
    Pairs(Vec<[(String, Place); 2]>),
    Interval([(Span, Place); 2]),
    Table(Box<Node>),
    Tables(Vec<Node>),
    Any(Item),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: Vec<String>| write!(f, "[{}]", parts.join(", "));
        match self {
            Value::Time(span) => write!(f, "\"{span}\""),
            Value::Rate(rate) => write!(f, "\"{rate}\""),
            Value::Size(size) => write!(f, "\"{size}\""),
            Value::Count(count) => count.fmt(f),
            Value::Number(number) => write!(f, "{number:?}"),
            Value::Ratio((numerator, 1)) => numerator.fmt(f),
            Value::Ratio((numerator, denominator)) => write!(f, "\"{numerator}/{denominator}\""),
            Value::Flag(flag) => flag.fmt(f),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Counts(counts) => list(f, counts.iter().map(|(count, _)| count.to_string()).collect()),
            Value::Names(names) if names.len() == 1 => write!(f, "{:?}", names[0].0),
            Value::Names(names) => list(f, names.iter().map(|(name, _)| format!("{name:?}")).collect()),
            Value::Pairs(pairs) => list(f, pairs.iter().map(|[(a, _), (b, _)]| format!("[{a:?}, {b:?}]")).collect()),
            Value::Interval([(from, _), (until, _)]) => write!(f, "[\"{from}\", \"{until}\"]"),
            Value::Table(_) | Value::Tables(_) => f.write_str("..."),
            Value::Any(item) => f.write_str(&written(item)),
        }
    }
}

/// Formats a value as TOML on one line.
pub(crate) fn written(item: &Item) -> String {
    match &item.data {
        Data::Text(text) => format!("{text:?}"),
        Data::Integer(integer) => integer.to_string(),
        Data::Float(float) => format!("{float:?}"),
        Data::Bool(flag) => flag.to_string(),
        Data::List(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        Data::Table(table) => {
            let entries = table.entries.iter().map(|(name, entry)| format!("{name} = {}", written(&entry.item)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        Data::Other(name) => (*name).to_owned(),
    }
}

/// Parses a value that is not a table.
pub(crate) fn read(kind: &Kind, item: &Item) -> Result<Value, Vec<Problem>> {
    let alone = |result: Result<Value, Problem>| result.map_err(|problem| vec![problem]);
    match kind {
        Kind::Names => names(item).map(Value::Names),
        Kind::Choices(choices) => {
            let names = names(item)?;
            let wrong: Vec<Problem> = names.iter().filter_map(|(name, at)| choose(choices, name, *at).err()).collect();
            if wrong.is_empty() { Ok(Value::Names(names)) } else { Err(wrong) }
        }
        Kind::Counts(least, most) => {
            let items = items(kind, item)?;
            let counts: Vec<_> = items.iter().map(|item| count(kind, item, *least, *most)).collect();
            split(counts).map(|counts| {
                Value::Counts(counts.into_iter().zip(items).map(|(count, item)| (count, item.place)).collect())
            })
        }
        Kind::Pair => pair(kind, item).map(|pair| Value::Pairs(vec![pair])),
        Kind::Pairs => {
            let pairs = items(kind, item)?.iter().map(|item| pair(&Kind::Pair, item)).collect::<Result<_, _>>()?;
            Ok(Value::Pairs(pairs))
        }
        Kind::Interval => interval(kind, item).map(Value::Interval),
        _ => alone(scalar(kind, item)),
    }
}

fn interval(kind: &Kind, item: &Item) -> Result<[(Span, Place); 2], Vec<Problem>> {
    let time = |item: &Item| match scalar(&Kind::time(), item) {
        Ok(Value::Time(time)) => Ok((time, item.place)),
        Ok(_) => Err(Problem::new(item.place, "expected a time", format!("write {}", kind.describe()))),
        Err(problem) => Err(problem),
    };
    match items(kind, item)? {
        [from, until] => split(vec![time(from), time(until)])?.try_into().map_err(|_| Vec::new()),
        items => {
            let message = format!("a window has a beginning and an end, but this list has {} entries", items.len());
            Err(vec![Problem::new(item.place, message, format!("write {}", kind.describe()))])
        }
    }
}

fn scalar(kind: &Kind, item: &Item) -> Result<Value, Problem> {
    let place = item.place;
    match (kind, &item.data) {
        (Kind::Time(_) | Kind::Rate(..) | Kind::Size(..), Data::Text(text)) => quantity(kind, text, place),
        (Kind::TimeOr(choices), Data::Text(text)) => match choose(choices, text, place) {
            Ok(()) => Ok(Value::Text(text.clone())),
            // A time begins with a digit; anything else was meant as a name.
            Err(problem) if !text.starts_with(|c: char| c.is_ascii_digit()) => Err(problem),
            Err(_) => quantity(&Kind::time(), text, place),
        },
        (Kind::PercentOr(choices), Data::Text(text)) => match choose(choices, text, place) {
            Ok(()) => Ok(Value::Text(text.clone())),
            Err(problem) if !text.starts_with(|c: char| c.is_ascii_digit()) => Err(problem),
            Err(_) => match percent(text) {
                Some(percent) => Ok(Value::Text(format!("{percent}%"))),
                None => {
                    let help = "give a whole percentage from 1% to 100% (IEEE 802.1Qaz)";
                    Err(Problem::new(place, format!("{text:?} is not a percentage"), help))
                }
            },
        },
        (Kind::Count(least, most), _) => count(kind, item, *least, *most).map(Value::Count),
        (Kind::Number(least, most), Data::Float(_) | Data::Integer(_)) => {
            let number = match item.data {
                Data::Float(float) => float,
                Data::Integer(integer) => integer as f64,
                _ => f64::NAN,
            };
            // A range, not two comparisons: it also refuses NaN.
            if (*least..=*most).contains(&number) {
                Ok(Value::Number(number))
            } else {
                Err(Problem::new(place, format!("{number} is out of range"), format!("give {}", kind.describe())))
            }
        }
        (Kind::Ratio, Data::Integer(integer)) => ratio(&integer.to_string(), place),
        (Kind::Ratio, Data::Text(text)) => ratio(text, place),
        (Kind::Flag, Data::Bool(flag)) => Ok(Value::Flag(*flag)),
        (Kind::Text | Kind::File, Data::Text(text)) => {
            if text.is_empty() || text.len() > 10_000 || text.contains('\0') {
                return Err(Problem::new(place, "the text is empty or too long", format!("give {}", kind.describe())));
            }
            Ok(Value::Text(text.clone()))
        }
        (Kind::Choice(choices), Data::Text(text)) => choose(choices, text, place).map(|()| Value::Text(text.clone())),
        (Kind::Any, _) => Ok(Value::Any(item.clone())),
        (kind, data) => {
            let help = match (kind, data) {
                (
                    Kind::Time(_) | Kind::TimeOr(_) | Kind::PercentOr(_) | Kind::Rate(..) | Kind::Size(..),
                    Data::Integer(_) | Data::Float(_),
                ) => {
                    format!("the unit is missing; write {}", kind.describe())
                }
                _ => format!("write {}", kind.describe()),
            };
            Err(Problem::new(place, format!("expected {}, found {}", kind.expected(), data.describe()), help))
        }
    }
}

fn quantity(kind: &Kind, text: &str, place: Place) -> Result<Value, Problem> {
    let unread = |error: units::ParseError| {
        // The units crate says what is wrong and, after the first clause, what to do.
        let message = error.to_string();
        match message.split_once("; ") {
            Some((wrong, remedy)) => Problem::new(place, wrong, remedy),
            None => Problem::new(place, message, ""),
        }
    };
    let range = |what: String, remedy: String| Err(Problem::new(place, what, remedy));
    match kind {
        Kind::Time(most) => {
            let time: Span = text.parse().map_err(unread)?;
            if time > *most {
                return range(format!("{time} is too long"), format!("give at most {most}"));
            }
            Ok(Value::Time(time))
        }
        Kind::Rate(least, most) => {
            let rate: Rate = text.parse().map_err(unread)?;
            if rate < *least || rate > *most {
                return range(format!("{rate} is out of range"), format!("give a rate from {least} to {most}"));
            }
            Ok(Value::Rate(rate))
        }
        Kind::Size(least, most) => {
            let size: Bytes = text.parse().map_err(unread)?;
            if size < *least || size > *most {
                return range(format!("{size} is out of range"), format!("give a size from {least} to {most}"));
            }
            Ok(Value::Size(size))
        }
        _ => range("this is not a quantity".into(), String::new()),
    }
}

fn count(kind: &Kind, item: &Item, least: u64, most: u64) -> Result<u64, Problem> {
    let help = || format!("give {}", kind.describe());
    match item.data {
        Data::Integer(integer) => match u64::try_from(integer) {
            Ok(count) if (least..=most).contains(&count) => Ok(count),
            _ => Err(Problem::new(item.place, format!("{integer} is out of range"), help())),
        },
        _ => Err(Problem::new(item.place, format!("expected a whole number, found {}", item.data.describe()), help())),
    }
}

/// Parses a whole percentage from 1 to 100: `40%` or `40 %`.
pub(crate) fn percent(text: &str) -> Option<u8> {
    text.trim().strip_suffix('%')?.trim_end().parse().ok().filter(|percent| (1..=100).contains(percent))
}

fn ratio(text: &str, place: Place) -> Result<Value, Problem> {
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    let part = |text: &str| text.trim().parse::<u32>().ok().filter(|part| (1..=1_000_000).contains(part));
    match (part(numerator), part(denominator)) {
        (Some(numerator), Some(denominator)) => Ok(Value::Ratio((numerator, denominator))),
        _ => {
            let help = format!("write {}, both parts from 1 to 1000000", Kind::Ratio.describe());
            Err(Problem::new(place, format!("{text:?} is not a ratio"), help))
        }
    }
}

fn choose(choices: &[(String, String)], text: &str, place: Place) -> Result<(), Problem> {
    if choices.iter().any(|(name, _)| name == text) {
        return Ok(());
    }
    let names = || choices.iter().map(|(name, _)| name.as_str());
    let help = match near(text, names()) {
        Some(like) => format!("did you mean \"{like}\"?"),
        None => format!("choose one of {}", names().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")),
    };
    let shown: String = text.chars().take(60).collect();
    Err(Problem::new(place, format!("unknown value \"{shown}\""), help))
}

fn items<'a>(kind: &Kind, item: &'a Item) -> Result<&'a [Item], Vec<Problem>> {
    match &item.data {
        Data::List(items) => Ok(items),
        data => {
            let message = format!("expected a list, found {}", data.describe());
            Err(vec![Problem::new(item.place, message, format!("write {}", kind.describe()))])
        }
    }
}

fn split<T>(results: Vec<Result<T, Problem>>) -> Result<Vec<T>, Vec<Problem>> {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => good.push(value),
            Err(problem) => bad.push(problem),
        }
    }
    if bad.is_empty() { Ok(good) } else { Err(bad) }
}

/// Parses one name or a list of names.
fn names(item: &Item) -> Result<Vec<(String, Place)>, Vec<Problem>> {
    let items = match &item.data {
        Data::List(items) if items.is_empty() => {
            return Err(vec![Problem::new(item.place, "the list of names is empty", "name at least one")]);
        }
        Data::List(items) => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    split(items.iter().map(name).collect())
}

fn name(item: &Item) -> Result<(String, Place), Problem> {
    match &item.data {
        Data::Text(text) if !text.is_empty() && text.len() <= 200 => Ok((text.clone(), item.place)),
        Data::Text(_) => {
            Err(Problem::new(item.place, "the name is empty or has more than 200 characters", "give a shorter name"))
        }
        data => {
            let message = format!("expected a name, found {}", data.describe());
            Err(Problem::new(item.place, message, format!("write {}", Kind::Names.describe())))
        }
    }
}

fn pair(kind: &Kind, item: &Item) -> Result<[(String, Place); 2], Vec<Problem>> {
    match items(kind, item)? {
        [a, b] => match split(vec![name(a), name(b)])?.try_into() {
            Ok(pair) => Ok(pair),
            Err(_) => Err(Vec::new()),
        },
        items => {
            let message = format!("a link has two ends, but this list has {} entries", items.len());
            Err(vec![Problem::new(item.place, message, format!("write {}", kind.describe()))])
        }
    }
}

/// Parses the text of a default; lists are separated by commas.
pub(crate) fn read_default(kind: &Kind, text: &str) -> Option<Value> {
    let place = Place { source: u32::MAX, start: 0, end: 0 };
    let of = |data| Item { data, place };
    let data = match kind {
        Kind::Count(..) => Data::Integer(text.parse().ok()?),
        Kind::Number(..) => Data::Float(text.parse().ok()?),
        Kind::Flag => Data::Bool(text.parse().ok()?),
        Kind::Counts(..) => {
            let parts = text.split(',').map(|part| part.trim().parse().ok().map(|count| of(Data::Integer(count))));
            Data::List(parts.collect::<Option<_>>()?)
        }
        Kind::Choices(_) => Data::List(text.split(',').map(|part| of(Data::Text(part.trim().into()))).collect()),
        _ => Data::Text(text.into()),
    };
    read(kind, &of(data)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str) -> Item {
        super::super::tree::parse_value(0, text, 0).unwrap()
    }

    fn wrong(kind: &Kind, text: &str) -> String {
        let problems = read(kind, &item(text)).unwrap_err();
        format!("{} / {}", problems[0].message, problems[0].help)
    }

    #[test]
    fn values_print_as_they_are_written() {
        for (kind, text) in [
            (Kind::time(), "\"1.5ms\""),
            (Kind::rate(), "\"10Gb/s\""),
            (Kind::size(0, 1000), "\"64B\""),
            (Kind::Count(0, 9), "7"),
            (Kind::Number(0.0, 1.0), "0.5"),
            (Kind::Ratio, "\"1/8\""),
            (Kind::Ratio, "2"),
            (Kind::percent_or(&[("strict", "")]), "\"40%\""),
            (Kind::percent_or(&[("strict", "")]), "\"strict\""),
            (Kind::Flag, "true"),
            (Kind::Names, "\"h*\""),
            (Kind::Names, "[\"h0\", \"h1\"]"),
            (Kind::Counts(1, 9), "[4, 4]"),
            (Kind::Pairs, "[[\"a\", \"b\"]]"),
            (Kind::Interval, "[\"2ms\", \"5ms\"]"),
            (Kind::Any, "{ a = [1, 2.5, \"x\"] }"),
        ] {
            assert_eq!(read(&kind, &item(text)).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_a_remedy() {
        assert!(wrong(&Kind::time(), "\"10Gb/s\"").contains("is a rate"));
        assert!(wrong(&Kind::time(), "10").contains("unit is missing"));
        assert!(wrong(&Kind::time(), "\"2h\"").contains("too long"));
        assert!(wrong(&Kind::Count(1, 5), "6").contains("from 1 to 5"));
        assert!(wrong(&Kind::Number(0.0, 1.0), "nan").contains("out of range"));
        assert!(wrong(&Kind::Ratio, "\"1/0\"").contains("not a ratio"));
        assert!(wrong(&Kind::choice(&[("pfc", ""), ("credits", "")]), "\"pcf\"").contains("did you mean \"pfc\""));
        for text in ["\"0%\"", "\"101%\"", "\"12.5%\"", "\"40\"", "40"] {
            assert!(wrong(&Kind::percent_or(&[("strict", "")]), text).contains("percentage"), "{text}");
        }
        assert!(wrong(&Kind::percent_or(&[("strict", "")]), "\"strct\"").contains("did you mean \"strict\""));
        assert!(wrong(&Kind::Pair, "[\"a\"]").contains("two ends"));
        assert!(wrong(&Kind::Interval, "[\"1ms\"]").contains("a beginning and an end"));
        assert!(wrong(&Kind::Interval, "[\"1ms\", 2]").contains("unit is missing"));
        assert!(wrong(&Kind::Names, "[]").contains("at least one"));
    }

    #[test]
    fn every_default_can_be_read() {
        fn walk(section: &super::super::key::Section) {
            for key in &section.keys {
                if let super::super::key::Default::Value(text, _) = key.default {
                    assert!(read_default(&key.kind, text).is_some(), "{}: {text}", key.name);
                }
                if let Kind::Table(inner) | Kind::Tables(inner) = &key.kind {
                    walk(inner);
                }
            }
        }
        walk(super::super::keys::root());
    }
}
