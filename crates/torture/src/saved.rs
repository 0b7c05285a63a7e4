//! Saved simulations, damaged and forged. One whose hash is wrong is refused. One whose hash was computed again reaches the
//! decoder, and then the run: it is refused in words, or runs until a limit.

use crate::corrupt;
use crate::kind::{Setting, Tally, scenario_of};
use crate::random::Random;
use crate::scenario::{Files, NAME};
use results::hash_of;
use std::path::Path;
use std::time::Duration;
use units::Encode;

const LIMIT: Duration = Duration::from_secs(60);
/// Of the run of a forged file, in seconds.
const TIME_LIMIT: &str = "3";
/// Files that are made of each saved one.
const FILES: u64 = 8;
/// The first line of a saved simulation.
const FIRST_LINE: &[u8] = b"tailback saved simulation\n";
/// Octets of the hash at its end.
const HASH: usize = "sha256:".len() + 64;
/// Numbers that a field may not be ready for.
const ODD: [u64; 14] = [
    0,
    1,
    2,
    255,
    256,
    65_535,
    1 << 20,
    u32::MAX as u64,
    1 << 32,
    1 << 40,
    1 << 62,
    i64::MAX as u64,
    u64::MAX - 1,
    u64::MAX,
];

/// The octets behind the first line and the version, without the hash.
fn content(saved: &[u8]) -> Option<std::ops::Range<usize>> {
    let mut rest = saved.strip_prefix(FIRST_LINE)?;
    String::decode(&mut rest)?;
    let start = saved.len() - rest.len();
    (start + HASH < saved.len()).then_some(start..saved.len() - HASH)
}

/// Damages octets as an accident does, and says how.
fn damage(octets: &mut Vec<u8>, random: &mut Random) -> String {
    let at = random.index(octets.len());
    match random.below(5) {
        0 => {
            octets.truncate(at);
            format!("truncated to {at} octets")
        }
        1 => {
            octets.extend(b"more");
            "four octets more".into()
        }
        2 => {
            *octets = b"schema_version = 1\n".to_vec();
            "another file".into()
        }
        3 => {
            let end = (at + 1 + random.index(64)).min(octets.len());
            octets[at..end].fill(0);
            format!("octets {at} to {end} zeroed")
        }
        _ => {
            octets[at] ^= 1 << random.below(8);
            format!("a flipped bit in octet {at}")
        }
    }
}

/// Changes fields of the content and computes the hash again; says what was changed.
fn forge(octets: &mut Vec<u8>, random: &mut Random) -> Option<String> {
    let mut range = content(octets)?;
    octets.truncate(range.end);
    let mut changes = Vec::new();
    for _ in 0..1 + random.below(3) {
        let at = range.start + random.index(range.len());
        let end = (at + 1 + random.index(32)).min(range.end);
        let number = random.of(&ODD).to_le_bytes();
        match random.below(8) {
            0 | 1 => {
                octets[at] ^= 1 << random.below(8);
                changes.push(format!("a flipped bit in octet {at}"));
            }
            2..=4 => {
                let width = *random.of(&[1, 2, 4, 8]);
                let end = (at + width).min(range.end);
                octets[at..end].copy_from_slice(&number[..end - at]);
                changes.push(format!("octets {at} to {end} are now {:?}", &number[..end - at]));
            }
            5 => {
                octets.drain(at..end);
                range.end -= end - at;
                changes.push(format!("without octets {at} to {end}"));
            }
            6 => {
                octets.splice(at..at, number);
                range.end += number.len();
                changes.push(format!("{number:?} inserted at {at}"));
            }
            _ => {
                let from = range.start + random.index(range.len() - (end - at) + 1);
                octets.copy_within(from..from + (end - at), at);
                changes.push(format!("octets from {from} copied to {at} to {end}"));
            }
        }
        if range.len() < 64 {
            break;
        }
    }
    let hash = hash_of(octets);
    octets.extend_from_slice(hash.as_bytes());
    Some(changes.join(", "))
}

/// One saved simulation, damaged and forged several times.
pub(crate) fn attack(setting: &Setting, number: u64, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    let (made, _, mut random) = scenario_of(setting, number);
    let (files, duration) = match &made.plan {
        Ok(plan) if random.percent(70) => (made.files, plan.run.duration.as_picos()),
        _ => {
            let mut files = Files::default();
            files.0.insert(NAME.into(), corrupt::SCENARIO.into());
            (files, 300_000_000)
        }
    };
    files.store(folder).map_err(io)?;
    let program = &setting.program;
    // Early, since many runs end before their last instant.
    let at = format!("{}ps", random.below(duration / 3));
    let mut save = vec!["run", NAME, "--save-at", &at, "-o", "whole.saved", "--set", "run.max_events=40000", "--quiet"];
    if random.percent(40) {
        save.push("--no-record");
    }
    let said = program.run(folder, &save, LIMIT)?;
    said.clean().map_err(|what| format!("tailback {}: {what}", save.join(" ")))?;
    let Ok(whole) = std::fs::read(folder.join("whole.saved")) else {
        // The run was over before.
        tally.count("not saved", 1);
        return Ok(());
    };
    for _ in 0..FILES {
        let mut octets = whole.clone();
        let forged = random.percent(80);
        let how = match forged {
            true => {
                forge(&mut octets, &mut random).ok_or("a saved simulation of another layout than this attack knows")?
            }
            false => damage(&mut octets, &mut random),
        };
        tally.count(if forged { "forged" } else { "damaged" }, 1);
        std::fs::write(folder.join("f.saved"), &octets).map_err(io)?;
        let words: &[&str] = match random.below(4) {
            0 => &["resume", "f.saved", "--out", "r", "--overwrite"],
            1 => &["what-if", "f.saved", "--vary", "switches[0].latency=1us,3us"],
            2 => &["resume", "f.saved", "--no-record", "--json", "--threads", "3"],
            _ => &["resume", "f.saved", "--no-record"],
        };
        let arguments = [words, &["--time-limit", TIME_LIMIT]].concat();
        let what = |what: String| format!("{how}: tailback {}: {what}", arguments.join(" "));
        let said = program.run(folder, &arguments, LIMIT)?;
        match said.clean().map_err(what)? {
            2 => tally.count("refused", 1),
            1 => return Err(what(format!("exit code 1: {}", said.err))),
            code if !forged && octets != whole => return Err(what(format!("exit code {code} for a damaged file"))),
            _ => tally.count("ran", 1),
        }
        if let Some(left) = crate::names(folder).into_iter().find(|name| name.contains(".partial")) {
            return Err(what(format!("leaves {left}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forged_files_differ_in_their_content_and_have_its_hash() {
        let mut saved = FIRST_LINE.to_vec();
        "1.2.3 (abc)".to_owned().encode(&mut saved);
        let start = saved.len();
        saved.extend((0..200).map(|octet| octet as u8));
        let hash = hash_of(&saved);
        saved.extend_from_slice(hash.as_bytes());
        assert_eq!(content(&saved), Some(start..start + 200));
        let mut changed = 0;
        for number in 0..100 {
            let mut octets = saved.clone();
            forge(&mut octets, &mut Random::new(1, number, "saved")).unwrap();
            let (body, hash) = octets.split_at(octets.len() - HASH);
            assert_eq!((&body[..start], hash), (&saved[..start], hash_of(body).as_bytes()), "{number}");
            changed += u64::from(octets != saved);
        }
        assert!(changed > 90, "{changed}");
    }
}
