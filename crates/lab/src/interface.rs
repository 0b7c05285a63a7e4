//! A raw socket for frames of one kind on a real interface. Linux only, and it takes CAP_NET_RAW.

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::socket::{LinkAddr, bind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::{self, AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;
use std::num::NonZeroU32;
use std::time::Duration;
use wire::Address;

/// Stands for all frames that have a length in place of a type, and an LLC header (`ETH_P_802_2` of Linux).
pub const LLC: u16 = 4;

/// An interface that frames of one kind are sent on and received from.
#[derive(Debug)]
pub struct Interface {
    name: String,
    socket: OwnedFd,
    address: Address,
}

impl Interface {
    /// Opens an interface by name for frames of that type, or for [`LLC`].
    ///
    /// # Errors
    /// If there is none of that name, or the system refuses.
    pub fn open(name: &str, kind: u16) -> io::Result<Interface> {
        let mut links = getifaddrs().map_err(io::Error::from)?.filter(|it| it.interface_name == name);
        let link = links.find_map(|it| it.address?.as_link_addr().copied());
        let missing = || io::Error::new(io::ErrorKind::NotFound, format!("there is no Ethernet interface '{name}'"));
        let link: LinkAddr = link.filter(|link| link.halen() == 6).ok_or_else(missing)?;
        let address = Address(link.addr().ok_or_else(missing)?);
        let protocol = NonZeroU32::new(u32::from(kind.to_be())).map(Protocol::from_raw);
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, protocol)?;
        // The address says no protocol of its own, so the socket's stays.
        bind(socket.as_raw_fd(), &link).map_err(io::Error::from)?;
        let interface = Interface { name: name.to_owned(), socket, address };
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

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is switched on and there is somebody at the far end.
    #[must_use]
    pub fn is_up(&self) -> bool {
        let mut links = getifaddrs().into_iter().flatten().filter(|it| it.interface_name == self.name);
        links.any(|it| it.flags.contains(InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING))
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
        wait(std::slice::from_ref(self), patience)?;
        self.try_receive(buffer)
    }

    /// A frame that is there already, and its length.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn try_receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match net::recv(&self.socket, buffer, RecvFlags::empty()) {
            Ok((length, _)) => Ok(Some(length)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(None),
            // The link went down; it may come back.
            Err(rustix::io::Errno::NETDOWN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// Waits for a frame at any of several interfaces, at most so long.
///
/// # Errors
/// If the system refuses.
pub fn wait(interfaces: &[Interface], patience: Duration) -> io::Result<()> {
    let patience = Timespec::try_from(patience).ok();
    let mut wanted: Vec<PollFd> = interfaces.iter().map(|it| PollFd::new(&it.socket, PollFlags::IN)).collect();
    match poll(&mut wanted, patience.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
