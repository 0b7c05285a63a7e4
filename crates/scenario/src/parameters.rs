//! Conversion between the parameter tables of protocols and congestion points and scenario keys.

use super::key::{Default, Key, Kind, key};
use super::resolve::{Gathered, Node};
use congestion::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Preset, Value, Values};

/// A protocol or congestion point: name, parameters and presets.
pub(crate) type Catalogued = (&'static str, &'static [Parameter], &'static [Preset]);

/// Returns the keys of protocols or congestion points. Each applies if one of its names is selected. A value set by a
/// preset is another reading of its key, which precedes the default one and applies if the preset is selected.
pub(crate) fn keys(tables: &[Catalogued]) -> Vec<Key> {
    let mut keys: Vec<(Parameter, Option<&str>, Vec<&str>)> = Vec::new();
    let mut add = |parameter: Parameter, preset: Option<&'static str>, name: &'static str| match keys
        .iter_mut()
        .find(|(other, of, _)| *other == parameter && *of == preset)
    {
        Some((.., names)) => names.push(name),
        None => keys.push((parameter, preset, vec![name])),
    };
    for &(name, parameters, presets) in tables {
        for parameter in parameters {
            for preset in presets {
                let set = preset.values.iter().find(|(set, ..)| *set == parameter.name);
                if let Some(&(_, text, source)) = set {
                    let default = ParameterDefault::Value(text, source);
                    add(Parameter { default, ..*parameter }, Some(preset.name), name);
                }
            }
            add(*parameter, None, name);
        }
    }
    let one = |(parameter, preset, names): (Parameter, Option<&str>, Vec<&str>)| {
        let default = match parameter.default {
            ParameterDefault::Value(text, source) => Default::Value(text, source),
            ParameterDefault::Absent(meaning) => Default::Absent(meaning),
        };
        let key = key(parameter.name, kind(parameter.kind), default, parameter.meaning).only("name", &names);
        match preset {
            Some(preset) => key.only("preset", &[preset]),
            None => key,
        }
    };
    // Of the readings of a key, those of presets go first.
    let (of_presets, usual): (Vec<_>, Vec<_>) = keys.into_iter().partition(|(_, preset, _)| preset.is_some());
    presets(tables).into_iter().chain(of_presets.into_iter().chain(usual).map(one)).collect()
}

/// Returns the key that selects a preset of each protocol or congestion point that has any.
fn presets(tables: &[Catalogued]) -> Vec<Key> {
    // Names and meanings of presets, and what has them.
    type Choices = Vec<(&'static str, &'static str)>;
    let mut known: Vec<(Choices, Vec<&str>)> = Vec::new();
    for (name, _, presets) in tables.iter().filter(|(.., presets)| !presets.is_empty()) {
        let choices: Choices = presets.iter().map(|preset| (preset.name, preset.meaning)).collect();
        match known.iter_mut().find(|(others, _)| *others == choices) {
            Some((_, names)) => names.push(name),
            None => known.push((choices, vec![name])),
        }
    }
    let default = Default::Absent("the defaults of the keys");
    let meaning = "A named set of defaults. Explicit keys override it.";
    let one = |(choices, names): (Vec<_>, Vec<_>)| {
        key("preset", Kind::choice(&choices), default, meaning).only("name", &names)
    };
    known.into_iter().map(one).collect()
}

fn kind(kind: ParameterKind) -> Kind {
    match kind {
        ParameterKind::Rate => Kind::rate(),
        ParameterKind::Size(least, most) => Kind::size(least, most),
        ParameterKind::Time => Kind::time(),
        ParameterKind::Count(least, most) => Kind::Count(least, most),
        ParameterKind::Number(least, most) => Kind::Number(least, most),
        ParameterKind::Flag => Kind::Flag,
        ParameterKind::Text => Kind::Text,
        ParameterKind::Choice(names) => Kind::choice(names),
    }
}

/// Returns the values of a section for a table; `None` if one of them is invalid, which has been reported.
pub(crate) fn values(node: &Node, parameters: &'static [Parameter]) -> Option<Values> {
    let mut values = Values::defaults(parameters);
    for parameter in parameters {
        let name = parameter.name;
        let value = match parameter.kind {
            ParameterKind::Rate => node.rate(name).map(Value::Rate),
            ParameterKind::Size(..) => node.size(name).map(Value::Size),
            ParameterKind::Time => node.time(name).map(Value::Time),
            ParameterKind::Count(..) => node.count(name).map(Value::Count),
            ParameterKind::Number(..) => node.number(name).map(Value::Number),
            ParameterKind::Flag => node.flag(name).map(Value::Flag),
            ParameterKind::Text => node.text(name).map(Value::Text),
            ParameterKind::Choice(_) => node.text(name).map(Value::Choice),
        };
        match value {
            Some(value) => values.set(name, value),
            None if node.given(name) => return None,
            None => {}
        }
    }
    Some(values)
}

/// Returns the result, or `None` after reporting the error.
pub(crate) fn built<T>(gathered: &mut Gathered<'_>, node: &Node, built: Result<T, Invalid>) -> Option<T> {
    built.map_err(|Invalid { parameter, message, help }| gathered.refuse(node.place_of(parameter), message, help)).ok()
}
