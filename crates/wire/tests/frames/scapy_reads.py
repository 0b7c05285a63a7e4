"""Reads a capture with a frame of every kind that we emit, and compares what scapy makes of it.

Usage: scapy_reads.py CAPTURE
"""
import binascii
import logging
import sys

logging.getLogger("scapy").setLevel(logging.CRITICAL)

from scapy.contrib.isis import ISIS_CommonHdr, ISIS_L1_CSNP, ISIS_L1_LSP, ISIS_L1_PSNP, ISIS_P2P_Hello
from scapy.contrib.lldp import LLDPDU, LLDPDUPortID, LLDPDUTimeToLive, LLDPDUGenericOrganisationSpecific
from scapy.contrib.mac_control import MACControlClassBasedFlowControl, MACControlPause
from scapy.contrib.roce import AETH, BTH
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Dot1AD, Dot1Q, Dot3, Ether, STP
from scapy.utils import RawPcapNgReader, fletcher16_checkbytes


def check(condition, what):
    if not condition:
        sys.exit(f"scapy does not agree: {what}")


def main():
    records = list(RawPcapNgReader(sys.argv[1]))
    for number, (_, about) in enumerate(records):
        time = (about.tshigh << 32) + about.tslow
        check((about.tsresol, time) == (10**12, number * 10**12 + 12_345_678_912), f"picoseconds of frame {number}")
    frames = [bytes(frame) for frame, _ in records]
    for number, frame in enumerate(frames):
        check(binascii.crc32(frame[:-4]).to_bytes(4, "little") == frame[-4:], f"check sequence of frame {number}")
    frames = [frame[:-4] for frame in frames]
    packets = [(Dot3 if int.from_bytes(frame[12:14], "big") <= 1500 else Ether)(frame) for frame in frames]
    (pause, pfc, cnm, data, dcbx, cee, hello, state, complete, partial, spbm, trill, rapid, configuration, cnp,
     roce, nak, tcp, sack) = packets

    check(pause[MACControlPause].pause_time == 1234, "PAUSE")
    pfc = pfc[MACControlClassBasedFlowControl]
    enabled = [getattr(pfc, f"c{n}_enabled") for n in range(8)]
    check([bool(it) for it in enabled] == [n in (3, 5) for n in range(8)] and pfc.c3_pause_time == 0xFFFF, "PFC")
    check((cnm[Dot1Q].prio, cnm[Dot1Q].type, data[Dot1Q].prio, data[Dot1Q].type) == (6, 0x22E9, 3, 0x88B5), "VLAN tags")

    check(dcbx[LLDPDUTimeToLive].ttl == 120 and dcbx[LLDPDUPortID].id == b"sw0.3", "LLDP")
    subtypes, layer = [], dcbx.getlayer(LLDPDUGenericOrganisationSpecific)
    while layer:
        if layer.org_code == 0x0080C2:
            subtypes.append((layer.subtype, len(layer.data)))
        layer = layer.payload.getlayer(LLDPDUGenericOrganisationSpecific)
    check(subtypes == [(9, 21), (10, 21), (11, 2), (12, 7), (8, 2)], f"DCBX {subtypes}")
    check(cee[LLDPDUGenericOrganisationSpecific].org_code == 0x001B21, "CEE DCBX")

    check(hello[ISIS_P2P_Hello].sourceid == "0200.0000.0001" and hello[ISIS_P2P_Hello].holdingtime == 30, "hello")
    check(state[ISIS_L1_LSP].seqnum == 15 and state[ISIS_L1_LSP].lifetime == 1200, "link state")
    pdu = bytearray(bytes(state[ISIS_CommonHdr]))
    stated, pdu[24:26] = bytes(pdu[24:26]), bytes(2)
    check(fletcher16_checkbytes(bytes(pdu[12:]), 12) == stated, "checksum of link state")
    check(complete.haslayer(ISIS_L1_CSNP) and partial.haslayer(ISIS_L1_PSNP), "sequence numbers")

    check((spbm[Dot1AD].vlan, spbm[Dot1AD].type) == (100, 0x88E7), "SPBM")
    check(trill.type == 0x22F3, "TRILL")
    check((rapid[STP].version, rapid[STP].rootmac, rapid[STP].pathcost) == (2, "02:00:00:00:00:01", 2000), "rapid BPDU")
    check((configuration[STP].version, configuration[STP].maxage) == (0, 20), "configuration BPDU")

    bth = cnp[BTH]
    check((cnp[IP].tos, cnp[UDP].dport) == (48 << 2, 4791), "IPv4 and UDP of the notification")
    check((bth.opcode, bth.becn, bth.fecn, bth.dqpn) == (0x81, 1, 0, 0x010203), "BTH of the notification")
    body = bytes(bth)
    check(bth.compute_icrc(body) == body[-4:], "invariant CRC")
    # Its payload is whole words; two octets follow the packet.
    roce = Ether(bytes(roce)[:-2])
    for packet, opcode in ((roce, 0), (nak, 0x11)):
        body = bytes(packet[BTH])
        check((packet[BTH].opcode, packet[BTH].psn, packet[BTH].ackreq) == (opcode, 5, opcode == 0), "BTH of RoCEv2")
        check(packet[BTH].compute_icrc(body) == body[-4:], "invariant CRC of RoCEv2")
    check((roce[IP].tos, roce[UDP].sport, roce[BTH].padcount) == (24 << 2 | 3, 0xC123, 1), "RoCEv2 data")
    check((nak[AETH].syndrome, nak[AETH].msn) == (0x60, 3), "AETH")
    for packet in (tcp, sack):
        stated, whole = packet[TCP].chksum, packet[IP].copy()
        del whole[TCP].chksum
        check(IP(bytes(whole))[TCP].chksum == stated, "checksum of TCP")
    check((tcp[TCP].flags, tcp[IP].tos & 3) == ("AC", 2), "TCP data")
    check(("SAck", (2001, 3001, 4001, 6001)) in sack[TCP].options, "selective acknowledgements")
    print(f"{len(packets)} frames agree")


main()
