//! Listening on several addresses.

use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::task::Poll;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, TcpStream};

/// The maximum number of connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// Listens on those of the addresses that this machine has.
pub(crate) fn listen_on_all(addresses: &[SocketAddr]) -> io::Result<Vec<TcpListener>> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    let mut missing = None;
    for address in addresses {
        let mut address = *address;
        if let Some(first) = listeners.first().filter(|_| address.port() == 0) {
            address.set_port(first.local_addr()?.port());
        }
        match listen_on(address) {
            Ok(listener) => listeners.push(listener),
            Err(error) if is_missing(&error) => missing = Some(error),
            Err(error) => return Err(error),
        }
    }
    match missing {
        Some(error) if listeners.is_empty() => Err(error),
        _ => Ok(listeners),
    }
}

/// Listens on one address. Without IPv6, `[::]` is `0.0.0.0`.
fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let listener = bind(address);
    match listener {
        Err(error) if is_missing(&error) && is_ipv6_unspecified(address) => {
            bind((Ipv4Addr::UNSPECIFIED, address.port()).into())
        }
        listener => listener,
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(!is_ipv6_unspecified(address))?;
    }
    // As in the standard library: on other systems, this would share the address with other programs.
    if cfg!(unix) {
        socket.set_reuse_address(true)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket.into())
}

fn is_ipv6_unspecified(address: SocketAddr) -> bool {
    address.is_ipv6() && address.ip().is_unspecified()
}

/// Whether this machine does not have an address or its family.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::AddrNotAvailable | io::ErrorKind::Unsupported
    ) || error.raw_os_error() == UNSUPPORTED_FAMILY
}

/// `EAFNOSUPPORT`, which has no `io::ErrorKind`.
#[cfg(target_os = "linux")]
const UNSUPPORTED_FAMILY: Option<i32> = Some(97);
#[cfg(not(target_os = "linux"))]
const UNSUPPORTED_FAMILY: Option<i32> = None;

/// Accepts a waiting connection without blocking, also if the runtime has not been notified of it yet.
pub(crate) fn waiting(listeners: &[TcpListener]) -> Option<(TcpStream, SocketAddr)> {
    listeners.iter().find_map(|listener| {
        let (socket, address) = socket2::SockRef::from(listener).accept().ok()?;
        socket.set_nonblocking(true).ok()?;
        let stream = TcpStream::from_std(socket.into()).ok()?;
        Some((stream, address.as_socket()?))
    })
}

/// Accepts the next connection of any listener.
pub(crate) async fn accept(listeners: &[TcpListener]) -> io::Result<(TcpStream, SocketAddr)> {
    poll_fn(|context| {
        for listener in listeners {
            if let Poll::Ready(accepted) = listener.poll_accept(context) {
                return Poll::Ready(accepted);
            }
        }
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_has_one_port_at_all_its_addresses() {
        let addresses = ["127.0.0.1:0", "127.0.0.2:0"].map(|text| text.parse().unwrap());
        // A documentation address, which no machine has.
        let foreign = "192.0.2.1:0".parse().unwrap();
        let listeners = listen_on_all(&[addresses[0], foreign, addresses[1]]).unwrap();
        let ports: Vec<u16> = listeners
            .iter()
            .map(|listener| listener.local_addr().unwrap().port())
            .collect();
        assert_eq!(ports.len(), 2);
        assert_eq!(ports[0], ports[1]);
        for host in ["127.0.0.2", "127.0.0.1"] {
            let connecting = TcpStream::connect((host, ports[0]));
            let (connected, accepted) = tokio::join!(connecting, accept(&listeners));
            assert_eq!(connected.unwrap().local_addr().unwrap(), accepted.unwrap().1);
        }
        assert!(listen_on_all(&[foreign]).is_err());
        let taken = listeners[0].local_addr().unwrap();
        let error = listen_on_all(&[addresses[1], taken]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    }

    #[tokio::test]
    async fn connections_that_wait_are_taken_before_the_end() {
        let listeners = listen_on_all(&["127.0.0.1:0".parse().unwrap()]).unwrap();
        assert!(waiting(&listeners).is_none());
        let address = listeners[0].local_addr().unwrap();
        let clients = [(); 2].map(|()| std::net::TcpStream::connect(address).unwrap());
        let taken = [(); 2].map(|()| waiting(&listeners).unwrap().1);
        assert_eq!(taken, clients.map(|client| client.local_addr().unwrap()));
        assert!(waiting(&listeners).is_none());
    }

    #[tokio::test]
    async fn all_addresses_are_those_of_both_kinds() {
        let listeners = listen_on_all(&["[::]:0".parse().unwrap()]).unwrap();
        let port = listeners[0].local_addr().unwrap().port();
        let (connected, accepted) = tokio::join!(TcpStream::connect(("127.0.0.1", port)), accept(&listeners));
        assert!(connected.is_ok() && accepted.is_ok());
    }
}
