//! A scenario in the making: its keys and values, and the line on which each of them is written.

use scenario::format::Key;

/// The choices that conditions of keys look up: those of a table and of the ones around it, the innermost last. A choice
/// that is not made hides one of the same name further out.
pub type Scope = Vec<(&'static str, Option<String>)>;

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The reading of the key that applies.
    pub key: &'static Key,
    /// Its path in the format, such as `switches.buffers.xoff`.
    pub path: String,
    /// Its value.
    pub value: Value,
    /// The names chosen, where the key is a choice.
    pub chosen: Vec<String>,
    /// The choices around it.
    pub scope: Scope,
    /// Whether the scenario is nothing without it.
    pub required: bool,
}

/// What is written for a key.
#[derive(Clone, Debug)]
pub enum Value {
    /// This text.
    Raw(String),
    /// A table.
    Table(Table),
    /// A list of tables.
    Tables(Vec<Table>),
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Its keys, each once.
    pub entries: Vec<Entry>,
}

/// The way to an entry or to a table of a list: positions of entries and of tables in turn.
pub type Address = Vec<usize>;

/// A text, and what stands on each of its lines.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The text.
    pub text: String,
    /// For each line the address of what is written there.
    pub lines: Vec<Address>,
}

impl Written {
    fn line(&mut self, text: &str, address: &[usize]) {
        self.text.push_str(text);
        self.text.push('\n');
        self.lines.push(address.to_vec());
    }
}

/// A text in quotes, as TOML has it.
#[must_use]
pub fn quoted(text: impl AsRef<str>) -> String {
    let mut quoted = String::from("\"");
    for letter in text.as_ref().chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => quoted.push_str(&format!("\\u{:04X}", letter as u32)),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

impl Table {
    /// The entry of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.name == name)
    }

    /// The whole as TOML, but for the top-level keys that `keep` refuses.
    pub fn write(&self, keep: impl Fn(&str) -> bool) -> Written {
        let mut written = Written::default();
        self.write_into(&mut written, "", &mut Vec::new(), &keep);
        written
    }

    fn write_into(&self, written: &mut Written, header: &str, address: &mut Address, keep: &dyn Fn(&str) -> bool) {
        for (number, entry) in self.entries.iter().enumerate() {
            if let (Value::Raw(text), true) = (&entry.value, !header.is_empty() || keep(entry.key.name)) {
                address.push(number);
                written.line(&format!("{} = {text}", entry.key.name), address);
                address.pop();
            }
        }
        for (number, entry) in self.entries.iter().enumerate() {
            if header.is_empty() && !keep(entry.key.name) {
                continue;
            }
            let inner = if header.is_empty() { entry.key.name.into() } else { format!("{header}.{}", entry.key.name) };
            address.push(number);
            match &entry.value {
                Value::Raw(_) => {}
                Value::Table(table) => {
                    written.line(&format!("[{inner}]"), address);
                    table.write_into(written, &inner, address, keep);
                }
                Value::Tables(tables) if tables.is_empty() => {}
                Value::Tables(tables) => {
                    for (place, table) in tables.iter().enumerate() {
                        address.push(place);
                        written.line(&format!("[[{inner}]]"), address);
                        table.write_into(written, &inner, address, keep);
                        address.pop();
                    }
                }
            }
            address.pop();
        }
    }

    /// Every entry, those of inner tables too.
    pub fn visit(&self, see: &mut dyn FnMut(&Entry)) {
        for entry in &self.entries {
            see(entry);
            match &entry.value {
                Value::Raw(_) => {}
                Value::Table(table) => table.visit(see),
                Value::Tables(tables) => tables.iter().for_each(|table| table.visit(see)),
            }
        }
    }

    /// The entry at an address, and whether the address goes on to one of its tables.
    pub fn at(&mut self, address: &[usize]) -> Option<(&mut Entry, Option<usize>)> {
        let (&first, rest) = address.split_first()?;
        let entry = self.entries.get_mut(first)?;
        match (&entry.value, rest) {
            (_, []) => Some((entry, None)),
            (Value::Tables(_), [place]) => Some((entry, Some(*place))),
            (Value::Table(_), _) => match &mut entry.value {
                Value::Table(table) => table.at(rest),
                _ => None,
            },
            (Value::Tables(_), [place, rest @ ..]) => match &mut entry.value {
                Value::Tables(tables) => tables.get_mut(*place)?.at(rest),
                _ => None,
            },
            (Value::Raw(_), _) => None,
        }
    }

    /// Takes out the entry, or the table of a list, at an address. What is required stays.
    pub fn remove(&mut self, address: &[usize]) -> bool {
        match self.at(address) {
            Some((entry, Some(place))) => {
                if let Value::Tables(tables) = &mut entry.value
                    && (tables.len() > 1 || !entry.required)
                    && place < tables.len()
                {
                    tables.remove(place);
                    return true;
                }
                false
            }
            Some((entry, None)) if !entry.required => {
                // Addresses of the same round stay valid: the entry is emptied now and swept out later.
                entry.value = Value::Tables(Vec::new());
                true
            }
            _ => false,
        }
    }

    /// Sweeps out lists without tables.
    pub fn sweep(&mut self) {
        self.entries.retain(|entry| !matches!(&entry.value, Value::Tables(tables) if tables.is_empty()));
        for entry in &mut self.entries {
            match &mut entry.value {
                Value::Raw(_) => {}
                Value::Table(table) => table.sweep(),
                Value::Tables(tables) => tables.iter_mut().for_each(Table::sweep),
            }
        }
    }
}
