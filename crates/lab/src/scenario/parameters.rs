//! Parameters of protocols and congestion points, from the tables they come with to scenario keys and back.

use super::key::{Default, Key, Kind, key};
use super::resolve::{Gathered, Node};
use congestion::parameter::{Invalid, Parameter, ParameterDefault, ParameterKind, Value, Values};

/// The keys of a list of (name, parameters): each applies where one of its names is chosen.
pub(crate) fn keys(tables: &[(&'static str, &'static [Parameter])]) -> Vec<Key> {
    let mut keys: Vec<(Parameter, Vec<&str>)> = Vec::new();
    for &(name, parameters) in tables {
        for parameter in parameters {
            match keys.iter_mut().find(|(other, _)| other == parameter) {
                Some((_, names)) => names.push(name),
                None => keys.push((*parameter, vec![name])),
            }
        }
    }
    let one = |(parameter, names): (Parameter, Vec<&str>)| {
        let default = match parameter.default {
            ParameterDefault::Value(text, source) => Default::Value(text, source),
            ParameterDefault::Absent(meaning) => Default::Absent(meaning),
        };
        key(parameter.name, kind(parameter.kind), default, parameter.meaning).only("name", &names)
    };
    keys.into_iter().map(one).collect()
}

fn kind(kind: ParameterKind) -> Kind {
    match kind {
        ParameterKind::Rate => Kind::rate(),
        ParameterKind::Size(least, most) => Kind::size(least, most),
        ParameterKind::Time => Kind::time(),
        ParameterKind::Count(least, most) => Kind::Count(least, most),
        ParameterKind::Number(least, most) => Kind::Number(least, most),
        ParameterKind::Flag => Kind::Flag,
        ParameterKind::Choice(names) => Kind::choice(names),
    }
}

/// The values a section gives to a table; `None` if one of them could not be read, which has been said.
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

/// What was built, or `None` after saying why it was not.
pub(crate) fn built<T>(gathered: &mut Gathered<'_>, node: &Node, built: Result<T, Invalid>) -> Option<T> {
    built.map_err(|Invalid { parameter, message, help }| gathered.refuse(node.place_of(parameter), message, help)).ok()
}
