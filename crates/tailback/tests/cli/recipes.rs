//! Outputs quoted in the documentation: every recipe of `docs/recipes.md` passes its check, runs, and shows what the page
//! says it shows; every output in `docs/cli.md` and `docs/tutorial.md` that follows a command is printed by that command.
//!
//! `UPDATE_DOCS=1` writes the tables of the recipes again.

use crate::program::{Said, Scratch};
use std::path::Path;

/// The start and the end of the first block of that language.
fn block(text: &str, language: &str) -> Option<(usize, usize)> {
    let fence = format!("```{language}\n");
    let start = text.find(&fence)? + fence.len();
    Some((start, start + text[start..].find("```")?))
}

#[test]
fn every_recipe_runs_and_shows_what_the_page_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recipes.md");
    let page = std::fs::read_to_string(&path).expect("docs/recipes.md");
    let scratch = Scratch::new("recipes");
    let mut parts = page.split_inclusive("\n## ");
    let mut written = parts.next().expect("an opening").to_owned();
    let mut recipes = 0;
    for part in parts {
        let title = part.lines().next().unwrap_or_default();
        let (start, end) = block(part, "toml").unwrap_or_else(|| panic!("{title}: no scenario"));
        assert!(block(&part[end + 3..], "toml").is_none(), "{title}: one scenario in each part, so that it is run");
        scratch.file("recipe.toml", &part[start..end]);
        scratch.run(&["check", "recipe.toml"]).ends(0);
        let said = scratch.run(&["run", "recipe.toml", "--no-record"]).ends(0);
        let summary = scratch.run(&["run", "recipe.toml", "--no-record", "--json"]).ends(0).json();
        let expectations = summary["expectations"].as_array().expect("a list");
        assert!(expectations.iter().any(|one| one["verdict"] != "measured"), "{title}: it claims nothing");
        // The last paragraph: the expectations. The lines above have wall times.
        let table = said.out.trim_end().rsplit("\n\n").next().unwrap_or_default();
        let (start, end) = block(part, "text").unwrap_or_else(|| panic!("{title}: no table"));
        written.push_str(&part[..start]);
        for line in table.lines() {
            written.push_str(line.trim_end());
            written.push('\n');
        }
        written.push_str(&part[end..]);
        recipes += 1;
    }
    assert!(recipes >= 5, "{recipes}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &written).expect("docs/recipes.md can be written");
    }
    assert!(
        written == page || std::env::var_os("UPDATE_DOCS").is_some(),
        "UPDATE_DOCS=1 writes the tables again:\n{written}"
    );
}

/// The words of a line, one space apart: columns that are left out change the width of the others.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The commands of the page and the lines of the outputs quoted below each, up to the next command or heading. Of several
/// commands in one paragraph it is the first.
fn quoted(page: &str) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    let (mut command, mut in_paragraph) = (None, false);
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let given = line.strip_prefix("    tailback ").or_else(|| line.strip_prefix("    cargo run --release -- "));
        if let Some(given) = given {
            let mut given = given.to_owned();
            while let Some(begun) = given.strip_suffix('\\') {
                given = format!("{begun}{}", lines.next().unwrap_or_default().trim_start());
            }
            command = if in_paragraph { command } else { Some(given) };
            in_paragraph = true;
            continue;
        }
        in_paragraph = false;
        if line.starts_with("## ") {
            command = None;
        } else if line.starts_with("```") {
            let output: Vec<String> = lines.by_ref().take_while(|line| !line.starts_with("```")).map(words).collect();
            // A block with a language is not an output.
            match (command.as_ref().filter(|_| line == "```"), found.last_mut()) {
                (Some(command), Some((last, all))) if command == last => all.extend(output),
                (Some(command), _) => found.push((command.clone(), output)),
                (None, _) => {}
            }
        }
    }
    found
}

/// Lines and columns may be left out of a quotation, at the end of a line with or without `...`; what is there is what
/// the program prints, in its order.
#[test]
fn quoted_outputs_are_those_of_the_commands_above_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/cli.md")).expect("docs/cli.md");
    let scratch = Scratch::new("quoted");
    let mut compared = Vec::new();
    for (command, expected) in quoted(&page) {
        let arguments: Vec<&str> = command.split(' ').map(|word| word.trim_matches('\'')).collect();
        let out = scratch.path(arguments[0]);
        let more = match arguments[0] {
            "check" => &[][..],
            "compare" | "sweep" | "reproduce" | "stability" => &["--out", out.to_str().expect("a name")][..],
            _ => continue,
        };
        let said =
            Said::new(&scratch.command(&[&arguments, more].concat()).current_dir(&root).output().expect("it runs"));
        let said = said.ends(0);
        let mut printed = said.out.lines().map(words);
        for line in expected.iter().filter(|line| line.contains(char::is_alphanumeric)) {
            let line = line.strip_suffix("...").unwrap_or(line).trim_end();
            assert!(printed.any(|one| one.starts_with(line)), "tailback {command}\n{line}\nis not in\n{}", said.out);
        }
        compared.push(arguments[0].to_owned());
    }
    assert_eq!(compared, ["check", "compare", "sweep", "reproduce", "stability"]);
}

/// The arguments of a command: words, in which quotes keep spaces together.
fn arguments(command: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut quoted = false;
    for letter in command.trim().chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => found.push(String::new()),
            letter => found.last_mut().expect("it has one").push(letter),
        }
    }
    found.retain(|word| !word.is_empty());
    found
}

/// What the tutorial quotes has the words of a printed line in their order; columns and ends of lines may be left out.
/// Wall times differ from run to run.
fn is_in(quoted: &str, printed: &str) -> bool {
    let mut printed = printed.split_whitespace();
    let quoted = quoted.rfind("fingerprint ").map_or(quoted, |at| &quoted[at..]);
    quoted.split_whitespace().filter(|&word| word != "...").all(|word| printed.any(|other| other == word))
}

#[test]
fn the_tutorial_quotes_what_its_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/tutorial.md")).expect("docs/tutorial.md");
    let scratch = Scratch::new("tutorial");
    let mut compared = Vec::new();
    for (number, (command, expected)) in quoted(&page).into_iter().enumerate() {
        let mut given = arguments(&command);
        if let Some(at) = given.iter().position(|word| word == "--out") {
            given.drain(at..at + 2);
        }
        let recorded = !given.iter().any(|word| word == "--no-record" || word == "check" || word == "explain");
        if recorded {
            given.extend(["--out".to_owned(), scratch.path(&number.to_string()).to_str().expect("a name").to_owned()]);
        }
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let said = Said::new(&scratch.command(&given).current_dir(&root).output().expect("it runs"));
        let mut printed = said.out.lines().chain(said.err.lines());
        let quoted = expected.iter().filter(|line| line.contains(char::is_alphanumeric));
        for line in quoted.filter(|line| !line.starts_with("results in ")) {
            let found = printed.any(|printed| is_in(line, printed));
            assert!(found, "tailback {command}\n{line}\nis not in\n{}\n{}", said.out, said.err);
        }
        compared.push(given[0].to_owned());
    }
    assert_eq!(compared, ["run", "check", "explain", "run", "run", "check", "run", "compare", "sweep"]);
}
