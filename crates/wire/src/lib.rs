//! Frames of Ethernet, Data Center Bridging, shortest path bridging, InfiniBand, RoCEv2 and TCP as octets.
//!
//! ```
//! use tailback_wire::{Address, Writer, ethernet, mac_control};
//!
//! // Pause priority 3 for as long as the field allows.
//! let mut quanta = [None; 8];
//! quanta[3] = Some(u16::MAX);
//! let pause = mac_control::Repr::Pfc { quanta };
//! let mut buffer = [0; 64];
//! let mut writer = Writer::new(&mut buffer);
//! pause.emit_frame(Address([2, 0, 0, 0, 0, 1]), &mut writer);
//! assert_eq!(writer.finish()?, 64);
//!
//! let frame = ethernet::Frame::new(&buffer[..])?;
//! assert_eq!(frame.type_or_length(), 0x8808);
//! assert_eq!(mac_control::Repr::parse(frame.payload())?, pause);
//! # Ok::<(), tailback_wire::Error>(())
//! ```
//!
//! Every format has its own module. A valid header or frame is a representation (`Repr`, or a specific name) that can
//! hold only valid states: it is parsed from octets and emitted into a [`Writer`], and parsing the output returns the
//! same representation. To read single fields of frames that need not be valid, use a *view* of the octets in place
//! ([`ethernet::Frame`], [`cnm::Message`], [`isis::Pdu`]): its constructor checks that the fixed part is present.
//!
//! Input may be hostile. This crate never panics, allocates, or reads beyond the frame; repeated or variable-length
//! elements are iterators over the frame's own bytes. A malformed element of a list is skipped and counted where its
//! standard says that it is ignored, and invalidates the whole only where the standard says so.
//!
//! This crate has no state, input or output: protocols belong to `control`, files to `files` and `results`.

mod bytes;
mod error;
mod fields;
mod view;

pub mod bpdu;
pub mod cnm;
pub mod ethernet;
pub mod fcs;
pub mod infiniband;
pub mod ipv4;
pub mod isis;
pub mod lldp;
pub mod mac_control;
pub mod mcid;
pub mod md5;
pub mod pcapng;
pub mod roce;
pub mod spbm;
pub mod tailback;
pub mod tcp;
pub mod trill;
pub mod vlan;

pub use bytes::Writer;
pub use error::Error;
pub use fields::{Address, Priority, VlanId};
