//! The server, asked over a real socket.

use super::*;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

const TEXT: &str = r#"
    schema_version = 1
    name = "served"
    [network]
    topology = "single-switch"
    hosts = 3
    link = { rate = "10Gb/s", latency = "1us" }
    [[switches]]
    flow_control = "pfc"
    buffers = { capacity = "200KB" }
    [[workloads]]
    kind = "greedy"
    from = ["h0", "h1"]
    to = ["h2"]
    [run]
    duration = "2ms"
"#;

/// Runs a server for as long as `act` takes.
fn with_server(settings: Settings, act: impl FnOnce(SocketAddr, String)) {
    let server = Server::bind("127.0.0.1:0".parse().expect("an address"), settings).expect("a free port");
    let (address, page) = (server.listener.local_addr().expect("it listens"), server.address());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let served = scope.spawn(|| server.run(&stop));
        let acted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(address, page)));
        stop.store(true, Ordering::Relaxed);
        served.join().expect("it ends").expect("it served");
        acted.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// Sends a request as it stands, and returns status, headers and body.
fn raw(address: SocketAddr, request: &str) -> (u16, String, Vec<u8>) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("it answers");
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("headers end") + 4;
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    (status, head, answer[end..].to_vec())
}

fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n", address.port());
    let (status, _, body) = raw(address, &request);
    (status, String::from_utf8_lossy(&body).into_owned())
}

/// Asks the lab of a tab, and returns the document of its answer.
fn ask(address: SocketAddr, tab: &str, request: &Value) -> (u16, Value) {
    let body = request.to_string();
    let request = format!(
        "POST /lab/{tab} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        address.port(),
        body.len()
    );
    let (status, _, body) = raw(address, &request);
    let Some((length, rest)) = body.split_first_chunk::<4>().filter(|_| status == 200) else {
        return (status, Value::String(String::from_utf8_lossy(&body).into_owned()));
    };
    (status, serde_json::from_slice(&rest[..u32::from_le_bytes(*length) as usize]).expect("a document"))
}

fn fingerprint_of_command() -> String {
    let plan = scenario::load_str("a.toml", TEXT, &[], &scenario::NoFiles, scenario::Limits::default()).expect("sound");
    let run = study::execute(&plan, &study::Options::default(), |_| {}).expect("it runs");
    results::hex(run.report.fingerprint)
}

fn run_in_steps(address: SocketAddr, tab: &str) -> String {
    let (_, started) = ask(address, tab, &json!({ "ask": "start", "name": "a.toml", "text": TEXT }));
    let until = started["duration_ps"].as_u64().unwrap_or_else(|| panic!("{started}"));
    let mut looked = 0;
    loop {
        let (status, seen) = ask(address, tab, &json!({ "ask": "advance", "until": until }));
        assert_eq!(status, 200);
        if seen["ended"] == true {
            break;
        }
        let (_, look) = ask(address, tab, &json!({ "ask": "look", "wall": 0.1 }));
        assert_eq!(look["manifest"]["outcome"]["kind"], "interrupted");
        looked += 1;
        assert!(looked < 10_000, "{seen}");
    }
    let (_, made) = ask(address, tab, &json!({ "ask": "finish", "wall": 1.0 }));
    made["manifest"]["fingerprint"].as_str().expect("a fingerprint").to_owned()
}

#[test]
fn runs_of_two_tabs_are_those_of_the_command() {
    with_server(Settings::of("nowhere"), |address, page| {
        assert_eq!(page, format!("http://{address}/"));
        let (status, text) = get(address, "/");
        assert!(status == 200 && text.contains("connect-src 'self'"));
        let wanted = fingerprint_of_command();
        std::thread::scope(|scope| {
            let tabs = ["a1", "b2"].map(|tab| scope.spawn(move || run_in_steps(address, tab)));
            tabs.into_iter().for_each(|tab| assert_eq!(tab.join().expect("it ran"), wanted));
        });
        // A tab that is closed in the middle of a run is in nobody's way.
        ask(address, "gone", &json!({ "ask": "start", "name": "a.toml", "text": TEXT }));
        assert_eq!(run_in_steps(address, "a1"), wanted);
        assert_eq!(get(address, "/results").1, r#"{"folder":"nowhere","results":[]}"#);
    });
}

#[test]
fn bad_requests_are_refused_and_nothing_breaks() {
    with_server(Settings::of("nowhere"), |address, _| {
        assert_eq!(get(address, "/nothing").0, 404);
        assert_eq!(ask(address, "a.b", &json!({})).0, 400);
        assert_eq!(ask(address, &"a".repeat(65), &json!({})).0, 400);
        assert!(ask(address, "a", &json!({ "ask": "rob" })).1["refused"].is_string());
        assert!(ask(address, "a", &json!({ "ask": "advance", "until": 5 })).1["refused"].is_string());
        let wrong = ask(address, "a", &json!({ "ask": "start", "name": "a.toml", "text": "schema_version = 2" })).1;
        assert!(wrong["complaints"].as_array().is_some_and(|all| !all.is_empty()), "{wrong}");
        // A scenario reads no file of this machine.
        let text = format!("base = \"/etc/passwd\"\n{TEXT}");
        let wrong = ask(address, "a", &json!({ "ask": "check", "name": "a.toml", "text": text })).1;
        assert!(wrong.to_string().contains("a page has no other files"), "{wrong}");
        let large = format!(
            "POST /lab/a HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\n",
            address.port()
        );
        assert_eq!(raw(address, &large).0, 413);
        let (status, head, _) = raw(address, "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
        assert!(status == 403 && head.contains("x-frame-options: DENY"), "{head}");
        (0..31).for_each(|tab| assert_eq!(ask(address, &format!("t{tab}"), &json!({ "ask": "keys" })).0, 200));
        assert_eq!(ask(address, "last", &json!({ "ask": "keys" })).0, 503);
    });
}

/// The first step of a run of an hour is not long, either.
#[test]
fn a_long_run_is_advanced_in_short_steps() {
    with_server(Settings::of("nowhere"), |address, _| {
        let text = TEXT.replace("2ms", "3600s").replace("10Gb/s", "400Gb/s");
        let started = ask(address, "a", &json!({ "ask": "start", "name": "a.toml", "text": text })).1;
        let until = started["duration_ps"].as_u64().unwrap_or_else(|| panic!("{started}"));
        let begun = std::time::Instant::now();
        let seen = ask(address, "a", &json!({ "ask": "advance", "until": until })).1;
        assert!(seen["ended"] == false && seen["now_ps"].as_u64() > Some(0), "{seen}");
        // A step has 0.2 s; a loaded machine adds seconds. The first one took minutes.
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    });
}

#[test]
fn results_are_listed_and_no_other_path_is_read() {
    let scratch = tempfile::tempdir().expect("there is room");
    let results = scratch.path().join("results");
    let plan = scenario::load_str("a.toml", TEXT, &[], &scenario::NoFiles, scenario::Limits::default()).expect("sound");
    let recorded = |out: &Path| {
        let record = Some(&study::Recording { out: out.to_owned(), existing: study::Existing::Replace });
        study::execute(&plan, &study::Options { record, ..study::Options::default() }, |_| {}).expect("it runs");
    };
    recorded(&results.join("one"));
    recorded(&scratch.path().join("secret"));
    std::fs::create_dir(results.join("empty")).expect("there is room");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../secret", results.join("link")).expect("a link");
    with_server(Settings::of(&results), |address, _| {
        let list: Value = serde_json::from_str(&get(address, "/results").1).expect("JSON");
        let list = list["results"].as_array().expect("a list");
        assert_eq!(list.len(), 1, "{list:?}");
        assert_eq!(
            (&list[0]["name"], &list[0]["kind"], &list[0]["title"]),
            (&json!("one"), &json!("run"), &json!("served"))
        );
        let (status, page) = get(address, "/results/one");
        assert!(status == 200 && page.contains("id=\"document\"") && !page.contains("connect-src"));
        let data: Value = serde_json::from_str(&get(address, "/runs/one").1).expect("JSON");
        assert!(
            data["document"]["runs"][0]["own"].is_u64() && data["blocks"].as_array().is_some_and(|all| all.len() > 3)
        );
        for name in ["..", "%2e%2e", "..%2fsecret", "%2fetc", "link", "empty", "one%2fmanifest.json", "one%00", "."] {
            for kind in ["results", "runs"] {
                let (status, text) = get(address, &format!("/{kind}/{name}"));
                assert!(status != 200 && !text.contains("fingerprint"), "{kind}/{name}: {status} {text}");
            }
        }
    });
}

#[test]
fn a_token_opens_what_others_may_reach() {
    let settings = Settings { wants_token: true, ..Settings::of("nowhere") };
    with_server(settings, |address, page| {
        assert_eq!(get(address, "/").0, 401);
        assert_eq!(get(address, "/results").0, 401);
        assert_eq!(ask(address, "a", &json!({ "ask": "keys" })).0, 401);
        let query = page.split_once('?').expect("a token").1;
        assert_eq!(get(address, &format!("/?{query}")).0, 200);
        assert_eq!(get(address, &format!("/results?{query}")).0, 200);
    });
}
