//! Hostile requests to `tailback serve`: it answers them or refuses them, gives away no file outside of its folder, and goes on.

use crate::corrupt::{SCENARIO, copy};
use crate::kind::{Setting, Tally, scenario_of};
use crate::mutate::{damage, scramble};
use crate::random::Random;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(30);
/// An answer that takes longer is a finding, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(180);
/// Requests to one server.
const REQUESTS: u64 = 40;
/// What lies outside of the folder.
const SECRET: &str = "torture$secret";

const PATHS: [&str; 26] = [
    "/",
    "/results",
    "/results/",
    "/results/whole",
    "/results/damaged",
    "/results/outside",
    "/results/..",
    "/results/../shadow",
    "/results/%2e%2e",
    "/results/%2e%2e%2fshadow",
    "/results/..%2fshadow",
    "/results/whole%2f..%2f..%2fshadow",
    "/results/shadow",
    "/results/%00",
    "/results/whole%00",
    "/results/%ff%fe",
    "/results/.",
    "/results//etc/passwd",
    "/results/%2fetc%2fpasswd",
    "/runs/whole",
    "/runs/damaged",
    "/runs/outside",
    "/runs/%2e%2e%2foutside",
    "/lab/",
    "/lab/%2e%2e",
    "//",
];
const METHODS: [&str; 7] = ["GET", "GET", "POST", "HEAD", "PUT", "DELETE", "\u{1b}[2J"];

/// A server that is under attack; it ends with the attack.
struct Served {
    child: Child,
    address: SocketAddr,
    token: Option<String>,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(setting: &Setting, folder: &Path, with_token: bool) -> Result<Served, String> {
    let io = |error: std::io::Error| format!("tailback serve: {error}");
    let create = |name: &str| std::fs::File::create(folder.join(name)).map_err(io);
    let arguments = ["serve", "results", "--listen", "127.0.0.1:0", "--token"];
    let arguments = &arguments[..if with_token { 5 } else { 4 }];
    let mut command = setting.program.command(folder, arguments);
    let child = command.stdout(create("out")?).stderr(create("err")?).spawn().map_err(io)?;
    let mut served = Served { child, address: SocketAddr::from(([127, 0, 0, 1], 0)), token: None };
    let begun = Instant::now();
    loop {
        let said = std::fs::read_to_string(folder.join("out")).unwrap_or_default();
        if let Some(line) = said.strip_suffix('\n') {
            let (address, token) =
                line.split_once("/?token=").map_or((line, None), |(line, token)| (line, Some(token)));
            let address = address.trim_start_matches("http://").trim_end_matches('/');
            served.address = address.parse().map_err(|_| format!("tailback serve says {line:?}"))?;
            served.token = token.map(str::to_owned);
            return Ok(served);
        }
        if let Some(status) = served.child.try_wait().map_err(io)? {
            let said = std::fs::read_to_string(folder.join("err")).unwrap_or_default();
            return Err(format!("tailback serve ends with {status}: {said}"));
        }
        if setting.program.until.is_some_and(|until| Instant::now() > until) {
            return Err(crate::program::CUT_OFF.into());
        }
        if begun.elapsed() > PATIENCE {
            return Err("tailback serve does not say where it listens".into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A request as octets, and whether it is whole: one that is not may wait for the rest of it.
struct Asked {
    octets: Vec<u8>,
    whole: bool,
    /// What it is, for people.
    words: String,
}

fn request(served: &Served, method: &str, path: &str, body: &[u8], random: &mut Random) -> Asked {
    let port = served.address.port();
    let host = match random.percent(92) {
        true => format!("localhost:{port}"),
        false => (*random.of(&["evil.example", "localhost", "", "localhost:1", "[::1"])).to_owned(),
    };
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    if let Some(token) = served.token.as_ref().filter(|_| random.percent(80)) {
        let _ = write!(head, "Authorization: Bearer {token}\r\n");
    }
    if random.percent(8) {
        let odd = [
            "Origin: http://evil.example",
            "X: \u{1}",
            "Transfer-Encoding: chunked",
            "Expect: 100-continue",
            ": x",
            "A",
        ];
        let _ = write!(head, "{}\r\n", random.of(&odd));
    }
    let honest = random.percent(93);
    let claimed = match honest {
        true => body.len() as u64,
        false => *random.of(&[0, 1, body.len() as u64 + 5, 3 << 20, u64::MAX]),
    };
    let _ = write!(head, "Content-Length: {claimed}\r\n\r\n");
    let words = format!("{method} {path} with {} octets", body.len());
    let mut octets = [head.as_bytes(), body].concat();
    let whole = honest && !head.contains("chunked") && random.percent(92);
    if !whole {
        scramble(&mut octets, random);
    }
    Asked { octets, whole, words }
}

/// What a page asks the lab, or something like it.
fn question(setting: &Setting, number: u64, random: &mut Random) -> Vec<u8> {
    let quoted = |text: &str| serde_json_text(text);
    let given = |random: &mut Random| {
        let mut text = match random.percent(50) {
            true => scenario_of(setting, number).0.files.text().to_owned(),
            false => SCENARIO.to_owned(),
        };
        for _ in 0..random.below(3) {
            damage(&mut text, random);
        }
        let name = random.of(&["a.toml", "", "../../etc/passwd", "/dev/zero", "\u{202e}", "a\0b"]).to_string();
        let set =
            random.of(&["[]", "[\"run.seed=3\"]", "[\"=\"]", "[\"base=/etc/passwd\"]", "7", "[\"run.duration=9h\"]"]);
        format!("\"name\":{},\"text\":{},\"set\":{set}", quoted(&name), quoted(&text))
    };
    let number = *random.of(&[0, 1, 1_000_000, 300_000_000, 1 << 53, u64::MAX]);
    let wall = *random.of(&["0.5", "-1", "1e308", "null", "\"x\""]);
    let text = match random.below(10) {
        0 => "{\"ask\":\"keys\"}".to_owned(),
        1 => format!("{{\"ask\":\"check\",{}}}", given(random)),
        2 | 3 => format!("{{\"ask\":\"start\",{}}}", given(random)),
        4 | 5 => format!("{{\"ask\":\"advance\",\"until\":{number}}}"),
        6 => format!("{{\"ask\":\"look\",\"wall\":{wall}}}"),
        7 => format!("{{\"ask\":\"finish\",\"wall\":{wall}}}"),
        8 => format!(
            "{{\"ask\":\"files\",\"files\":{{\"../x\":\"{}\",\"/dev/zero\":\"\"}}}}",
            "y".repeat(1 << random.below(21))
        ),
        _ => "[".repeat(1 << random.below(20)),
    };
    let mut octets = text.into_bytes();
    if random.percent(10) {
        scramble(&mut octets, random);
    }
    octets
}

/// A text as JSON.
fn serde_json_text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            ' '.. => quoted.push(letter),
            _ => {
                let _ = write!(quoted, "\\u{:04x}", letter as u32);
            }
        }
    }
    quoted + "\""
}

/// Sends a request, and returns what is answered; `None` to one that is not whole.
fn ask(served: &Served, asked: &Asked, patience: Duration) -> Result<Option<Vec<u8>>, String> {
    let what = |error: std::io::Error| format!("{}: {error}", asked.words);
    let mut stream = TcpStream::connect(served.address).map_err(what)?;
    stream.set_read_timeout(Some(if asked.whole { patience } else { Duration::from_millis(100) })).map_err(what)?;
    stream.set_write_timeout(Some(patience)).map_err(what)?;
    // One that refuses early may not read the rest.
    let _ = stream.write_all(&asked.octets);
    let mut answer = Vec::new();
    let mut part = vec![0; 1 << 16];
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(count) => answer.extend_from_slice(&part[..count]),
            Err(_) if !asked.whole || !answer.is_empty() => break,
            Err(error) => return Err(format!("{}: no answer: {error}", asked.words)),
        }
    }
    Ok(asked.whole.then_some(answer))
}

fn prepare(setting: &Setting, folder: &Path, random: &mut Random) -> Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    std::fs::write(folder.join("s.toml"), SCENARIO).map_err(io)?;
    std::fs::write(folder.join("shadow"), SECRET).map_err(io)?;
    let run = ["run", "s.toml", "--out", "results/whole", "--quiet"];
    std::fs::create_dir_all(folder.join("results")).map_err(io)?;
    setting.program.run(folder, &run, LIMIT)?.clean()?;
    let damaged = folder.join("results/damaged");
    copy(&folder.join("results/whole"), &damaged).map_err(io)?;
    for name in crate::names(&damaged) {
        let mut octets = std::fs::read(damaged.join(&name)).unwrap_or_default();
        if random.percent(40) && !octets.is_empty() {
            scramble(&mut octets, random);
            std::fs::write(damaged.join(&name), octets).map_err(io)?;
        }
    }
    std::fs::create_dir_all(folder.join("outside")).map_err(io)?;
    copy(&folder.join("results/whole"), &folder.join("outside")).map_err(io)?;
    let manifest = folder.join("outside/manifest.json");
    let text = std::fs::read_to_string(&manifest).map_err(io)?;
    std::fs::write(&manifest, text.replace("\"damaged\"", &format!("\"{SECRET}\""))).map_err(io)?;
    crate::places::link("../outside", &folder.join("results/outside")).map_err(io)?;
    crate::places::link("../shadow", &folder.join("results/shadow")).map_err(io)
}

/// One server, asked by a stranger.
pub(crate) fn attack(setting: &Setting, number: u64, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let mut random = Random::new(setting.seed, number, "served");
    prepare(setting, folder, &mut random)?;
    let with_token = random.percent(25);
    let mut served = start(setting, folder, with_token)?;
    let mut answered = Ok(());
    for turn in 0..REQUESTS {
        if setting.program.until.is_some_and(|until| Instant::now() > until) {
            return Err(crate::program::CUT_OFF.into());
        }
        let asked = if random.percent(60) {
            let body = question(setting, number * REQUESTS + turn, &mut random);
            let tab = random.of(&[
                "a",
                "a",
                "a",
                "b",
                "",
                "a%2fb",
                "0123456789012345678901234567890123456789012345678901234567890123456",
            ]);
            request(&served, "POST", &format!("/lab/{tab}"), &body, &mut random)
        } else {
            let (method, path) = (*random.of(&METHODS), *random.of(&PATHS));
            request(&served, method, path, b"", &mut random)
        };
        answered = judge(ask(&served, &asked, PATIENCE), &asked, tally);
        if answered.is_err() {
            break;
        }
    }
    let last = Asked {
        octets: format!(
            "GET /?token={} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            served.token.as_deref().unwrap_or_default(),
            served.address
        )
        .into_bytes(),
        whole: true,
        words: "the page, after all requests".into(),
    };
    let page = ask(&served, &last, PATIENCE);
    let ended = served.child.try_wait().map_err(|error| error.to_string())?;
    drop(served);
    let said = std::fs::read(folder.join("err")).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let words = said.chars().take(600).collect::<String>();
    if ["panicked", "memory allocation", "overflowed its stack"].iter().any(|wrong| said.contains(wrong)) {
        return Err(format!("{}: {words}", answered.err().unwrap_or_else(|| "the server".into())));
    }
    if let Some(status) = ended {
        return Err(format!("the server ended with {status}: {words}"));
    }
    answered?;
    match page?.unwrap_or_default().starts_with(b"HTTP/1.1 200") {
        true => Ok(()),
        false => Err(format!("after all requests the page is not served; {words}")),
    }
}

fn judge(answer: Result<Option<Vec<u8>>, String>, asked: &Asked, tally: &mut Tally) -> Result<(), String> {
    let Some(answer) = answer? else {
        tally.count("requests cut off", 1);
        return Ok(());
    };
    // A client that asks for it is told to go on first.
    let last = answer.strip_prefix(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap_or(&answer);
    let text = String::from_utf8_lossy(&last[..last.len().min(400)]).into_owned();
    if answer.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()) {
        return Err(format!("{} is answered with what lies outside of the folder: {text}", asked.words));
    }
    match text.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok()) {
        Some(200) => tally.count("answered", 1),
        Some(status @ (400..=499 | 503)) => tally.count(&format!("refused {status}"), 1),
        _ => return Err(format!("{} is answered with {text:?}", asked.words)),
    }
    Ok(())
}
