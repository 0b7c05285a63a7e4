//! Frames of Ethernet, Data Center Bridging, shortest path bridging and InfiniBand as octets.
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
//! Every format has its own module. What may be sent is a representation (`Repr`, or a name of its own) that can hold
//! nothing else: it is parsed from octets and emitted into a [`Writer`], and what was emitted parses to the same again.
//! Where single fields are wanted of frames that need not be valid, there is a *view* that looks at the octets where
//! they are ([`ethernet::Frame`], [`cnm::Message`], [`isis::Pdu`]): making one checks that the fixed part is there.
//!
//! Whatever comes in may be hostile. Nothing here panics, allocates, or reads beyond the frame; what is repeated or of
//! any length is an iterator over the frame's own bytes. A malformed element of a list is skipped and counted where its
//! standard says that it is ignored, and spoils the whole only where the standard says so.
//!
//! There is no state and no input or output here: protocols belong to `control`, files to `files` and `results`.

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
pub mod trill;
pub mod vlan;

pub use bytes::Writer;
pub use error::Error;
pub use fields::{Address, Priority, VlanId};
