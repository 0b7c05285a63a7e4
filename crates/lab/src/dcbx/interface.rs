//! A raw socket for LLDP frames on a real interface. Linux only, and it takes CAP_NET_RAW.

use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{LinkAddr, bind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::{self, AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;
use std::num::NonZeroU32;
use std::time::Duration;
use wire::Address;
use wire::ethernet::ether_type;

/// An interface that LLDP frames are sent on and received from.
#[derive(Debug)]
pub struct Interface {
    socket: OwnedFd,
    address: Address,
}

impl Interface {
    /// Opens an interface by name.
    ///
    /// # Errors
    /// If there is none of that name, or the system refuses.
    pub fn open(name: &str) -> io::Result<Interface> {
        let mut links = getifaddrs().map_err(io::Error::from)?.filter(|it| it.interface_name == name);
        let link = links.find_map(|it| it.address?.as_link_addr().copied());
        let missing = || io::Error::new(io::ErrorKind::NotFound, format!("there is no Ethernet interface '{name}'"));
        let link: LinkAddr = link.filter(|link| link.halen() == 6).ok_or_else(missing)?;
        let address = Address(link.addr().ok_or_else(missing)?);
        let protocol = NonZeroU32::new(u32::from(ether_type::LLDP.to_be())).map(Protocol::from_raw);
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, protocol)?;
        // The address says no protocol of its own, so the socket's stays.
        bind(socket.as_raw_fd(), &link).map_err(io::Error::from)?;
        let interface = Interface { socket, address };
        // Between the two steps it heard every interface.
        let mut buffer = [0; 1];
        while interface.try_receive(&mut buffer)?.is_some() {}
        Ok(interface)
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> Address {
        self.address
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// If the system refuses, such as when the link is down.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        net::send(&self.socket, frame, SendFlags::empty())?;
        Ok(())
    }

    /// Waits for a frame, at most so long, and returns its length.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn receive(&self, buffer: &mut [u8], patience: Duration) -> io::Result<Option<usize>> {
        let patience = Timespec::try_from(patience).ok();
        let mut wanted = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut wanted, patience.as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(None),
            Ok(_) => self.try_receive(buffer),
            Err(error) => Err(error.into()),
        }
    }

    fn try_receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match net::recv(&self.socket, buffer, RecvFlags::empty()) {
            Ok((length, _)) => Ok(Some(length)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(None),
            // The link went down; it may come back.
            Err(rustix::io::Errno::NETDOWN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
