//! `docs/recipes.md`: every recipe passes its check, runs, and shows what the page says it shows.
//!
//! `UPDATE_DOCS=1` writes the tables of the page again.

use crate::program::Scratch;
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
