//! Raw sockets for control protocols on real network interfaces. Linux only; requires CAP_NET_RAW.
//!
//! Each kind of frame has its own queue, so that a flood of one kind does not displace the others. Frames are delivered
//! in order of arrival. On other systems this crate is empty.
//!
//! ```no_run
//! # #[cfg(target_os = "linux")]
//! # fn main() -> std::io::Result<()> {
//! use std::time::Duration;
//! use tailback_interface::{Interface, Wanted, wait};
//!
//! // Waits for an LLDP frame, a minute at most, and prints its length.
//! let mut interfaces = [Interface::open("eth0", &[Wanted::Lldp])?];
//! wait(&interfaces, Duration::from_secs(60))?;
//! interfaces[0].take(100, |frame| println!("{} octets", frame.len()))?;
//! # Ok(())
//! # }
//! # #[cfg(not(target_os = "linux"))]
//! # fn main() {}
//! ```

#![cfg(target_os = "linux")]

mod filter;

pub use filter::Wanted;

use nix::cmsg_space;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::{ControlMessageOwned, LinkAddr, MsgFlags, bind, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use rustix::net::{self, AddressFamily, Protocol, SendFlags, SocketFlags, SocketType};
use socket2::SockRef;
use std::io::{self, IoSliceMut};
use std::num::NonZeroU32;
use std::time::Duration;
use wire::Address;

/// Capacity of a receive queue in octets, as passed to the kernel, which doubles it: tens of thousands of short frames.
const WAITING: usize = 16 << 20;
/// Maximum number of octets read from a frame.
const LONGEST: usize = 2048;
/// Selects frames of all types (`ETH_P_ALL` of Linux). A socket bound to one type receives a frame only after its tag
/// is lost.
const EVERY_TYPE: u16 = 3;

/// A network interface that sends and receives frames.
#[derive(Debug)]
pub struct Interface {
    name: String,
    address: Address,
    queues: Vec<Queue>,
}

/// The receive queue of one kind of frame.
#[derive(Debug)]
struct Queue {
    socket: OwnedFd,
    /// Buffer for a frame and its control data.
    buffer: Box<[u8]>,
    said: Vec<u8>,
    /// Arrival time and length of the frame in the buffer.
    head: Option<(TimeSpec, usize)>,
    read: u64,
    dropped: u64,
}

/// Counters of received frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrived {
    /// Frames read.
    pub read: u64,
    /// Frames that the kernel dropped because a queue was full. The kernel reports them with the next frame.
    pub dropped: u64,
}

impl Interface {
    /// Opens an interface by name, with a receive queue for each kind of frame.
    ///
    /// # Errors
    /// Returns an error if there is no such interface, or if a system call fails.
    pub fn open(name: &str, kinds: &[Wanted]) -> io::Result<Interface> {
        let mut links = getifaddrs().map_err(io::Error::from)?.filter(|it| it.interface_name == name);
        let link = links.find_map(|it| it.address?.as_link_addr().copied());
        let missing = || io::Error::new(io::ErrorKind::NotFound, format!("there is no Ethernet interface '{name}'"));
        let link: LinkAddr = link.filter(|link| link.halen() == 6).ok_or_else(missing)?;
        let address = Address(link.addr().ok_or_else(missing)?);
        let queues = kinds.iter().map(|&kind| Queue::open(&link, kind)).collect::<io::Result<_>>()?;
        Ok(Interface { name: name.to_owned(), address, queues })
    }

    /// Returns the MAC address of the interface.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }

    /// Returns the name of the interface.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the interface is enabled and its link is up.
    #[must_use]
    pub fn is_up(&self) -> bool {
        let mut links = getifaddrs().into_iter().flatten().filter(|it| it.interface_name == self.name);
        links.any(|it| it.flags.contains(InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING))
    }

    /// Returns the counters of frames received so far.
    #[must_use]
    pub fn arrived(&self) -> Arrived {
        let sum = |of: fn(&Queue) -> u64| self.queues.iter().map(of).sum();
        Arrived { read: sum(|queue| queue.read), dropped: sum(|queue| queue.dropped) }
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// Returns an error if the system call fails, for example because the link is down.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        let queue = self.queues.first().ok_or(io::ErrorKind::NotConnected)?;
        net::send(&queue.socket, frame, SendFlags::empty())?;
        Ok(())
    }

    /// Passes at most `most` waiting frames to a function, in order of arrival. Does not block.
    ///
    /// # Errors
    /// Returns an error if a system call fails.
    pub fn take(&mut self, most: usize, mut frame: impl FnMut(&[u8])) -> io::Result<()> {
        for _ in 0..most {
            // Until a round finds nothing new: what came to a queue while another was read may be the earlier.
            while self.fill()? {}
            let waiting = self.queues.iter_mut().filter(|queue| queue.head.is_some());
            let Some(queue) = waiting.min_by_key(|queue| queue.head.map(|(time, _)| time)) else { break };
            if let Some((_, length)) = queue.head.take() {
                frame(queue.buffer.get(..length).unwrap_or(&queue.buffer));
            }
        }
        Ok(())
    }

    /// Reads a frame from each queue whose buffer is empty. Returns whether a frame was read.
    fn fill(&mut self) -> io::Result<bool> {
        let mut any = false;
        for queue in self.queues.iter_mut().filter(|queue| queue.head.is_none()) {
            any |= queue.fill()?;
        }
        Ok(any)
    }

    /// Returns whether a frame was read but not yet delivered.
    fn has_read(&self) -> bool {
        self.queues.iter().any(|queue| queue.head.is_some())
    }
}

impl Queue {
    fn open(link: &LinkAddr, kind: Wanted) -> io::Result<Queue> {
        let protocol = NonZeroU32::new(u32::from(EVERY_TYPE.to_be())).map(Protocol::from_raw);
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, protocol)?;
        // Until it is bound it hears every interface.
        SockRef::from(&socket).attach_filter(&[filter::nothing()])?;
        // The address says no protocol of its own, so the socket's stays.
        bind(socket.as_raw_fd(), link).map_err(io::Error::from)?;
        // More than the system allows everybody takes CAP_NET_ADMIN; without it there is less room.
        let forced = set_socket_recv_buffer_size_force(&socket, WAITING);
        forced.or_else(|_| set_socket_recv_buffer_size(&socket, WAITING))?;
        setsockopt(&socket, sockopt::RxqOvfl, &1).map_err(io::Error::from)?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true).map_err(io::Error::from)?;
        let (buffer, said) = (vec![0; LONGEST].into(), cmsg_space!(u32, TimeSpec));
        let mut queue = Queue { socket, buffer, said, head: None, read: 0, dropped: 0 };
        while queue.fill()? {}
        queue.head = None;
        SockRef::from(&queue.socket).attach_filter(&kind.program())?;
        (queue.read, queue.dropped) = (0, 0);
        Ok(queue)
    }

    /// Reads a frame if one is waiting.
    fn fill(&mut self) -> io::Result<bool> {
        use nix::errno::Errno::{EAGAIN, EINTR, ENETDOWN};
        let mut slices = [IoSliceMut::new(&mut self.buffer)];
        match recvmsg::<()>(self.socket.as_raw_fd(), &mut slices, Some(&mut self.said), MsgFlags::empty()) {
            Ok(message) => {
                let mut time = TimeSpec::new(0, 0);
                for it in message.cmsgs().into_iter().flatten() {
                    match it {
                        ControlMessageOwned::RxqOvfl(dropped) => self.dropped = u64::from(dropped),
                        ControlMessageOwned::ScmTimestampns(came) => time = came,
                        _ => {}
                    }
                }
                self.read += 1;
                self.head = Some((time, message.bytes));
                Ok(true)
            }
            // The last: the link went down; it may come back.
            Err(EAGAIN | EINTR | ENETDOWN) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Waits until a frame arrives at one of the interfaces, for at most `patience`.
///
/// # Errors
/// Returns an error if a system call fails.
pub fn wait(interfaces: &[Interface], patience: Duration) -> io::Result<()> {
    if interfaces.iter().any(Interface::has_read) {
        return Ok(());
    }
    let patience = Timespec::try_from(patience).ok();
    let sockets = interfaces.iter().flat_map(|it| &it.queues).map(|queue| &queue.socket);
    let mut wanted: Vec<PollFd> = sockets.map(|socket| PollFd::new(socket, PollFlags::IN)).collect();
    match poll(&mut wanted, patience.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
