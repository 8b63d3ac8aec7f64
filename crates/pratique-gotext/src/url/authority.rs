//! `user:password@host:port`.

use std::fmt;

use super::Reason;
use super::escape::{UrlPart, escape, unescape};
use crate::net::WrittenAddress;

/// The user of a URL, decoded.
#[derive(Debug, Clone)]
pub(super) struct UrlUser {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

impl fmt::Display for UrlUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&self.name, UrlPart::User))?;
        match &self.password {
            Some(password) => write!(f, ":{}", escape(password, UrlPart::User)),
            None => Ok(()),
        }
    }
}

/// Reads the part between `//` and the path. Faults of the host are reported before those of the user.
pub(super) fn parse(scheme: &str, authority: &str) -> Result<(Option<UrlUser>, Vec<u8>), Reason> {
    match authority.rsplit_once('@') {
        None => Ok((None, parse_host(scheme, authority)?)),
        Some((user, host)) => {
            let host = parse_host(scheme, host)?;
            Ok((Some(parse_user(user)?), host))
        }
    }
}

/// Splits a decoded host into name and port, the name without brackets.
pub(super) fn split_port(host: &[u8]) -> (&[u8], &[u8]) {
    let (name, port) = match host
        .iter()
        .rposition(|byte| *byte == b':')
        .and_then(|at| host.split_at_checked(at))
    {
        Some((name, [_, port @ ..])) if port.iter().all(u8::is_ascii_digit) => (name, port),
        _ => (host, &[] as &[u8]),
    };
    match name {
        [b'[', inner @ .., b']'] => (inner, port),
        name => (name, port),
    }
}

fn parse_user(user: &str) -> Result<UrlUser, Reason> {
    let may_stand = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if !user.chars().all(may_stand) {
        return Err(Reason::User);
    }
    let decode = |part: &str| unescape(part.as_bytes(), UrlPart::User);
    Ok(match user.split_once(':') {
        None => UrlUser {
            name: decode(user)?,
            password: None,
        },
        Some((name, password)) => UrlUser {
            name: decode(name)?,
            password: Some(decode(password)?),
        },
    })
}

fn parse_host(scheme: &str, host: &str) -> Result<Vec<u8>, Reason> {
    match host.rfind('[') {
        Some(0) => parse_literal(host),
        Some(_) => Err(Reason::IpLiteral),
        None => {
            check_port(scheme, host)?;
            unescape(host.as_bytes(), UrlPart::Host)
        }
    }
}

/// The port starts at the first colon, for schemes other than HTTP's at the last.
fn check_port(scheme: &str, host: &str) -> Result<(), Reason> {
    let strict = matches!(scheme, "http" | "https");
    let colon = if strict { host.find(':') } else { host.rfind(':') };
    match colon.and_then(|at| host.get(at..)) {
        Some(port) if !is_optional_port(port) => Err(Reason::Port(port.to_owned())),
        _ => Ok(()),
    }
}

/// `[IPv6 address]`, perhaps with a port.
fn parse_literal(host: &str) -> Result<Vec<u8>, Reason> {
    let (inside, port) = host.rsplit_once(']').ok_or(Reason::MissingBracket)?;
    if !is_optional_port(port) {
        return Err(Reason::Port(port.to_owned()));
    }
    let inside = inside.strip_prefix('[').unwrap_or(inside);
    let (name, zone) = inside
        .split_at_checked(inside.find("%25").unwrap_or(inside.len()))
        .unwrap_or((inside, ""));
    let mut address = unescape(name.as_bytes(), UrlPart::Host)?;
    address.extend(unescape(zone.as_bytes(), UrlPart::Zone)?);
    match WrittenAddress::parse(&address) {
        Err(error) => Err(Reason::Host(error)),
        Ok(parsed) if parsed.ip.is_ipv4() => Err(Reason::IpLiteral),
        Ok(_) => Ok([b"[", address.as_slice(), b"]", port.as_bytes()].concat()),
    }
}

fn is_optional_port(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::utf8::lossy;

    fn check(authority: &str, expected: &str) {
        let got = parse("https", authority).map_or_else(
            |reason| reason.to_string(),
            |(user, host)| {
                format!(
                    "{} {}",
                    user.map(|user| user.to_string()).unwrap_or_default(),
                    lossy(&host)
                )
            },
        );
        assert_eq!(got, expected, "{authority}");
    }

    #[test]
    fn hosts() {
        check("h:", " h:");
        check("h:80", " h:80");
        check("h:80:90", "invalid port \":80:90\" after host");
        check("h:x", "invalid port \":x\" after host");
        check("a b", "invalid character \" \" in host name");
        check("[::1]", " [::1]");
        check("[::1]:80", " [::1]:80");
        check("[::1]x", "invalid port \"x\" after host");
        check("[::1", "missing ']' in host");
        check("x[::1]", "invalid IP-literal");
        check("[1.2.3.4]", "invalid IP-literal");
        check("[x]", "invalid host: ParseAddr(\"x\"): unable to parse IP");
        check("[fe80::1%25a%20b]", " [fe80::1%a b]");
    }

    #[test]
    fn users() {
        check("u@h", "u h");
        check("u:@h", "u: h");
        check("a@b:c@h", "a%40b:c h");
        check("a b@h", "net/url: invalid userinfo");
        check("%zz@h", "invalid URL escape \"%zz\"");
        check("a b@h:x", "invalid port \":x\" after host");
    }
}
