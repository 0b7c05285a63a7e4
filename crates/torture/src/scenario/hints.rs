//! Keys whose values must fit the rest of the scenario, or keep it small.
//!
//! Everything else is drawn by kind. A key that needs a line here is one that no random value of its kind fits: the
//! test of coverage names it.

use super::draw::{some_names, time};
use super::tree::quoted;
use super::world::World;
use crate::random::Random;

/// Whether a key is given, where that is not a matter of chance alone.
pub fn given(path: &str, world: &World, random: &mut Random) -> Option<bool> {
    Some(match path {
        "network.nodes" | "network.links" => world.written_out > 0,
        "network.topology" => world.written_out == 0,
        // Names and files that others refer to.
        "classes" | "classes.name" | "workloads" | "workloads.name" | "expectations.name" => true,
        "base" | "name" | "set" => random.percent(10),
        // A backlog, or a flow, that ends: the run stays short.
        "workloads.backlog" => random.percent(60),
        "workloads.mean_gap" => !world.wanted.contains_key("workloads.load"),
        "workloads.load" => false,
        "workloads.protocol" if wants_pulls(world) => true,
        // Only a point that trims frames has a use for them.
        "switches.congestion_point" if trims(world) => true,
        "congestion_point" | "switches.congestion_points" if trims(world) => false,
        "workloads.flows" => !world.wanted.contains_key("workloads.file"),
        "workloads.file" => world.wanted.contains_key("workloads.file"),
        // Few values fit the number of hosts, or the algorithm.
        "workloads.algorithm" | "workloads.chunk" | "workloads.ranks" | "workloads.weights" => {
            world.wanted.contains_key(path) || random.percent(5)
        }
        // The second flow of a list may wait for the first, if that ends.
        "workloads.flows.after" | "workloads.flows.delay" => wants_waiting(world) && world.index > 0,
        "workloads.flows.size" if wants_waiting(world) => true,
        "workloads.skew" => !world.wanted.contains_key("workloads.weights") && random.percent(50),
        // It has no effect on a run.
        "workloads.capture" => false,
        // Few routings support several links of a host, and few numbers of switches can be grouped.
        "network.rails" | "network.planes" | "network.host_links" | "network.addresses" => false,
        // Identifiers have no effect on a run.
        "network.subnet" => false,
        // It contradicts `via`.
        "workloads.port" => false,
        "workloads.via" if world.wanted.contains_key("workloads.port") => false,
        // One of two readings.
        "switches.vl_arbitration" | "adapters.vl_arbitration" | "switches.egress" | "adapters.egress" => {
            random.percent(12)
        }
        "switches.ports" => random.percent(15),
        // It fits output queues only.
        "switches.pfc_watchdog" | "switches.ports.pfc_watchdog" => random.percent(10),
        // Small buffers have no room for hardware.
        "network.headroom" => random.percent(80),
        "switches.ports.egress" => random.percent(12),
        "switches.buffers.capacity" | "adapters.buffers.capacity" | "switches.ports.buffers.capacity" => {
            random.percent(97)
        }
        "network.routes.via" => !world.wanted.contains_key("network.routes.ports"),
        "network.routes.ports" | "network.reroutes.routes.ports" => false,
        "network.reroutes.routes.via" => !world.wanted.contains_key("network.reroutes.routes.ports"),
        "network.services.isid" => !world.wanted.contains_key("network.services.group"),
        "network.services.group" => false,
        "choices.options" => random.percent(30),
        "choices.path" | "choices.values" => !world.wanted.contains_key("choices.options"),
        "network.routes" => {
            world.wanted.get("network.routing").is_some_and(|values| values.contains(&"explicit".into()))
        }
        "expectations" | "variants" if world.wanted.contains_key("trends") || world.wanted.contains_key("charts") => {
            true
        }
        "fluid" | "sweep" | "variants" | "choices" | "trends" | "charts" => random.percent(world.density / 3),
        "adapters.service" | "adapters.service_changes" => random.percent(30),
        "adapters.buffers" => random.percent(70),
        "run.max_events" => random.percent(5),
        "network.cables.which" | "faults.which" => random.percent(5),
        _ => return None,
    })
}

/// Whether keys are wanted that belong to trimmed frames.
fn trims(world: &World) -> bool {
    world.wanted.contains_key("switches.trim_class") || world.wanted.contains_key("switches.trim_size")
}

/// Whether flows of a list are to wait for others.
fn wants_waiting(world: &World) -> bool {
    ["workloads.flows.after", "workloads.flows.delay"].iter().any(|&path| world.wanted.contains_key(path))
}

/// Whether keys are wanted that belong to pulls.
fn wants_pulls(world: &World) -> bool {
    ["workloads.pull.class", "workloads.pull.size"].iter().any(|&path| world.wanted.contains_key(path))
}

/// Whether the scenario is to have a workload of that kind, or a metric of it.
fn wants(world: &World, kind: &str, metrics: &[&str]) -> bool {
    let wants = |path: &str, values: &[&str]| {
        let wanted = world.wanted.get(path).into_iter().flatten();
        wanted.into_iter().any(|value| values.contains(&value.as_str()))
    };
    wants("workloads.kind", &[kind]) || wants("expectations.metric", metrics)
}

fn wants_collective(world: &World) -> bool {
    let metrics = ["collective-time", "algorithm-bandwidth", "bus-bandwidth", "collective-efficiency"];
    wants(world, "collective", &metrics)
}

fn wants_requests(world: &World) -> bool {
    wants(world, "request-response", &["request-time"])
}

/// How many tables a list has.
pub fn count(path: &str, world: &World, random: &mut Random) -> usize {
    match path {
        "classes" => world.classes.len(),
        "workloads" => world.workloads.len(),
        "expectations" => 1 + random.index(3),
        "network.nodes" => 2,
        "network.links" => world.written_out as usize,
        "network.routes" => world.hops.len().max(1),
        "switches.egress" | "adapters.egress" | "switches.ports.egress" => world.classes.len(),
        "switches" | "adapters" => 1 + random.index(2),
        "dcb.ets" => 1 + random.index(2),
        "workloads.flows" if wants_waiting(world) => 2,
        "variants" | "choices.options" => 2,
        _ => 1 + usize::from(random.percent(30)),
    }
}

/// A value that fits.
pub fn value(path: &str, world: &mut World, random: &mut Random) -> Option<String> {
    let section = path.rsplit_once('.').map_or("", |(section, _)| section);
    let name = path.rsplit('.').next().unwrap_or(path);
    network(path, world, random)
        .or_else(|| devices(path, section, world, random))
        .or_else(|| traffic(path, world, random))
        .or_else(|| figures(path, section, name, world, random))
}

fn network(path: &str, world: &World, random: &mut Random) -> Option<String> {
    let hop = world.hops.get(world.index % world.hops.len().max(1));
    Some(match path {
        "schema_version" => "1".into(),
        "base" => quoted("base.toml"),
        "network.link.rate" | "network.trunk.rate" | "network.links.rate" | "network.cables.rate" => {
            quoted(random.of(&["1Gb/s", "2.5Gb/s", "10Gb/s", "10Gb/s", "25Gb/s"]))
        }
        "network.link.latency" | "network.trunk.latency" | "network.links.latency" | "network.cables.latency" => {
            quoted(random.of(&["0s", "1ps", "50ns", "500ns", "500ns", "2us"]))
        }
        path if path.ends_with("bit_error_rate") => random.of(&["0.0", "1e-9", "1e-7", "1e-5", "0.001"]).to_string(),
        "network.subnet.node" => quoted(format!("h{}", world.index)),
        "network.subnet.guid" | "network.subnet.port_guid" | "network.subnet.system_guid" => {
            quoted(format!("0x{:x}", random.below(1 << 40)))
        }
        "network.subnet.vendor" | "network.subnet.device" => quoted("0x2c9"),
        "network.subnet.ports" => random.of(&["[1]", "[2]"]).to_string(),
        "network.subnet.speeds" => quoted(random.of(&["4xHDR", "1xSDR", "12xXDR"])),
        "network.subnet.forwarding" => quoted("0: 1; 1: 2 4-6"),
        "network.rails" => "1".into(),
        "network.planes" | "network.host_links" => random.of(&["1", "2"]).to_string(),
        "network.k" => random.of(&["2", "4"]).to_string(),
        "network.dims" => random.of(&["[2]", "[3]", "[2, 2]", "[3, 2]", "[2, 2, 2]"]).to_string(),
        "network.hosts" => (2 + random.below(5)).to_string(),
        "network.nodes.names" if world.index == 0 => quoted("h{0..3}"),
        "network.nodes.names" => quoted(format!("s{{0..{}}}", world.written_out - 1)),
        "network.nodes.role" => quoted(if world.index == 0 { "host" } else { "switch" }),
        "network.nodes.layer" => random.below(3).to_string(),
        "network.links.between" if world.index == 0 => "[\"h*\", \"s0\"]".into(),
        "network.links.between" => format!("[\"s{}\", \"s{}\"]", world.index - 1, world.index),
        "network.links.count" => if world.index == 0 { 1 } else { 1 + random.below(2) }.to_string(),
        "network.roots" => some_names(&world.switches, random),
        "network.headroom" if !world.wants("network.headroom", "hardware") => quoted("exact"),
        "network.overhead" => quoted(random.of(&["0B", "20B", "38B"])),
        "network.smallest_frame" => quoted(random.of(&["1B", "64B", "256B"])),
        "network.bridges.names" | "network.services.transmit" | "network.services.receive" => {
            some_names(&world.switches, random)
        }
        "network.bridges.address" => quoted(random.of(&["02-00-00-00-01-00", "02-00-00-01-00-00"])),
        "network.services.group" => quoted("03-00-00-00-00-0f"),
        "network.services.tree" => "0".into(),
        "network.routes.at" => hop.map_or(quoted("*"), |(at, ..)| quoted(at)),
        "network.routes.to" => hop.map_or(quoted("*"), |(_, to, ..)| quoted(to)),
        "network.routes.via" => hop.map_or(quoted("*"), |(_, _, via, _)| quoted(via)),
        "network.routes.ports" => hop.map_or("[0]".into(), |(.., port)| format!("[{port}]")),
        "network.reroutes.routes.ports" => world.hops.first().map_or("[0]".into(), |(.., port)| format!("[{port}]")),
        "network.reroutes.routes.at" | "network.reroutes.routes.to" | "network.reroutes.routes.via" => {
            // The three keys of an entry must belong together: the first hop is as good as any.
            let first = world.hops.first()?;
            match path.rsplit('.').next() {
                Some("at") => quoted(&first.0),
                Some("to") => quoted(&first.1),
                _ => quoted(&first.2),
            }
        }
        "network.cables.which" | "faults.which" => "0".into(),
        "network.cables.metric" => random.of(&["[20]", "[2000, 1]"]).to_string(),
        "faults.down" => format!("\"{}ns\"", random.below(world.duration)),
        "faults.up" => format!("\"{}ns\"", world.duration + random.below(world.duration)),
        "run.duration" => format!("\"{}ns\"", world.duration),
        "run.quick" => format!("\"{}ns\"", 1 + world.duration / 2),
        "run.inspect_every" => format!("\"{}ns\"", 1 + random.scaled(world.duration / 50, 3 * world.duration)),
        "run.seed" => random.scaled(0, i64::MAX as u64).to_string(),
        "run.replications" => (1 + random.below(2)).to_string(),
        "run.threads" => (1 + random.below(4)).to_string(),
        "run.max_events" => random.scaled(1, 100_000).to_string(),
        "probes.sample_every" | "probes.throughput_window" => {
            format!("\"{}ns\"", 1 + world.duration / (1 + random.scaled(1, 200)))
        }
        "probes.nodes" => some_names(&world.nodes(), random),
        _ => return None,
    })
}

fn devices(path: &str, section: &str, world: &mut World, random: &mut Random) -> Option<String> {
    let class = |world: &World, random: &mut Random| quoted(random.of(&world.classes));
    Some(match path {
        "classes.name" => quoted(&world.classes[world.index % world.classes.len()]),
        // A lossless class needs flow control.
        "classes.lossless" if world.wants("switches.flow_control", "none") => "false".into(),
        // Only frames of lossy classes are trimmed, into another class.
        "classes.lossless" if world.wants_trimming() => (world.index != 0 && random.percent(60)).to_string(),
        "classes.lossless" => (world.index == 0 || random.percent(60)).to_string(),
        "switches.match" if world.index == 0 => quoted("*"),
        "switches.match" => some_names(&world.switches, random),
        "adapters.match" if world.index == 0 => quoted("*"),
        "adapters.match" => some_names(&world.hosts, random),
        "dcb.match" => some_names(&world.nodes(), random),
        "switches.output_buffer" => quoted(random.of(&["10KB", "20KB", "66KB"])),
        "switches.shared_size" => quoted(random.of(&["30KB", "100KB", "400KB"])),
        "switches.header_delay" | "switches.pipeline" => quoted(random.of(&["0s", "20ns", "100ns", "350ns"])),
        "switches.buffers.capacity" | "switches.ports.buffers.capacity" | "adapters.buffers.capacity" => {
            quoted(random.of(&["10KB", "66KB", "120KB", "300KB", "300KB", "1MB"]))
        }
        "switches.buffers.xoff" | "switches.ports.buffers.xoff" | "adapters.buffers.xoff" => {
            quoted(random.of(&["5KB", "20KB", "40KB"]))
        }
        "switches.buffers.xon" | "switches.ports.buffers.xon" | "adapters.buffers.xon" => {
            quoted(random.of(&["0B", "2KB", "5KB"]))
        }
        "switches.buffers.limit" | "switches.ports.buffers.limit" => quoted(random.of(&["20KB", "100KB", "1MB"])),
        "switches.ports.neighbours" => quoted("*"),
        "switches.ports.without_pfc" => class(world, random),
        "switches.buffers.headroom" | "switches.ports.buffers.headroom" => quoted(random.of(&["20KB", "100KB"])),
        "switches.buffers.frames" | "switches.ports.buffers.frames" | "adapters.buffers.frames" => {
            (1 + random.below(9)).to_string()
        }
        "adapters.service" | "adapters.service_changes.rate" => quoted(random.of(&["500Mb/s", "4Gb/s", "9Gb/s"])),
        "switches.notice_class" | "switches.trim_class" => class(world, random),
        "switches.congestion_point.name" if trims(world) => quoted("trim"),
        "switches.pause.quanta" | "adapters.pause.quanta" => random.of(&["65535", "4000", "500"]).to_string(),
        "switches.pause.refresh_before" | "adapters.pause.refresh_before" => {
            random.of(&["0", "100", "300"]).to_string()
        }
        "switches.pause.holds"
        | "adapters.pause.holds"
        | "switches.buffers.classes"
        | "switches.ports.buffers.classes"
        | "adapters.buffers.classes" => some_names(&world.classes.clone(), random),
        path if section.ends_with("pause") && path.contains("response") => quoted(random.of(&["0s", "100ns", "1us"])),
        path if section.ends_with("pfc_watchdog") && path.ends_with("detection_time") => {
            quoted(random.of(&["50us", "300us", "2ms"]))
        }
        path if section.ends_with("pfc_watchdog") && path.ends_with("restoration_time") => {
            quoted(random.of(&["50us", "1ms"]))
        }
        path if section.ends_with("pfc_watchdog") && path.ends_with("poll_interval") => {
            quoted(random.of(&["0s", "20us", "50us"]))
        }
        path if section.ends_with("pfc_watchdog") && path.ends_with("classes") => {
            some_names(&world.classes.clone(), random)
        }
        path if section.ends_with("credits") && path.ends_with("block") => quoted(random.of(&["1B", "64B", "100B"])),
        path if section.ends_with("credits") && path.ends_with("refresh") => quoted(random.of(&["1us", "10us"])),
        path if section.ends_with("credits") && path.ends_with("delay") => quoted(random.of(&["1ns", "300ns"])),
        "switches.egress.classes" | "adapters.egress.classes" | "switches.ports.egress.classes" => {
            if world.index == 0 {
                world.sharing = random.below(3);
            }
            quoted(&world.classes[world.index % world.classes.len()])
        }
        "switches.egress.share" | "adapters.egress.share" | "switches.ports.egress.share" => match world.sharing {
            0 => quoted("weighted"),
            1 => {
                let count = world.classes.len();
                let share = if world.index == 0 { 100 - (count - 1) * 30 } else { 30 };
                format!("\"{share}%\"")
            }
            _ => quoted("strict"),
        },
        path if path.contains("vl_arbitration") && path.ends_with(".class") => {
            quoted(&world.classes[world.index % world.classes.len()])
        }
        path if path.contains("vl_arbitration") && path.ends_with(".weight") => (1 + random.below(64)).to_string(),
        _ => return None,
    })
}

fn traffic(path: &str, world: &World, random: &mut Random) -> Option<String> {
    let class = |random: &mut Random| quoted(random.of(&world.classes));
    Some(match path {
        "workloads.port" | "workloads.flows.port" => "0".into(),
        // Only destinations that permit frames send pulls.
        "workloads.protocol.name" if wants_pulls(world) => quoted(random.of(&["ndp", "eqds"])),
        "workloads.name" => quoted(&world.workloads[world.index % world.workloads.len()]),
        "workloads.class"
        | "workloads.flows.class"
        | "workloads.acknowledge.class"
        | "workloads.notify.class"
        | "workloads.pull.class"
        | "workloads.probe.class"
        | "workloads.probe.answer_class" => class(random),
        // The receivers are the last hosts, so that few workloads send to themselves.
        "workloads.from" => {
            let half = &world.hosts[..world.hosts.len().div_ceil(2)];
            let list: Vec<String> = random.some(half).iter().map(quoted).collect();
            format!("[{}]", list.join(", "))
        }
        "workloads.to" => quoted(world.hosts.last()?),
        // An even number of hosts can be divided.
        "workloads.hosts" if wants_collective(world) => {
            let even = if world.hosts.len() >= 4 { 4 } else { 2 };
            let list: Vec<String> = world.hosts.iter().take(even).map(quoted).collect();
            format!("[{}]", list.join(", "))
        }
        "workloads.hosts" => some_names(&world.hosts, random),
        "workloads.kind" if wants_collective(world) => quoted("collective"),
        "workloads.kind" if wants_requests(world) => quoted("request-response"),
        "workloads.requests" => random.of(&["1", "2", "20"]).to_string(),
        "workloads.outstanding" => random.of(&["1", "3"]).to_string(),
        "workloads.fan_out" => "1".into(),
        "workloads.operation" => match world.wanted.get("workloads.algorithm").and_then(|values| values.first()) {
            Some(algorithm) if ["direct", "pairwise"].contains(&algorithm.as_str()) => quoted("all-to-all"),
            Some(_) => quoted("all-reduce"),
            None => quoted(random.of(&["all-reduce", "all-reduce", "all-to-all", "broadcast", "all-gather"])),
        },
        "workloads.algorithm" => quoted("ring"),
        "workloads.ranks" | "workloads.local_ranks" => "2".into(),
        "workloads.stride" => random.of(&["1", "2"]).to_string(),
        "workloads.chunk" => quoted(random.of(&["64B", "1500B", "10KB"])),
        "workloads.iterations" => random.of(&["1", "2", "3"]).to_string(),
        "workloads.weights" => if world.hosts.len() >= 4 { "[4, 2, 1, 1]" } else { "[2, 1]" }.into(),
        "workloads.flows.after" => quoted("1"),
        "workloads.flows.from" => quoted(world.hosts.first()?),
        "workloads.flows.to" => quoted(world.hosts.last()?),
        "workloads.size" | "workloads.flows.size" | "workloads.flow_size" => {
            quoted(random.of(&["1B", "1500B", "30KB", "100KB", "300KB"]))
        }
        "workloads.frame" | "workloads.flows.frame" => {
            quoted(random.of(&["64B", "256B", "1000B", "1500B", "1500B", "4096B", "9000B"]))
        }
        "workloads.acknowledge.size" | "workloads.probe.size" | "workloads.notify.size" | "workloads.pull.size" => {
            quoted(random.of(&["64B", "200B"]))
        }
        "workloads.acknowledge.every" => random.of(&["1", "2", "7"]).to_string(),
        "workloads.rate" | "workloads.flows.rate" => quoted(random.of(&["10Mb/s", "700Mb/s", "3Gb/s", "12Gb/s"])),
        "workloads.mean_gap" => quoted(random.of(&["1us", "5us", "30us"])),
        "workloads.load" => random.of(&["0.1", "0.5", "0.9"]).to_string(),
        "workloads.shape" => random.of(&["1.05", "1.5", "3.0"]).to_string(),
        "workloads.cdf" => quoted("sizes.cdf"),
        "workloads.file" => quoted("flows.csv"),
        "congestion_point.by_rate" | "switches.congestion_point.by_rate" | "switches.congestion_points.by_rate" => {
            quoted("10Gb/s 1KB 20KB 0.5, 25Gb/s 3KB 60KB 0.1")
        }
        "workloads.start" | "workloads.flows.start" => format!("\"{}ns\"", random.below(world.duration)),
        "workloads.stop" | "workloads.flows.stop" => format!("\"{}ns\"", world.duration + random.below(world.duration)),
        "workloads.stagger" | "workloads.start_jitter" | "workloads.requeue_oracle" => {
            format!("\"{}ns\"", 1 + random.below(world.duration / 4 + 1))
        }
        "workloads.on" | "workloads.off" => format!("\"{}ns\"", 100 + random.below(world.duration / 2 + 1)),
        "workloads.tree" => "0".into(),
        path if path.ends_with("backlog") => random.below(40).to_string(),
        _ => return None,
    })
}

fn figures(path: &str, section: &str, name: &str, world: &mut World, random: &mut Random) -> Option<String> {
    let quantity = |world: &World, random: &mut Random| match world.expectations.len() {
        0 => quoted("e0"),
        count => quoted(&world.expectations[if random.percent(70) { 0 } else { random.index(count) }]),
    };
    Some(match path {
        "expectations.name" => {
            let name = format!("e{}", world.index);
            if !world.expectations.contains(&name) {
                world.expectations.push(name.clone());
            }
            quoted(&name)
        }
        "expectations.of" if wants_collective(world) || wants_requests(world) => quoted(random.of(&world.workloads)),
        "expectations.of" => match random.below(4) {
            0 => quoted("*"),
            1 => quoted(random.of(&world.workloads)),
            2 => quoted(random.of(&world.nodes())),
            _ => quoted(random.of(&world.directions())),
        },
        "expectations.over" => quoted(random.of(&world.workloads)),
        "expectations.quiet" => time(world, random),
        "sweep" => {
            random.of(&["{ \"run.seed\" = [1, 2] }", "{ \"network.overhead\" = [\"0B\", \"20B\"] }"]).to_string()
        }
        "variants.name" | "choices.options.name" => quoted(format!("v{}", world.index)),
        "set" => random.of(&["{ \"run.seed\" = 3 }", "{ \"switches[*].flow_control\" = \"pfc\" }"]).to_string(),
        "variants.set" | "choices.options.set" => {
            random.of(&["{ \"run.seed\" = 3 }", "{ \"network.overhead\" = \"0B\" }"]).to_string()
        }
        "choices.path" => quoted("network.smallest_frame"),
        "choices.values" => "[\"64B\", \"128B\"]".into(),
        "trends.quantity" | "charts.quantities" => quantity(world, random),
        "trends.along" | "charts.along" => quoted(random.of(&["variant", "variant", "run.seed"])),
        "charts.title" => quoted(format!("chart {}", world.index)),
        "charts.flows" => format!("{{ some = {} }}", quoted(random.of(&world.workloads))),
        "charts.links" => format!("{{ up = {} }}", quoted(random.of(&world.directions()))),
        _ if name == "where" => "{ variant = \"v0\" }".into(),
        "dcb.pfc" | "dcb.congestion_notification" => random.of(&["[0]", "[1]", "[0, 1]", "[3, 4]"]).to_string(),
        "dcb.ets.priorities" => if world.index == 0 { "[0, 1]" } else { "[2, 3]" }.into(),
        "dcb.ets.share" => "100".into(),
        "dcb.applications.protocol" => random.below(64).to_string(),
        _ if section == "fluid" && name == "capacity" => quoted("10Gb/s"),
        _ if section == "fluid" && name == "delay" => quoted("100us"),
        _ if section == "fluid" && name == "sources" => "10".into(),
        _ if section == "dcbx" && (name == "interval" || name == "fast_interval") => {
            quoted(random.of(&["1s", "5s", "30s"]))
        }
        _ if section == "dcbx" && name == "spread" => quoted(random.of(&["0s", "1s"])),
        _ => return None,
    })
}
