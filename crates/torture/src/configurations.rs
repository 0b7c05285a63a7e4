//! Configurations of switches, damaged: they are refused in words, or become a scenario that loads.

use crate::kind::Tally;
use crate::random::Random;
use scenario::export::sonic::export;
use scenario::import::NamedText;
use scenario::import::sonic::{SwitchFiles, read, scenario};
use scenario::{Errors, Limits, NoFiles, load_str};
use std::path::Path;

/// Values that some field may not be ready for.
const ODD: [&str; 14] = [
    "",
    "-1",
    "0",
    "99999999999999999999",
    "NULL",
    "[X|y]",
    "Ethernet0|3-4",
    "3-4",
    "7-0",
    "Ethernet0,Ethernet0",
    "m",
    "\\u0000",
    "*",
    "{0..9}",
];

/// Some configurations of the example, one of them with values exchanged or cut off.
pub(crate) fn attack(
    project: &Path,
    random: &mut Random,
    tally: &mut Tally,
    in_words: impl Fn(&Errors) -> Result<(), String>,
) -> Result<(), String> {
    let folder = project.join("examples/sonic");
    let mut texts = Vec::new();
    for name in crate::names(&folder) {
        if let Ok(text) = std::fs::read_to_string(folder.join(&name).join("config_db.json")) {
            texts.push((name, text));
        }
    }
    if texts.is_empty() {
        return Ok(());
    }
    texts.truncate(1 + random.index(texts.len()));
    let damaged = random.index(texts.len());
    for _ in 0..1 + random.below(4) {
        damage(&mut texts[damaged].1, random);
    }
    let files: Vec<SwitchFiles<'_>> = texts
        .iter()
        .map(|(name, text)| SwitchFiles { configuration: NamedText { name, text }, lldp: None, name })
        .collect();
    tally.count("configurations", 1);
    let fabric = match read(&files) {
        Ok(fabric) => fabric,
        Err(errors) => {
            tally.count("rejected", 1);
            return in_words(&errors);
        }
    };
    tally.count("accepted", 1);
    let _ = study::sonic::audit(&fabric).iter().map(|issue| issue.finding()).collect::<Vec<_>>();
    let text = scenario(fabric, "fabric").scenario;
    match load_str("fabric.toml", &text, &[], &NoFiles, Limits::default()) {
        Ok(plan) => drop(export(&plan)),
        Err(errors) => return Err(format!("an import that does not load: {errors}")),
    }
    Ok(())
}

/// Exchanges a text in quotes for another of the file or an odd one; sometimes cuts the file off.
fn damage(text: &mut String, random: &mut Random) {
    let quotes: Vec<usize> = text.match_indices('"').map(|(at, _)| at).collect();
    let words: Vec<(usize, usize)> = quotes.chunks_exact(2).map(|pair| (pair[0] + 1, pair[1])).collect();
    if words.is_empty() || random.percent(5) {
        let at = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).nth(random.index(text.len() + 1));
        text.truncate(at.unwrap_or(0));
        return;
    }
    let (start, end) = *random.of(&words);
    let new = match random.percent(50) {
        true => {
            let (start, end) = *random.of(&words);
            text[start..end].to_owned()
        }
        false => (*random.of(&ODD)).to_owned(),
    };
    text.replace_range(start..end, &new);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_configurations_are_refused_in_words_or_load() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut tally = Tally::default();
        for number in 0..400 {
            let mut random = Random::new(1, number, "configurations");
            let words = |errors: &Errors| match errors.count() {
                0 => Err("refused without a word".to_owned()),
                _ => Ok(()),
            };
            attack(&project, &mut random, &mut tally, words).unwrap_or_else(|reason| panic!("{number}: {reason}"));
        }
        assert!(
            ["accepted", "rejected"].iter().all(|what| tally.counts.get(*what).is_some_and(|count| *count > 40)),
            "{tally:?}"
        );
    }
}
