//! Fabrics in the formats of infiniband-diags and opensm, whole and damaged.

use super::*;
use crate::{Limits, NoFiles, Plan, load_str};
use discovery::subnet::{File, Subnet};
use fabric::graph::HostId;
use fabric::spec::Egress;

/// Two switches with two links between them, a host at each, and an adapter with two ports. As ibnetdiscover of
/// infiniband-diags prints it; names and GUIDs are made up.
const FABRIC: &str = "#
# Topology file: generated on Tue Jan  6 10:00:00 2026
#
# Initiated from node 0002c9030000a001 port 0002c9030000a002

vendid=0x2c9
devid=0xcb20
sysimgguid=0x2c90300001000
switchguid=0x2c90300001000(2c90300001000)
Switch\t36 \"S-0002c90300001000\"\t\t# \"MF0;leaf-1:MQM8700/U1\" enhanced port 0 lid 1 lmc 0
[1]\t\"H-0002c9030000a001\"[1](2c9030000a002) \t\t# \"node1 mlx5_0\" lid 3 4xHDR
[4]\t\"H-0002c9030000c001\"[1](2c9030000c002) \t\t# \"storage\" lid 5 4xEDR
[35]\t\"S-0002c90300002000\"[36]\t\t# \"leaf-2\" lid 2 4xHDR
[36]\t\"S-0002c90300002000\"[35]\t\t# \"leaf-2\" lid 2 4xHDR

vendid=0x2c9
devid=0xcb20
switchguid=0x2c90300002000(2c90300002000)
Switch\t36 \"S-0002c90300002000\"\t\t# \"leaf-2\" enhanced port 0 lid 2 lmc 0
[7]\t\"H-0002c9030000b001\"[1](2c9030000b002) \t\t# \"node2 mlx5_0\" lid 4 4xHDR
[8]\t\"H-0002c9030000c001\"[2](2c9030000c003) \t\t# \"storage\" lid 6 4xEDR
[35]\t\"S-0002c90300001000\"[36]\t\t# \"MF0;leaf-1:MQM8700/U1\" lid 1 4xHDR
[36]\t\"S-0002c90300001000\"[35]\t\t# \"MF0;leaf-1:MQM8700/U1\" lid 1 4xHDR

vendid=0x2c9
caguid=0x2c9030000a001
Ca\t1 \"H-0002c9030000a001\"\t\t# \"node1 mlx5_0\"
[1](2c9030000a002) \t\"S-0002c90300001000\"[1]\t\t# lid 3 lmc 0 \"MF0;leaf-1:MQM8700/U1\" lid 1 4xHDR

caguid=0x2c9030000b001
Ca\t1 \"H-0002c9030000b001\"\t\t# \"node2 mlx5_0\"
[1](2c9030000b002) \t\"S-0002c90300002000\"[7]\t\t# lid 4 lmc 0 \"leaf-2\" lid 2 4xHDR

caguid=0x2c9030000c001
Ca\t2 \"H-0002c9030000c001\"\t\t# \"storage\"
[1](2c9030000c002) \t\"S-0002c90300001000\"[4]\t\t# lid 5 lmc 0 \"MF0;leaf-1:MQM8700/U1\" lid 1 4xEDR
[2](2c9030000c003) \t\"S-0002c90300002000\"[8]\t\t# lid 6 lmc 0 \"leaf-2\" lid 2 4xEDR
";

const LFTS: &str = "Unicast lids [0x0-0x6] of switch Lid 1 guid 0x0002c90300001000 ('MF0;leaf-1:MQM8700/U1'):
0x0001 000 # Switch portguid 0x0002c90300001000: 'MF0;leaf-1:MQM8700/U1'
0x0002 035 # Switch portguid 0x0002c90300002000: 'leaf-2'
0x0003 001 # Channel Adapter portguid 0x0002c9030000a002: 'node1 mlx5_0'
0x0004 036 # Channel Adapter portguid 0x0002c9030000b002: 'node2 mlx5_0'
0x0005 004 # Channel Adapter portguid 0x0002c9030000c002: 'storage'
0x0006 035 # Channel Adapter portguid 0x0002c9030000c003: 'storage'
6 valid lids dumped
Unicast lids [0x0-0x6] of switch Lid 2 guid 0x0002c90300002000 ('leaf-2'):
0x0001 036 # Switch portguid 0x0002c90300001000: 'MF0;leaf-1:MQM8700/U1'
0x0002 000 # Switch portguid 0x0002c90300002000: 'leaf-2'
0x0003 036 # Channel Adapter portguid 0x0002c9030000a002: 'node1 mlx5_0'
0x0004 007 # Channel Adapter portguid 0x0002c9030000b002: 'node2 mlx5_0'
0x0005 035 # Channel Adapter portguid 0x0002c9030000c002: 'storage'
0x0006 008 # Channel Adapter portguid 0x0002c9030000c003: 'storage'
6 valid lids dumped
";

const QOS: &str = "# QoS
qos TRUE
qos_max_vls 4
qos_high_limit 3
qos_vlarb_high 1:64,0:0
qos_vlarb_low 0:32,1:4
qos_sl2vl 0,1,0,1,15,15,15,15,15,15,15,15,15,15,15,15
qos_ca_high_limit 5
qos_vlarb_hihg 1:4
sl2vl 0,1
guid 0x0
";

const PARTITIONS: &str = "Default=0x7fff, ipoib : ALL=full ;
fast=0x8001, sl=1, colour=red :
    0x2c9030000a002=full, 0x2c9030000b002, 0xdead ;
";

fn files<'a>(topology: &'a str, lfts: Option<&'a str>) -> Files<'a> {
    let named = |name, text| NamedText { name, text };
    Files {
        topology: named("net.txt", topology),
        lfts: lfts.map(|text| named("lfts.dump", text)),
        qos: None,
        partitions: None,
    }
}

fn plan(files: &Files<'_>) -> (Plan, Vec<String>) {
    let imported = import(files, "fabric").unwrap_or_else(|errors| panic!("{errors}"));
    let text = &imported.scenario;
    let plan = load_str("fabric.toml", text, &[], &NoFiles, Limits::default());
    let notes = imported.notes.iter().map(|note| format!("{}: {}", note.key, note.meaning)).collect();
    (plan.unwrap_or_else(|errors| panic!("{errors}\n{text}")), notes)
}

fn refused(files: &Files<'_>) -> Vec<String> {
    let errors = import(files, "a").expect_err("a mistake");
    errors.complaints().map(|it| format!("{}:{}: {}", it.file, it.line, it.message)).collect()
}

#[test]
fn a_fabric_becomes_a_network_with_its_rates_and_tables() {
    let (plan, notes) = plan(&files(FABRIC, Some(LFTS)));
    let graph = &plan.spec.graph;
    let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    let expected = ["MF0;leaf-1:MQM8700/U1", "leaf-2", "node1 mlx5_0", "node2 mlx5_0", "storage.1", "storage.2"];
    assert_eq!(names, expected);
    let rates: Vec<u64> = graph.cables.iter().map(|cable| cable.link.rate.as_bits_per_sec() / 1_000_000_000).collect();
    let mut sorted = rates.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [100, 100, 200, 200, 200, 200]);
    // Port 36 of the first switch is its last, and carries what is for node2; the storage's second port is behind port 35.
    let ends = &graph.ports()[0];
    let [leaf1, _] = [0, 1].map(|place| graph.switches()[place]);
    let via = |host: u32| plan.spec.routes.ports(leaf1, HostId(host)).to_vec();
    assert_eq!((via(1), via(3)), (vec![ends.len() as u16 - 1], vec![ends.len() as u16 - 2]));
    assert!(notes.iter().any(|note| note.starts_with("adapters: 1 with several ports")), "{notes:?}");
    assert!(notes.iter().any(|note| note.starts_with("links: 6 without a length")), "{notes:?}");
}

/// What `tailback routes` writes of an imported fabric.
fn exported(files: &Files<'_>, file: File) -> String {
    let plan = plan(files).0;
    let subnet = Subnet::new(&plan.spec.graph, &plan.spec.routes, &plan.subnet, 0);
    subnet.unwrap_or_else(|reason| panic!("{reason}")).file(file)
}

/// Lines without the title of the file and without empty ones.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect()
}

#[test]
fn a_fabric_comes_back_with_its_identifiers_ports_and_speeds() {
    let files = files(FABRIC, Some(LFTS));
    assert_eq!(lines(&exported(&files, File::Ibnetdiscover)), lines(FABRIC));
    assert_eq!(exported(&files, File::Lfts), LFTS);
    // Widths that no rate tells apart, ports in no order, a router, several identifiers, a base port 0.
    let other = FABRIC
        .replace("4xEDR", "2xHDR")
        .replace("4xHDR", "1xXDR")
        .replace("[35]\t\"S-0002c90300002000\"[36]", "[35]\t\"S-0002c90300002000\"[35]")
        .replace("[36]\t\"S-0002c90300002000\"[35]", "[36]\t\"S-0002c90300002000\"[36]")
        .replace("[35]\t\"S-0002c90300001000\"[36]", "[35]\t\"S-0002c90300001000\"[35]")
        .replace("[36]\t\"S-0002c90300001000\"[35]", "[36]\t\"S-0002c90300001000\"[36]")
        .replace("lid 6 lmc 0", "lid 6 lmc 1")
        .replace("\"leaf-2\" enhanced", "\"leaf-2\" base")
        .replace("caguid=0x2c9030000b001\nCa", "rtguid=0x2c9030000b001\nRt")
        .replace("H-0002c9030000b001", "R-0002c9030000b001")
        .replace("0x2c90300002000(2c90300002000)", "0x2c90300002000(2c90300002001)");
    let tables = LFTS
        .replace("[0x0-0x6]", "[0x0-0x7]")
        .replace("6 valid", "7 valid")
        .replace("portguid 0x0002c90300002000", "portguid 0x0002c90300002001")
        .replace("Channel Adapter portguid 0x0002c9030000b002", "Router portguid 0x0002c9030000b002")
        .replace(
            "c003: 'storage'\n",
            "c003: 'storage'\n0x0007 035 # Channel Adapter portguid 0x0002c9030000c003: 'storage'\n",
        );
    let files = self::files(&other, Some(&tables));
    assert_eq!(lines(&exported(&files, File::Ibnetdiscover)), lines(&other));
    assert_eq!(exported(&files, File::Lfts), tables);
    assert!(exported(&files, File::Guid2lid).contains("0x0002c9030000c003 0x0006 0x0007\n"));
}

#[test]
fn another_rate_is_another_speed() {
    let imported = import(&files(FABRIC, None), "fabric").unwrap_or_else(|errors| panic!("{errors}"));
    let of = |rate: &str| {
        let text = imported.scenario.replace("200Gb/s", rate);
        let plan =
            load_str("a.toml", &text, &[], &NoFiles, Limits::default()).unwrap_or_else(|errors| panic!("{errors}"));
        let subnet = Subnet::new(&plan.spec.graph, &plan.spec.routes, &plan.subnet, 0).expect("a subnet");
        (subnet.file(File::Ibnetdiscover), subnet.approximated())
    };
    let (text, nearest) = of("400Gb/s");
    assert!(text.contains("lid 3 4xNDR") && text.contains("lid 5 4xEDR") && nearest.is_empty(), "{text}");
    let (text, nearest) = of("90Gb/s");
    assert!(text.contains("lid 3 12xQDR") && nearest.len() == 1, "{text}");
}

#[test]
fn aggregation_nodes_have_no_traffic() {
    let node = "vendid=0x2c9\ndevid=0xcf09\ncaguid=0x2c90300001008\nCa\t1 \"H-0002c90300001008\"\t\t# \"Mellanox Technologies Aggregation Node\"
[1](2c90300001008) \t\"S-0002c90300001000\"[37]\t\t# lid 9 lmc 0 \"MF0;leaf-1:MQM8700/U1\" lid 1 4xHDR\n";
    let port =
        "[37]\t\"H-0002c90300001008\"[1](2c90300001008) \t\t# \"Mellanox Technologies Aggregation Node\" lid 9 4xHDR\n";
    let text = FABRIC.replace("Switch\t36 \"S-0002c90300001000", "Switch\t37 \"S-0002c90300001000");
    let text = text.replacen(
        "\nvendid=0x2c9\ndevid=0xcb20\nswitchguid",
        &format!("{port}\nvendid=0x2c9\ndevid=0xcb20\nswitchguid"),
        1,
    );
    let text = format!("{text}\n{node}");
    let (plan, notes) = plan(&files(&text, None));
    let names: Vec<&str> = plan.spec.graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert!(names.contains(&"MF0;leaf-1:MQM8700/U1 aggregation node"), "{names:?}");
    assert!(notes.iter().any(|note| note.starts_with("aggregation nodes: 1 of SHARP")), "{notes:?}");
    // The others of the two switches: four hosts, of which three send to the first.
    let hosts = plan.spec.graph.hosts();
    let silent = hosts.iter().position(|host| names[host.0 as usize].ends_with("aggregation node")).expect("a host");
    assert!(plan.spec.flows.iter().all(|flow| flow.source.0 as usize != silent), "{:?}", plan.spec.flows);
    assert_eq!(lines(&exported(&files(&text, None), File::Ibnetdiscover)), lines(&text));
}

#[test]
fn without_tables_paths_are_computed() {
    let (plan, notes) = plan(&files(FABRIC, None));
    assert!(plan.routing.is_some());
    assert!(notes.iter().any(|note| note.starts_with("lfts: no forwarding tables")), "{notes:?}");
}

#[test]
fn quality_of_service_becomes_lanes_and_partitions_become_traffic() {
    let mut files = files(FABRIC, Some(LFTS));
    files.qos = Some(NamedText { name: "opensm.conf", text: QOS });
    files.partitions = Some(NamedText { name: "partitions.conf", text: PARTITIONS });
    let (plan, notes) = plan(&files);
    let classes: Vec<&str> = plan.spec.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(classes, ["vl0", "vl1"]);
    let Egress::Tables(tables) = &plan.spec.switches[0].egress else { panic!("arbitration by tables") };
    assert_eq!((tables.high_limit, tables.high.len(), tables.low.len()), (3, 1, 2));
    let flows: Vec<u8> = plan.spec.flows.iter().map(|flow| flow.class).collect();
    assert_eq!(flows, [0, 0, 0, 1], "all adapters in lane 0, node2 to node1 in lane 1");
    for part in [
        "qos_ca_high_limit: options of some kinds",
        "guid, qos_vlarb_hihg, sl2vl: keys without a meaning",
        "colour: a flag",
        "fast: 1 members are not in",
    ] {
        assert!(notes.iter().any(|note| note.starts_with(part)), "{part}: {notes:?}");
    }
}

#[test]
fn options_as_opensm_writes_them_by_default_are_one_lane() {
    let mut files = files(FABRIC, None);
    let text = "guid 0x0\nqos FALSE\nqos_max_vls 0\nqos_high_limit -1\nqos_vlarb_high (null)\nqos_sl2vl (null)\n";
    files.qos = Some(NamedText { name: "opensm.conf", text });
    let (plan, notes) = plan(&files);
    assert_eq!(plan.spec.classes.len(), 1);
    assert!(notes.iter().any(|note| note.starts_with("qos: quality of service is off")), "{notes:?}");
}

#[test]
fn lanes_are_those_that_ports_have() {
    let lanes = |text: &str| {
        let mut files = files(FABRIC, None);
        files.qos = Some(NamedText { name: "opensm.conf", text });
        let (plan, notes) = plan(&files);
        let classes: Vec<String> = plan.spec.classes.iter().map(|class| class.name.clone()).collect();
        (classes.join(" "), notes.iter().any(|note| note.starts_with("qos_sl2vl: ports have 8 lanes")))
    };
    // opensm's default: 15 lanes, which ports with eight fold.
    assert_eq!(lanes("qos TRUE\nqos_sl2vl (null)\n"), ("vl0 vl1 vl2 vl3 vl4 vl5 vl6 vl7".to_owned(), true));
    let list = "qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7\n";
    assert_eq!(lanes(&format!("qos TRUE\nqos_max_vls 4\n{list}")), ("vl0 vl1 vl2 vl3".to_owned(), false));
    assert_eq!(lanes(&format!("qos TRUE\nqos_max_vls 1\n{list}")), ("vl0".to_owned(), false));
}

#[test]
fn partitions_may_have_multicast_groups_and_several_parts() {
    // As packages of opensm install it.
    let text = "Default=0x7fff, rate=3, mtu=4, scope=2, defmember=full:
        ALL, ALL_SWITCHES=full;
Default=0x7fff, ipoib, rate=3, mtu=4, scope=2:
        mgid=ff12:401b::ffff:ffff       # IPv4 broadcast address
        mgid=ff12:401b::1,sl=1,Q_Key=0xDEADBEEF,rate=3,mtu=2
        mgid=ff12:601b::16
        ALL=full, ALL_SWITCHES=full;
";
    let mut files = files(FABRIC, None);
    files.partitions = Some(NamedText { name: "partitions.conf", text });
    let (plan, _) = plan(&files);
    assert_eq!(plan.workload_names, ["Default"]);
    assert_eq!(plan.spec.flows.len(), 3);
}

#[test]
fn real_outputs_with_messages_loops_and_unequal_ends_are_read() {
    let text = FABRIC
        .replacen("4xHDR", "1xHDR", 1)
        .replacen("[35]\t", "[20]\t\"S-0002c90300001000\"[21]\t\t# \"leaf\" lid 1 4xHDR\n[21]\t\"S-0002c90300001000\"[20]\t\t# \"leaf\" lid 1 4xHDR\n[35]\t", 1);
    let text = format!(
        "src/query_smp.c:195; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110\n{text}ibwarn: [1] x\n"
    );
    let (plan, notes) = plan(&files(&text, None));
    let (whole, _) = self::plan(&files(FABRIC, None));
    assert_eq!(plan.spec.graph.cables.len(), whole.spec.graph.cables.len());
    let slowest = plan.spec.graph.cables.iter().map(|cable| cable.link.rate).min();
    assert_eq!(slowest.map(|rate| rate.to_string()).as_deref(), Some("50Gb/s"));
    for part in [
        "messages of ibnetdiscover: 2 lines",
        "links: 1 from a switch to itself",
        "links: 1 with different speeds at their ends have the lower one: 4xHDR at port 1 of node1 mlx5_0, 1xHDR at MF0",
    ] {
        assert!(notes.iter().any(|note| note.starts_with(part)), "{part}: {notes:?}");
    }
}

#[test]
fn mistakes_have_file_and_line() {
    let without = |part: &str| FABRIC.replacen(part, "", 1);
    let cases = [
        (without(" 4xHDR"), "net.txt:11: port 1 of MF0;leaf-1:MQM8700/U1 has no width and speed"),
        (FABRIC.replacen("4xHDR", "4xGDR", 1), "port 1 of MF0;leaf-1:MQM8700/U1 has \"4xGDR\", which is not a width"),
        (FABRIC.replacen("4xHDR", "3xHDR", 1), "has \"3xHDR\", which is not a width and speed"),
        (FABRIC.split("caguid=0x2c9030000b001").next().unwrap_or_default().to_owned(), "which is not in the file"),
        (FABRIC[..FABRIC.len() * 2 / 3].to_owned(), "this line does not name"),
        (FABRIC.replacen("[36]\t\t# \"leaf-2\"", "[35]\t\t# \"leaf-2\"", 1), "but that leads elsewhere"),
        (FABRIC.replacen("[4]\t", "[1]\t", 1), "net.txt:12: port 1 of MF0;leaf-1:MQM8700/U1 is there twice"),
        (format!("{FABRIC}{FABRIC}"), "node S-0002c90300001000 is there twice"),
        (FABRIC.replacen("Switch\t36", "Schalter 36", 1), "this line is not one of ibnetdiscover"),
        (String::new(), "there are no nodes in this file"),
    ];
    for (text, message) in cases {
        let complaints = refused(&files(&text, Some(LFTS)));
        assert!(complaints.iter().any(|it| it.contains(message)), "{message}: {complaints:?}");
    }
    let cases = [
        (LFTS[..LFTS.len() / 2].to_owned(), "the file is truncated"),
        (LFTS.replace("0x0004 036", "0x0004 020"), "forwards to port 20, which has no link"),
        (LFTS.replacen("6 valid", "7 valid", 1), "lfts.dump:8: this table states 7 entries, but has 6"),
        (LFTS.replace("0x0002c90300002000 ('leaf-2'):", "0x0002c9030000ffff:"), "is not in the topology"),
        (
            LFTS.split_inclusive("dumped\n").next().unwrap_or_default().to_owned(),
            "there is no forwarding table of switch leaf-2",
        ),
        (LFTS.replacen("0x0001 000", "one zero", 1), "lfts.dump:2: this line is not an entry"),
    ];
    for (text, message) in cases {
        let complaints = refused(&files(FABRIC, Some(&text)));
        assert!(complaints.iter().any(|it| it.contains(message)), "{message}: {complaints:?}");
    }
    let mut wrong = files(FABRIC, None);
    wrong.qos = Some(NamedText { name: "opensm.conf", text: "qos TRUE\nqos_sl2vl 0,1\nqos_vlarb_high 0-4\n" });
    wrong.partitions = Some(NamedText { name: "partitions.conf", text: "Default=0x7fff : ALL" });
    let complaints = refused(&wrong);
    assert!(complaints.iter().any(|it| it.starts_with("opensm.conf:3: `qos_vlarb_high`")), "{complaints:?}");
    assert!(complaints.iter().any(|it| it.contains("`;` is missing")), "{complaints:?}");
}
