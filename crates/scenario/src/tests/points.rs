//! Congestion points by class, and the class of trimmed frames.

use crate::{Limits, NoFiles, load_str};
use congestion::{CongestionPoint, Point};

const MIXED: &str = r#"schema_version = 1
[network]
topology = "single-switch"
hosts = 3
link = { rate = "10Gb/s", latency = "1us" }
[[classes]]
name = "roce"
[[classes]]
name = "tcp"
lossless = false
[[classes]]
name = "control"
lossless = false
[[switches]]
buffers = { capacity = "200KB" }
[run]
duration = "1ms"
"#;

fn with(lines: &str) -> String {
    MIXED.replace("[run]", &format!("{lines}\n[run]"))
}

fn load(text: &str) -> Result<crate::Plan, String> {
    load_str("test.toml", text, &[], &NoFiles, Limits::default()).map_err(|errors| errors.render(false))
}

fn problems(text: &str) -> String {
    load(text).map(drop).unwrap_err()
}

fn point(text: &str) -> Point {
    load(text).unwrap_or_else(|text| panic!("{text}")).spec.switches[0].congestion_point.clone().unwrap().point.unwrap()
}

#[test]
fn a_point_has_the_classes_that_it_may_have_or_those_that_it_names() {
    let all = point(&with("congestion_point = { name = \"ecn\" }"));
    assert!(matches!(all, Point::Red(_)), "all classes: no need to tell them apart");
    let drop = point(&with("congestion_point = { name = \"red\" }"));
    assert_eq!(drop.discards(), 0b110);
    let trim = point(&with("congestion_point = { name = \"trim\" }"));
    assert_eq!((trim.discards(), trim.trims()), (0b010, true));
    let several =
        "congestion_points = [{ name = \"ecn\", classes = [\"roce\"] }, { name = \"red\", classes = \"tcp\" }]";
    let Point::ByClass(parts) = point(&with(several)) else { panic!("two points") };
    assert_eq!(parts.parts().iter().map(|(classes, _)| *classes).collect::<Vec<_>>(), [0b001, 0b010]);
}

#[test]
fn an_empty_list_is_a_switch_without_congestion_points() {
    let text = with("congestion_points = []").replace("[run]", "[congestion_point]\nname = \"ecn\"\n[run]");
    let points = |text: &str| {
        let plan = load(text).unwrap_or_else(|text| panic!("{text}"));
        plan.spec.switches[0].congestion_point.as_ref().is_some_and(|point| point.point.is_some())
    };
    assert!(!points(&text));
    assert!(points(&text.replace("congestion_points = []", "")));
}

#[test]
fn a_preset_belongs_to_the_recovery_that_has_it() {
    let flow = |recovery: &str| {
        format!(
            "{MIXED}\n[[workloads]]\nname = \"w\"\nkind = \"greedy\"\nfrom = \"h0\"\nto = \"h1\"\nclass = \"tcp\"\n\
             protocol = {{ name = \"none\", window = \"20KB\" }}\nrecovery = {recovery}\n"
        )
    };
    assert!(load(&flow("{ name = \"sack\", preset = \"linux\" }")).is_ok());
    let found = problems(&flow("{ name = \"go-back-n\", preset = \"linux\" }"));
    assert!(found.contains("preset"), "{found}");
    assert!(!found.contains("acknowledgements"), "one mistake is one error: {found}");
    // A control that needs acknowledgements gets them from the recovery that is meant.
    let dctcp = |rest: &str| flow(rest).replace("{ name = \"none\", window = \"20KB\" }", "\"dctcp\"");
    assert!(load(&dctcp("\"sack\"")).is_ok());
    for (recovery, words) in [
        ("{ name = \"go-back-n\", timeout = \"0s\" }", "timeout is zero"),
        ("\"sack\"\nrequeue_oracle = \"1us\"", "so does sack"),
    ] {
        let found = problems(&dctcp(recovery));
        assert!(found.contains(words) && !found.contains("needs acknowledgements"), "{recovery}: {found}");
    }
}

#[test]
fn acknowledgements_for_several_frames_suit_the_window() {
    let flow = |protocol: &str, acknowledge: &str| {
        format!(
            "{MIXED}\n[[workloads]]\nname = \"w\"\nkind = \"greedy\"\nfrom = \"h0\"\nto = \"h1\"\nsize = \"1MB\"\n\
             class = \"tcp\"\nprotocol = {protocol}\nrecovery = \"sack\"\nacknowledge = {acknowledge}\n"
        )
    };
    let small = "{ name = \"none\", window = \"3KB\" }";
    let found = problems(&flow(small, "{ every = 4 }"));
    assert!(found.contains("closes before 4 frames"), "{found}");
    assert!(load(&flow(small, "{ every = 4, delay = \"10us\" }")).is_ok());
    let warned = |acknowledge: &str| {
        let plan = load(&flow("{ name = \"dctcp\" }", acknowledge)).unwrap_or_else(|text| panic!("{text}"));
        crate::check(&plan).iter().any(|finding| finding.message.contains("the flow stops until"))
    };
    assert!(warned("{ every = 4 }"));
    assert!(!warned("{ every = 4, delay = \"10us\" }") && !warned("{}"));
}

#[test]
fn a_lossy_queue_is_limited_in_bytes_and_frames() {
    let text = MIXED.replace(
        "buffers = { capacity = \"200KB\" }",
        "buffers = [{ capacity = \"200KB\" }, { classes = \"tcp\", capacity = \"90KB\", frames = 40 }]",
    );
    let plan = load(&text).unwrap_or_else(|text| panic!("{text}"));
    let fabric::spec::Buffer::Static(buffers) = &plan.spec.switches[0].buffer else { panic!("static") };
    assert_eq!((buffers[1].capacity.get(), buffers[1].frames, buffers[2].frames), (90_000, 40, u32::MAX));
    let found = problems(&text.replace("\"tcp\", capacity", "\"roce\", capacity"));
    assert!(found.contains("`frames` limits queues of lossy classes"), "{found}");
    let found = problems(&text.replace("[[switches]]", "[[switches]]\nqueueing = \"virtual-output\""));
    assert!(found.contains("`frames` limits output queues"), "{found}");
}

#[test]
fn flowlets_have_keys_of_their_own() {
    use fabric::spec::{FlowletChoice, FlowletSpec, Multipath};
    let text = MIXED.replace("hosts = 3", "hosts = 3\nmultipath = \"flowlet\"\nflowlet_gap = \"50us\"");
    let plan = load(&text).unwrap_or_else(|text| panic!("{text}"));
    let gap = units::Span::from_micros(50);
    let expected = FlowletSpec { gap, entries: 65_536, choice: FlowletChoice::Random };
    assert_eq!(plan.spec.multipath, Multipath::Flowlet(expected));
    let found = problems(&text.replace("\"flowlet\"", "\"adaptive\""));
    assert!(found.contains("`flowlet_gap` has no effect"), "{found}");
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    for (lines, words) in [
        ("congestion_point = { name = \"red\", classes = \"roce\" }", "class `roce` is lossless"),
        (
            "trim_class = \"tcp\"\ncongestion_point = { name = \"trim\", classes = \"tcp\" }",
            "in which the headers continue",
        ),
        ("trim_class = \"tcp\"", "`trim_class` has no effect"),
        (
            "congestion_points = [{ name = \"ecn\" }, { name = \"red\", classes = \"tcp\" }]",
            "class `tcp` has two congestion points",
        ),
        ("congestion_point = { name = \"ecn\" }\ncongestion_points = [{ name = \"red\" }]", "both are given"),
        ("congestion_point = { name = \"ecn\", kmin = \"300KB\" }", "kmin of 300KB exceeds kmax of 200KB"),
    ] {
        let found = problems(&with(lines));
        assert!(found.contains(words), "{lines}: {found}");
    }
    let lossless = MIXED.replace("lossless = false", "lossless = true");
    let found = problems(&lossless.replace("[run]", "congestion_point = { name = \"red\" }\n[run]"));
    assert!(found.contains("every class is lossless"), "{found}");
}

#[test]
fn headers_that_can_fill_a_link_are_warned_of_with_the_arithmetic() {
    let text = |senders: u32, egress: &str, flow: &str| {
        format!(
            "schema_version = 1\n[network]\ntopology = \"single-switch\"\nhosts = {}\n\
             link = {{ rate = \"10Gb/s\", latency = \"1us\" }}\n\
             [[classes]]\nname = \"data\"\nlossless = false\n[[classes]]\nname = \"headers\"\nlossless = false\n\
             [[switches]]\nflow_control = \"none\"\nbuffers = {{ capacity = \"100KB\" }}\n{egress}\n\
             congestion_points = [{{ name = \"trim\", classes = [\"data\"] }}]\n\
             [[workloads]]\nkind = \"incast\"\nfrom = \"h{{1..{senders}}}\"\nto = \"h0\"\nclass = \"data\"\n{flow}\n\
             [run]\nduration = \"1ms\"\n",
            senders + 1
        )
    };
    let warnings = |text: &str| {
        let plan = load(text).unwrap_or_else(|errors| panic!("{errors}"));
        let found = crate::check(&plan).into_iter().filter(|it| it.message.contains("headers of trimmed frames"));
        found.map(|it| format!("{}\n{}", it.message, it.remedy)).collect::<Vec<_>>()
    };
    // A header is 84 B of 1520 B on the wire: 18 senders fill 18 x 84 / 1520 = 0.99 of the link, 19 all of it.
    assert_eq!(warnings(&text(18, "", "")), [""; 0]);
    let found = warnings(&text(19, "", ""));
    assert_eq!(found.len(), 1, "{found:?}");
    for words in ["sw0 -> h0", "19 sources offer 190 Gb/s", "headers of 84 B for frames of 1520 B", "10.5 Gb/s"] {
        assert!(found[0].contains(words), "{words}: {found:?}");
    }
    // The remedy is taken from the message as it is.
    let remedy = found[0].lines().last().and_then(|line| line.split(": egress").nth(1)).expect("a remedy");
    let remedy = format!("egress{}", remedy.split("; or").next().expect("the line to write"));
    assert_eq!(warnings(&text(40, &remedy, "")), [""; 0], "{remedy}");
    // Finite flows that retransmit never end; those that do not, and those that react, make room.
    assert_eq!(warnings(&text(19, "", "size = \"1MB\"\nrecovery = \"sack\"")).len(), 1);
    assert_eq!(warnings(&text(19, "", "size = \"1MB\"")), [""; 0]);
    assert_eq!(warnings(&text(19, "", "recovery = \"sack\"\nprotocol = { name = \"dctcp\" }")), [""; 0]);
    let found = problems(&text(2, "trim_size = \"1500B\"", ""));
    assert!(found.contains("not shorter than the frames that are trimmed") && found.contains("such as 64B"), "{found}");
}

#[test]
fn bit_errors_that_leave_hardly_a_frame_whole_are_warned_of() {
    let warned = |rate: &str| {
        let text = MIXED.replace("latency", &format!("bit_error_rate = {rate}, latency"));
        let flow = "[[workloads]]\nkind = \"greedy\"\nfrom = \"h0\"\nto = \"h1\"\n";
        let plan = load(&format!("{text}\n{flow}")).unwrap_or_else(|errors| panic!("{errors}"));
        crate::check(&plan).into_iter().find(|it| it.message.contains("arrive whole")).map(|it| it.message)
    };
    assert!(warned("0.9").is_some_and(|message| message.starts_with("no frames of 1500B arrive whole")));
    // 12,000 bits: e^-1.2 = 30 % of the frames, and e^-0.12 = 89 %.
    assert!(warned("1e-4").is_some_and(|message| message.starts_with("only 30.1")));
    assert_eq!((warned("1e-5"), warned("0")), (None, None));
}

#[test]
fn a_name_stands_for_a_control_with_its_defaults() {
    let flow = |protocol: &str| {
        format!("{MIXED}\n[[workloads]]\nkind = \"greedy\"\nfrom = \"h0\"\nto = \"h1\"\nprotocol = {protocol}\n")
    };
    let control = |text: &str| {
        let plan = load(text).unwrap_or_else(|errors| panic!("{errors}"));
        format!("{:?}", std::mem::discriminant(&plan.spec.flows[0].reaction))
    };
    assert_eq!(control(&flow("\"dcqcn\"")), control(&flow("{ name = \"dcqcn\" }")));
    let none = control(&flow("{ name = \"none\" }"));
    assert_ne!(control(&flow("\"dcqcn\"")), none);
    let everywhere = |text: &str| text.replace("[network]", "protocol = \"dcqcn\"\n[network]");
    assert_eq!(control(&everywhere(&flow("\"none\""))), none, "a workload without control");
    let found = problems(&with("congestion_point = \"ecn\""));
    assert!(found.contains("expected a table, found text") && found.contains("write { name = \"ecn\" }"), "{found}");
    let found = problems(&with("congestion_points = \"ecn\""));
    assert!(found.contains("write [{ name = \"ecn\" }]"), "{found}");
}
