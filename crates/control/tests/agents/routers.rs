//! Bridges whose neighbour is a router, and bridges that take their leave: what FRR's isisd taught us, without it.

use crate::fabric::{Fabric, id, port_address};
use control::LARGEST_FRAME;
use control::isis::{Port, Settings, System, Timers};
use units::{Span, Time};
use wire::ethernet::Llc;
use wire::isis::tlv::{Adjacency, Areas, State, Tlv, protocol};
use wire::isis::{Hello, Pdu, Repr, SystemId, checksum};
use wire::{Address, Writer};

const ROUTER: SystemId = [2, 0, 0, 0, 0, 0xFF];
const AT: Address = Address([2, 0, 0, 0, 0x0F, 1]);
const OURS: [u8; 4] = [192, 0, 2, 1];

/// A router's hello, padded with so many octets, as isisd pads its own to fill the frame.
fn router_hello(state: State, neighbour: Option<(SystemId, u32)>, mut padding: usize) -> Vec<u8> {
    let hello = Hello { levels: 1, source: ROUTER, holding_time: 30, circuit: 0 };
    let mut buffer = [0; 1600];
    let mut out = Writer::new(&mut buffer);
    Repr::Hello(hello).emit_frame(AT, &mut out, |out| {
        Tlv::Areas(Areas::parse(&[3, 0x49, 0, 1]).expect("an area")).emit(out);
        Tlv::Protocols(&[protocol::IPV4]).emit(out);
        Tlv::Ipv4Addresses(&[[192, 0, 2, 2]]).emit(out);
        Tlv::Adjacency(Adjacency { state, circuit: 3, neighbour }).emit(out);
        while padding >= 2 {
            let body = (padding - 2).min(255);
            Tlv::Padding(body as u8).emit(out);
            padding -= body + 2;
        }
    });
    let length = out.finish().expect("it fits");
    buffer[..length].to_vec()
}

fn system(ipv4: Option<[u8; 4]>) -> System {
    let port = Port { address: port_address(0, 0), metric: 7, ipv4 };
    System::new(Time::ZERO, Settings::new(id(0)), [port], Timers::default())
}

fn frames(system: &mut System, now: Time) -> Vec<Vec<u8>> {
    let mut buffer = [0; LARGEST_FRAME];
    let mut frames = Vec::new();
    while let Some((_, length)) = system.poll_transmit(now, &mut buffer) {
        frames.push(buffer[..length].to_vec());
    }
    frames
}

fn pdu(frame: &[u8]) -> Pdu<'_> {
    let (_, rest) = Llc::parse(&frame[14..]).expect("LLC");
    Pdu::parse(rest).expect("a PDU")
}

#[test]
fn a_router_is_a_neighbour_where_the_port_has_ipv4_and_no_part_of_the_graph() {
    let mut ours = system(Some(OURS));
    let first = frames(&mut ours, Time::ZERO);
    let said: Vec<Tlv> = pdu(&first[0]).tlvs().collect();
    assert!(said.contains(&Tlv::Protocols(&[protocol::SPB, protocol::IPV4])), "{said:?}");
    assert!(said.contains(&Tlv::Ipv4Addresses(&[OURS])), "{said:?}");
    ours.handle_frame(Time::ZERO, 0, &router_hello(State::Down, None, 0));
    ours.handle_frame(Time::ZERO, 0, &router_hello(State::Initializing, Some((id(0), 0)), 0));
    let neighbour = *ours.adjacency(0).expect("a neighbour");
    assert_eq!((neighbour.state, neighbour.neighbour, neighbour.bridge), (State::Up, ROUTER, false));
    // A second later it says so, with a plain metric: there is no bridging over that link.
    let later = Time::ZERO + Span::from_secs(1);
    let sent = frames(&mut ours, later);
    let mut states = sent.iter().map(|frame| pdu(frame)).filter(|pdu| matches!(pdu.repr, Repr::LinkState(_)));
    let last = states.next_back().expect("its link state");
    let neighbours = last.tlvs().find_map(|tlv| if let Tlv::Neighbours(it) = tlv { Some(it) } else { None });
    let neighbours: Vec<_> = neighbours.expect("its neighbours").iter().collect();
    assert_eq!((neighbours.len(), neighbours[0].metric, neighbours[0].link_metric()), (1, 7, None));
    assert!(last.tlvs().any(|tlv| tlv == Tlv::Protocols(&[protocol::SPB])), "it forwards no IPv4");
    assert_eq!((ours.topology().nodes.len(), ours.topology().edges().count()), (1, 0));
}

#[test]
fn a_router_is_no_neighbour_of_a_port_without_ipv4() {
    let mut ours = system(None);
    ours.handle_frame(Time::ZERO, 0, &router_hello(State::Down, None, 0));
    assert_eq!((ours.adjacency(0), ours.counters().mismatched), (None, 1));
}

/// isisd's hellos are longer than any link-state PDU may be.
#[test]
fn a_hello_may_fill_the_frame() {
    let bare = pdu(&router_hello(State::Down, None, 0)).bytes().len();
    let full = router_hello(State::Down, None, 1497 - bare);
    assert_eq!(pdu(&full).bytes().len(), 1497);
    let mut ours = system(Some(OURS));
    ours.handle_frame(Time::ZERO, 0, &full);
    assert!(ours.adjacency(0).is_some(), "{:?}", ours.counters());
}

#[test]
fn who_leaves_is_forgotten_at_once_and_says_nothing_more() {
    let mut fabric = Fabric::new(3, &[(0, 1, 7), (1, 2, 8)], 1, 0);
    fabric.run(Span::from_secs(5));
    let now = fabric.now;
    fabric.seen.clear();
    fabric.systems[0].shut_down(now);
    fabric.run(Span::from_millis(100));
    assert_eq!(fabric.agreed(), [(1, 2, 8)]);
    let own = |node: usize| fabric.systems[node].entries(fabric.now).find(|it| it.id[..6] == id(0));
    assert!((0..3).all(|node| own(node).is_some_and(|it| it.lifetime == 0)), "taken back everywhere");
    // Others look at the checksum even of what is taken back.
    let dead = fabric.seen.iter().map(|frame| pdu(frame)).filter(|pdu| match pdu.repr {
        Repr::LinkState(state) => state.lifetime == 0,
        _ => false,
    });
    let dead: Vec<&[u8]> = dead.map(|pdu| pdu.bytes()).collect();
    assert!(dead.len() >= 2 && dead.iter().all(|bytes| bytes.len() == 27 && checksum::is_right(bytes)));
    let hellos = fabric.systems[0].counters().hellos;
    fabric.run(Span::from_secs(2));
    assert!(fabric.systems[1].adjacency(0).is_none());
    // Told of a link, or of its former life, it stays silent; neither is it in a hurry.
    let now = fabric.now;
    fabric.systems[0].handle_link_down(now, 0);
    fabric.systems[0].handle_link_up(now, 0);
    fabric.run(Span::from_secs(100));
    assert_eq!(fabric.systems[0].counters().hellos, hellos);
    assert!(fabric.systems.iter().all(|system| system.remembered().1 == 0));
    assert!(!fabric.systems[1].entries(fabric.now).any(|it| it.id[..6] == id(0)), "and is forgotten");
    // In a new life its numbers begin again.
    fabric.systems[0] = System::new(fabric.now, Settings::new(id(0)), [(port_address(0, 0), 9)], Timers::default());
    fabric.run(Span::from_secs(10));
    assert_eq!(fabric.agreed(), [(0, 1, 9), (1, 2, 8)]);
}
