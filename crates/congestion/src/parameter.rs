//! Parameters of protocols and congestion points, and their values. Scenario keys, the reference and `tailback
//! protocols` are generated from one table per protocol.

use units::{Bytes, Rate, Span};

/// A parameter of a protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Key in a scenario.
    pub name: &'static str,
    /// Type and range of its values.
    pub kind: ParameterKind,
    /// Default.
    pub default: ParameterDefault,
    /// Description.
    pub meaning: &'static str,
}

/// A named set of defaults that differ from those of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name in a scenario.
    pub name: &'static str,
    /// Description.
    pub meaning: &'static str,
    /// Names of parameters, their values in scenario syntax, and the sources of these values.
    pub values: &'static [(&'static str, &'static str, &'static str)],
}

/// Type and range of the values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// Bits per second, not zero.
    Rate,
    /// Bytes, from the first to the second.
    Size(u64, u64),
    /// A length of time.
    Time,
    /// A whole number, from the first to the second.
    Count(u64, u64),
    /// A number, from the first to the second.
    Number(f64, f64),
    /// True or false.
    Flag,
    /// A text in a form that the meaning describes.
    Text,
    /// One of these names, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
}

/// The default of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterDefault {
    /// A value in scenario syntax, and its source.
    Value(&'static str, &'static str),
    /// No value; the text describes the effect.
    Absent(&'static str),
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Bits per second.
    Rate(Rate),
    /// Bytes.
    Size(Bytes),
    /// A length of time.
    Time(Span),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A text.
    Text(String),
    /// One of the names of a choice.
    Choice(String),
}

/// Values for a table of parameters. A protocol reads them once, when it is built.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    given: Vec<(&'static str, Value)>,
}

/// The reason that a protocol cannot be built from its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Parameter to change.
    pub parameter: &'static str,
    /// Description of the error.
    pub message: String,
    /// Suggested correction.
    pub help: String,
}

impl Invalid {
    /// Creates an error about a parameter, with a suggested correction.
    #[must_use]
    pub fn new(parameter: &'static str, message: impl Into<String>, help: impl Into<String>) -> Invalid {
        Invalid { parameter, message: message.into(), help: help.into() }
    }
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {}: {}", self.parameter, self.message, self.help)
    }
}

/// Joins two tables.
///
/// # Panics
/// Panics, at compile time, if `ALL` is not the sum of both lengths.
pub(crate) const fn joined<const ALL: usize>(first: &[Parameter], second: &[Parameter]) -> [Parameter; ALL] {
    assert!(first.len() + second.len() == ALL);
    let mut all = [first[0]; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}

impl Parameter {
    /// Parses a value of a table.
    fn read(&self, text: &str) -> Value {
        let value = match self.kind {
            ParameterKind::Rate => text.parse().ok().map(Value::Rate),
            ParameterKind::Size(..) => text.parse().ok().map(Value::Size),
            ParameterKind::Time => text.parse().ok().map(Value::Time),
            ParameterKind::Count(..) => text.parse().ok().map(Value::Count),
            ParameterKind::Number(..) => text.parse().ok().map(Value::Number),
            ParameterKind::Flag => text.parse().ok().map(Value::Flag),
            ParameterKind::Text => Some(Value::Text(text.to_owned())),
            ParameterKind::Choice(_) => Some(Value::Choice(text.to_owned())),
        };
        value.unwrap_or_else(|| panic!("`{}` is never {text}", self.name))
    }
}

impl Values {
    /// Returns the defaults of a table.
    ///
    /// # Panics
    /// Panics if a default does not match its kind; a test builds every protocol from its defaults.
    #[must_use]
    pub fn defaults(parameters: &[Parameter]) -> Values {
        let given = parameters.iter().filter_map(|parameter| {
            let ParameterDefault::Value(text, _) = parameter.default else { return None };
            Some((parameter.name, parameter.read(text)))
        });
        Values { given: given.collect() }
    }

    /// Returns the defaults of a table, overridden by those of a preset.
    ///
    /// # Panics
    /// Panics if the preset does not match the table; a test builds every protocol from its presets.
    #[must_use]
    pub fn preset(parameters: &[Parameter], preset: &Preset) -> Values {
        let mut values = Values::defaults(parameters);
        for &(name, text, _) in preset.values {
            let known = parameters.iter().find(|parameter| parameter.name == name);
            let parameter = known.unwrap_or_else(|| panic!("`{}` sets `{name}`, which is not there", preset.name));
            values.set(parameter.name, parameter.read(text));
        }
        values
    }

    /// Returns the values with one of them set.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> Values {
        self.set(name, value);
        self
    }

    /// Sets a value.
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.given.retain(|(other, _)| *other != name);
        self.given.push((name, value));
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.given.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
    }
}

/// Generates two readers per type: one for an optional parameter, and one for a parameter with a default.
macro_rules! readers {
    ($($variant:ident: $type:ty = $maybe:ident, $must:ident;)*) => {
        impl Values {
            $(
                /// Returns the value, if it was given or has a default.
                #[must_use]
                pub fn $maybe(&self, name: &str) -> Option<$type> {
                    match self.get(name) {
                        Some(Value::$variant(value)) => Some(value.clone()),
                        _ => None,
                    }
                }

                /// Returns the value of a parameter that has a default.
                ///
                /// # Panics
                /// Panics if the table has no such parameter; the test of all defaults detects this.
                #[must_use]
                pub fn $must(&self, name: &str) -> $type {
                    self.$maybe(name).unwrap_or_else(|| panic!("no value for `{name}`"))
                }
            )*
        }
    };
}

readers! {
    Rate: Rate = maybe_rate, rate;
    Size: Bytes = maybe_size, size;
    Time: Span = maybe_time, time;
    Count: u64 = maybe_count, count;
    Number: f64 = maybe_number, number;
    Flag: bool = maybe_flag, flag;
    Text: String = maybe_text, text;
    Choice: String = maybe_choice, choice;
}
