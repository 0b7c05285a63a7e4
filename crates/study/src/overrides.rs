//! Overrides of a command, written into a scenario.

/// Paths and values of overrides. A later one replaces an earlier one of the same path.
pub(crate) fn last_of_each(overrides: &[String]) -> Vec<(&str, &str)> {
    let mut all: Vec<(&str, &str)> = Vec::new();
    for (path, value) in overrides.iter().filter_map(|set| set.split_once('=')) {
        let (path, value) = (path.trim(), value.trim());
        all.retain(|(known, _)| *known != path);
        all.push((path, value));
    }
    all
}

/// The value of an override as TOML: as it is where it is a value of TOML, else as text.
pub(crate) fn toml_value(value: &str) -> String {
    let is_value = value.parse::<f64>().is_ok_and(f64::is_finite)
        || ["true", "false"].contains(&value)
        || value.starts_with(['"', '[', '{', '\'']);
    if is_value { value.to_owned() } else { serde_json::Value::from(value).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_toml_and_the_last_of_a_path_counts() {
        assert_eq!(["3", "0.5", "true", "412KB", "\"a\""].map(toml_value), ["3", "0.5", "true", "\"412KB\"", "\"a\""]);
        let given = ["a = 1", "b=2", "a=3"].map(str::to_owned);
        assert_eq!(last_of_each(&given), [("b", "2"), ("a", "3")]);
    }
}
