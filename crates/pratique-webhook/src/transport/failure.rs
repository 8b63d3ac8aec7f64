//! The messages of Go's network, TLS and HTTP libraries.

use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};

use pratique_gotext::strconv::quote;
use reqwest::Url;
use rustls::{AlertDescription, CertificateError, InvalidMessage};

use super::client::EndpointClient;
use super::refusal::CertificateRefusal;
use super::resolve::NoSuchHost;

/// Why there was no answer.
pub(super) fn message(error: &reqwest::Error, client: &EndpointClient, url: &Url) -> String {
    if let Some(missing) = find::<NoSuchHost>(error) {
        return format!("dial tcp: {missing}");
    }
    if let Some(tls) = find::<rustls::Error>(error) {
        return tls_message(tls);
    }
    if let Some(stream) = find::<h2::Error>(error) {
        return stream_message(stream).0;
    }
    if let Some(io) = find_io(error) {
        return io_message(io, error.is_connect().then(|| dialled(client, url)));
    }
    if let Some(http) = find::<hyper::Error>(error) {
        return http_message(http, "EOF");
    }
    innermost(error)
}

/// Why a body ended early, and whether it was a stream of HTTP/2 that ended.
pub(super) fn body_message(error: &reqwest::Error) -> (String, bool) {
    if let Some(stream) = find::<h2::Error>(error) {
        return stream_message(stream);
    }
    if let Some(tls) = find::<rustls::Error>(error) {
        return (tls_message(tls), false);
    }
    if let Some(io) = find_io(error) {
        let message = if io.kind() == io::ErrorKind::UnexpectedEof {
            "unexpected EOF".to_owned()
        } else {
            io_message(io, None)
        };
        return (message, false);
    }
    let message = find::<hyper::Error>(error).map(|http| http_message(http, "unexpected EOF"));
    (message.unwrap_or_else(|| innermost(error)), false)
}

/// The first cause of a type, including the inner errors of I/O errors.
pub(super) fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(typed_error) = error.downcast_ref::<E>() {
            return Some(typed_error);
        }
        next = cause(error);
    }
    None
}

/// The cause of an error. The inner error of an I/O error is not its source.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(carried) => Some(carried),
        None => error.source(),
    }
}

/// The innermost I/O error: the outer ones know less.
fn find_io<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    let mut innermost = find::<io::Error>(error)?;
    while let Some(inner) = innermost.get_ref().and_then(|carried| find::<io::Error>(carried)) {
        innermost = inner;
    }
    Some(innermost)
}

fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(next) = cause(last) {
        last = next;
    }
    last.to_string()
}

/// The host of an address, without the brackets of IPv6.
pub(super) fn bare_host(url: &Url) -> &str {
    let host = url.host_str().unwrap_or_default();
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Where a connection was tried; `None` for a name that was not looked up.
pub(super) fn address_of(client: &EndpointClient, url: &Url) -> Option<SocketAddr> {
    let port = url.port_or_known_default().unwrap_or_default();
    let bare = bare_host(url);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Some(SocketAddr::new(address, port));
    }
    let mut address = client.resolver.first(bare)?;
    if address.port() == 0 || url.port().is_some() {
        address.set_port(port);
    }
    Some(address)
}

/// The text for where a connection was tried.
fn dialled(client: &EndpointClient, url: &Url) -> String {
    address_of(client, url).map_or_else(
        || {
            let port = url.port_or_known_default().unwrap_or_default();
            format!("{}:{port}", url.host_str().unwrap_or_default())
        },
        |address| address.to_string(),
    )
}

fn io_message(error: &io::Error, dialled: Option<String>) -> String {
    let reason = match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused",
        io::ErrorKind::ConnectionReset => "connection reset by peer",
        io::ErrorKind::HostUnreachable => "no route to host",
        io::ErrorKind::NetworkUnreachable => "network is unreachable",
        io::ErrorKind::TimedOut => "connection timed out",
        io::ErrorKind::BrokenPipe => "broken pipe",
        io::ErrorKind::UnexpectedEof => return "EOF".to_owned(),
        _ => return error.to_string(),
    };
    match dialled {
        // A handshake that is reset is not a dial that failed.
        Some(address) if error.kind() != io::ErrorKind::ConnectionReset => {
            format!("dial tcp {address}: connect: {reason}")
        }
        _ if error.kind() == io::ErrorKind::BrokenPipe => format!("write: {reason}"),
        _ => format!("read: {reason}"),
    }
}

fn http_message(error: &hyper::Error, ended: &str) -> String {
    if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
        return ended.to_owned();
    }
    if error.is_parse() {
        return "net/http: HTTP/1.x transport connection broken: malformed HTTP response".to_owned();
    }
    innermost(error)
}

/// The message, and whether only the stream ended.
fn stream_message(error: &h2::Error) -> (String, bool) {
    let code = error
        .reason()
        .map_or_else(|| "INTERNAL_ERROR".to_owned(), |reason| format!("{reason:?}"));
    if error.is_reset() {
        let from = if error.is_remote() {
            "; received from peer"
        } else {
            ""
        };
        return (format!("stream error: stream ID 1; {code}{from}"), true);
    }
    if error.is_go_away() && error.is_remote() {
        let message = format!("http2: Transport received GOAWAY from server ErrCode:{code}");
        return (message, false);
    }
    match error.get_io() {
        Some(io) if io.kind() == io::ErrorKind::UnexpectedEof => ("unexpected EOF".to_owned(), false),
        Some(io) => (io_message(io, None), false),
        None => (format!("connection error: {code}"), false),
    }
}

pub(super) fn tls_message(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(other)) => {
            let refusal = other.0.downcast_ref::<CertificateRefusal>();
            let reason = refusal.map_or_else(|| other.to_string(), ToString::to_string);
            format!("tls: failed to verify certificate: {reason}")
        }
        rustls::Error::InvalidCertificate(other) => {
            format!("tls: failed to verify certificate: x509: {other}")
        }
        rustls::Error::AlertReceived(alert) => format!("remote error: tls: {}", alert_message(*alert)),
        // A server that does not speak TLS most often speaks HTTP.
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "http: server gave HTTP response to HTTPS client".to_owned()
        }
        rustls::Error::InvalidMessage(_) => "tls: first record does not look like a TLS handshake".to_owned(),
        rustls::Error::NoApplicationProtocol => {
            format!("tls: server selected unadvertised ALPN protocol {}", quote(""))
        }
        other => format!("tls: {other}"),
    }
}

fn alert_message(alert: AlertDescription) -> String {
    let message = match alert {
        AlertDescription::CloseNotify => "close notify",
        AlertDescription::UnexpectedMessage => "unexpected message",
        AlertDescription::BadRecordMac => "bad record MAC",
        AlertDescription::RecordOverflow => "record overflow",
        AlertDescription::HandshakeFailure => "handshake failure",
        AlertDescription::BadCertificate => "bad certificate",
        AlertDescription::UnsupportedCertificate => "unsupported certificate",
        AlertDescription::CertificateRevoked => "revoked certificate",
        AlertDescription::CertificateExpired => "expired certificate",
        AlertDescription::CertificateUnknown => "unknown certificate",
        AlertDescription::IllegalParameter => "illegal parameter",
        AlertDescription::UnknownCA => "unknown certificate authority",
        AlertDescription::AccessDenied => "access denied",
        AlertDescription::DecodeError => "error decoding message",
        AlertDescription::DecryptError => "error decrypting message",
        AlertDescription::ProtocolVersion => "protocol version not supported",
        AlertDescription::InsufficientSecurity => "insufficient security level",
        AlertDescription::InternalError => "internal error",
        AlertDescription::UserCanceled => "user canceled",
        AlertDescription::MissingExtension => "missing extension",
        AlertDescription::UnsupportedExtension => "unsupported extension",
        AlertDescription::UnrecognisedName => "unrecognized name",
        AlertDescription::CertificateRequired => "certificate required",
        AlertDescription::NoApplicationProtocol => "no application protocol",
        other => return format!("alert({})", u8::from(other)),
    };
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_errors() {
        let check = |kind: io::ErrorKind, dialled: Option<&str>, expected: &str| {
            let found = io_message(&io::Error::from(kind), dialled.map(str::to_owned));
            assert_eq!(found, expected);
        };
        let at = Some("10.0.0.1:443");
        check(
            io::ErrorKind::ConnectionRefused,
            at,
            "dial tcp 10.0.0.1:443: connect: connection refused",
        );
        check(
            io::ErrorKind::HostUnreachable,
            at,
            "dial tcp 10.0.0.1:443: connect: no route to host",
        );
        check(
            io::ErrorKind::ConnectionReset,
            at,
            "read: connection reset by peer",
        );
        check(io::ErrorKind::BrokenPipe, None, "write: broken pipe");
        check(io::ErrorKind::UnexpectedEof, at, "EOF");
    }

    #[test]
    fn tls_errors() {
        let check = |error: rustls::Error, expected: &str| assert_eq!(tls_message(&error), expected);
        check(
            rustls::Error::AlertReceived(AlertDescription::CertificateRequired),
            "remote error: tls: certificate required",
        );
        check(
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType),
            "http: server gave HTTP response to HTTPS client",
        );
        check(
            rustls::Error::AlertReceived(AlertDescription::Unknown(200)),
            "remote error: tls: alert(200)",
        );
    }
}
