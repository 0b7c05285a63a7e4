//! Attacks on the program: random scenarios that use all keys, mutated inputs, kills, corruption, forged saved
//! simulations, hostile paths and requests. A seed and a number reproduce each attack.
//!
//! Only tests and `cargo xtask torture` use this crate. It checks the promises of SECURITY.md and nothing else.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods)] // An attack has a time limit, and says what it found.

mod commands;
mod configurations;
mod corrupt;
pub mod effort;
mod foreign;
mod kill;
pub mod kind;
mod mutate;
pub mod places;
pub mod program;
pub mod random;
pub mod runs;
mod saved;
pub mod scenario;
mod served;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// The names in a folder, sorted; none if there is no such folder.
#[must_use]
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

thread_local! {
    /// Where the last panic of this thread happened.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Panics are caught and reported as findings: instead of saying it, each thread notes where its last one happened.
pub fn note_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
        PLACE.with(|last| last.replace(place));
    }));
}

/// What a panic of this thread said, and where, if that was noted.
#[must_use]
pub fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default();
    text + &PLACE.with(RefCell::take)
}

/// A folder for one attack, removed unless it is kept.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    kept: bool,
}

impl Scratch {
    /// An empty folder of that name below another.
    ///
    /// # Panics
    /// If there is no room for it.
    #[must_use]
    pub fn new(below: &Path, name: &str) -> Scratch {
        let path = below.join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("the scratch folder can be written to");
        Scratch { path, kept: false }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it for somebody to look at.
    pub fn keep(&mut self) {
        self.kept = true;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
