//! The simulator for pages: the crate `lab` compiled to WebAssembly, deflated beside the front-end of reports.
//!
//! What was built is in the repository, so that a clone and `cargo install` have it without a second compiler; the test
//! command fails if its sources have changed since. Comments and tests are no part of them.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";
const MODULE: &str = "crates/render/front/lab.wasm.z";
const RECORD: &str = "crates/render/front/lab.wasm.txt";

/// The crates that are in the module.
const CRATES: [&str; 15] = [
    "units",
    "congestion",
    "transport",
    "theory",
    "engine",
    "fabric",
    "wire",
    "control",
    "discovery",
    "files",
    "scenario",
    "results",
    "study",
    "render",
    "lab",
];

/// Parts of these that a page never calls: the linker leaves them out.
const LEFT_OUT: [&str; 14] = [
    "render/src/plot",
    "render/src/figure.rs",
    "render/src/stability.rs",
    "scenario/src/export",
    "scenario/src/import",
    "study/src/capture",
    "study/src/faults.rs",
    "study/src/grid",
    "study/src/import.rs",
    "study/src/paper",
    "study/src/slurm",
    "study/src/sonic",
    "study/src/stability",
    "study/src/tune",
];

/// Packages of others that read scenarios or write answers.
const OTHERS: [&str; 7] = ["annotate-snippets", "hdrhistogram", "serde", "serde_json", "sha2", "strsim", "toml"];

/// Fails if the module was not built from these sources.
pub fn check() -> Result<(), String> {
    let record = std::fs::read_to_string(RECORD).unwrap_or_default();
    let stated = |name: &str| record.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let module = std::fs::read(MODULE).map_err(|error| format!("{MODULE}: {error}; run `cargo xtask wasm`"))?;
    if stated("module") != Some(&hexadecimal(&module)) {
        return Err(format!("{MODULE} is not the one that {RECORD} describes; run `cargo xtask wasm` and commit both"));
    }
    match stated("sources") == Some(&sources()?) {
        true => Ok(()),
        false => Err("the simulator for pages is older than its sources; run `cargo xtask wasm` and commit what it \
                      writes in crates/render/front"
            .into()),
    }
}

/// Builds the module.
pub fn build() -> Result<(), String> {
    let sources = sources()?;
    let built = compile()?;
    let bytes = std::fs::read(&built).map_err(|error| format!("{}: {error}", built.display()))?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let deflated = encoder.write_all(&bytes).and_then(|()| encoder.finish());
    let deflated = deflated.map_err(|error| format!("{}: {error}", built.display()))?;
    let record = format!("sources {sources}\nmodule {}\n", hexadecimal(&deflated));
    for (path, content) in [(MODULE, deflated.as_slice()), (RECORD, record.as_bytes())] {
        std::fs::write(path, content).map_err(|error| format!("{path}: {error}"))?;
    }
    eprintln!("{MODULE}: {} bytes, {} unpacked", deflated.len(), bytes.len());
    Ok(())
}

/// Compiles with the installed toolchain if it has the target or can fetch it, and else with Debian's, which builds the
/// standard library itself. Returns the module.
fn compile() -> Result<PathBuf, String> {
    let folder = crate::program::target().join("wasm");
    let mut command = Command::new("cargo");
    if !has_target() {
        let _ = crate::run("rustup", &["target", "add", TARGET]);
    }
    let mut std_too: &[&str] = &[];
    if !has_target() {
        crate::oracles::install_packages(&["rustc-web", "cargo-web", "rust-web-src", "lld"]).map_err(|reason| {
            format!("rustup has no {TARGET}, and Debian's rustc-web cannot be installed: {reason}")
        })?;
        command = Command::new("/usr/bin/cargo");
        command.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTUP_TOOLCHAIN");
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld");
        std_too = &["-Z", "build-std=std,panic_abort"];
    }
    let arguments = ["rustc", "--package", "tailback-lab", "--lib", "--crate-type", "cdylib", "--release", "--locked"];
    command.args(arguments).args(["--target", TARGET]).args(std_too).arg("--target-dir").arg(&folder);
    // A panic ends the thread of the page that simulates, which begins another.
    let profile = [("PANIC", "abort"), ("STRIP", "symbols"), ("INCREMENTAL", "false")];
    command.envs(profile.map(|(name, value)| (format!("CARGO_PROFILE_RELEASE_{name}"), value)));
    eprintln!("> cargo {} --target {TARGET}", arguments.join(" "));
    let status = command.status().map_err(|error| format!("cargo: {error}"))?;
    if !status.success() {
        return Err(format!("the module was not built: {status}"));
    }
    Ok(folder.join(TARGET).join("release/tailback_lab.wasm"))
}

/// Whether the installed toolchain has a standard library for the target.
fn has_target() -> bool {
    let said = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    said.is_ok_and(|said| Path::new(String::from_utf8_lossy(&said.stdout).trim()).is_dir())
}

fn hexadecimal(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The hash of all that the module is built from.
fn sources() -> Result<String, String> {
    let mut files = Vec::new();
    for name in CRATES {
        let folder = Path::new("crates").join(name);
        files.push(folder.join("Cargo.toml"));
        gather(&folder.join("src"), &mut files)?;
    }
    let mut all = Sha256::new();
    for path in files {
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        all.update(path.to_string_lossy().replace('\\', "/"));
        all.update([0]);
        all.update(code(&text));
        all.update([0]);
    }
    let lock = std::fs::read_to_string("Cargo.lock").map_err(|error| format!("Cargo.lock: {error}"))?;
    lock.split("[[package]]")
        .filter(|package| OTHERS.iter().any(|name| is_named(package, name)))
        .for_each(|it| all.update(it));
    Ok(all.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

fn is_named(package: &str, name: &str) -> bool {
    package.contains(&format!("\nname = \"{name}\"\n"))
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let test = stem == "tests" || stem.ends_with("_tests");
        if test || LEFT_OUT.iter().any(|part| path == Path::new("crates").join(part)) {
            continue;
        }
        if path.is_dir() {
            gather(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// A source without comments, blank lines and its unit tests, which are at its foot.
fn code(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" && lines.peek().is_some_and(|next| next.contains("mod ")) {
            match lines.next() {
                Some(next) if next.ends_with('{') => break,
                _ => continue,
            }
        }
        let bare = line.trim();
        if !bare.is_empty() && !bare.starts_with("//") {
            kept.push_str(bare);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_tests_are_not_code() {
        let text = "//! What it is.\n\n/// A number.\npub const A: u32 = 1;\n#[cfg(test)]\nmod other;\n    // Why.\nfn b() {}\n\n\
                    #[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
        assert_eq!(code(text), "pub const A: u32 = 1;\nfn b() {}\n");
        assert_ne!(code(text), code(&text.replace("= 1", "= 2")));
    }

    #[test]
    fn every_crate_of_the_module_is_in_the_list() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let lab = std::fs::read_to_string(root.join("crates/lab/Cargo.toml")).expect("a manifest");
        let mut open = vec![lab];
        while let Some(manifest) = open.pop() {
            let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or("").split("\n[").next().unwrap_or("");
            for name in section.lines().filter_map(|line| line.split(['.', ' ']).next()) {
                let Ok(next) = std::fs::read_to_string(root.join(format!("crates/{name}/Cargo.toml"))) else {
                    continue;
                };
                assert!(CRATES.contains(&name), "{name}");
                open.push(next);
            }
        }
        for part in LEFT_OUT {
            assert!(root.join("crates").join(part).exists(), "{part}");
        }
        let lock = std::fs::read_to_string(root.join("Cargo.lock")).expect("a lock file");
        for name in OTHERS {
            assert!(is_named(&lock, name), "{name}");
        }
    }
}
