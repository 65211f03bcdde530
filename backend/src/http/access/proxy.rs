//! The address of the client of a request that a proxy forwards.
//!
//! A trusted proxy appends the address of its peer to `X-Forwarded-For` or `Forwarded` (RFC 7239).
//! Everything to the left of that entry comes from the client and cannot be trusted.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use ipnet::IpNet;

/// Headers that contain the address of the client.
const WITH_ADDRESS: [&str; 2] = ["x-forwarded-for", "forwarded"];

/// Other headers that proxies add.
const OTHERS: [&str; 4] = ["x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"];

/// Parses a network such as `10.0.0.0/8`, or a single address.
pub(crate) fn parse_network(text: &str) -> Result<IpNet, String> {
    let text = text.trim();
    let network = match text.parse::<IpAddr>() {
        Ok(ip) => Some(IpNet::from(ip.to_canonical())),
        Err(_) => text.parse::<IpNet>().ok(),
    };
    match network {
        Some(it) if it.prefix_len() == 0 => {
            Err("this is every address, so that every client could claim any other".to_owned())
        }
        Some(it) => Ok(it),
        None => Err("write ADDRESS or ADDRESS/PREFIX, as in 10.0.0.0/8".to_owned()),
    }
}

/// Returns whether an address belongs to a trusted proxy.
pub(super) fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|it| it.contains(&address))
}

/// Returns whether an address belongs to this machine or a private network, which may be a proxy
/// that is missing in `--trusted-proxy`.
pub(super) fn is_local_or_private_address(address: IpAddr) -> bool {
    address.is_loopback()
        || match address {
            IpAddr::V4(it) => it.is_private() || it.is_link_local(),
            IpAddr::V6(it) => it.is_unique_local() || it.is_unicast_link_local(),
        }
}

/// Returns whether a request has a forwarding header.
pub(super) fn is_forwarded(headers: &HeaderMap) -> bool {
    has_address(headers) || OTHERS.iter().any(|it| headers.contains_key(*it))
}

/// Returns whether a request has a header with the address of the client.
pub(super) fn has_address(headers: &HeaderMap) -> bool {
    WITH_ADDRESS.iter().any(|it| headers.contains_key(*it))
}

/// Returns the address of the client of a request that came from `peer`: the rightmost address in
/// the headers that is not a trusted proxy.
///
/// The result is `peer` if it is not trusted, if the headers have no address, or if the two headers
/// disagree: a proxy writes only one of them and forwards the other as the client wrote it.
pub(super) fn client_address(peer: IpAddr, trusted: &[IpNet], headers: &HeaderMap) -> IpAddr {
    if !is_trusted(peer, trusted) {
        return peer;
    }
    let lines = |name: &str| {
        let values = headers.get_all(name).iter();
        values
            .map(|it| it.to_str().unwrap_or_default())
            .collect::<Vec<_>>()
    };
    let [x_forwarded_for, forwarded] = WITH_ADDRESS.map(lines);
    let x_forwarded_for = x_forwarded_for.iter().flat_map(|it| it.split(','));
    let x_forwarded_for: Vec<_> = x_forwarded_for.map(parse_address).collect();
    let forwarded: Vec<_> = forwarded
        .iter()
        .flat_map(|it| parse_forwarded(it))
        .collect();
    match [x_forwarded_for, forwarded].map(|it| rightmost(it, trusted)) {
        [Some(one), Some(other)] if one != other => peer,
        [Some(found), _] | [None, Some(found)] => found,
        [None, None] => peer,
    }
}

/// Returns the rightmost address that is not a trusted proxy, or the leftmost one if all are.
/// Entries to the left of one without an address, such as `unknown`, are ignored.
fn rightmost(entries: Vec<Option<IpAddr>>, trusted: &[IpNet]) -> Option<IpAddr> {
    let mut known = entries.into_iter().rev().map_while(|it| it).peekable();
    while let Some(address) = known.next() {
        if !is_trusted(address, trusted) || known.peek().is_none() {
            return Some(address);
        }
    }
    None
}

/// Returns the address of the parameter `for` of each element of a `Forwarded` header.
fn parse_forwarded(line: &str) -> Vec<Option<IpAddr>> {
    // An unclosed quotation mark of a client could hide the entry of the proxy.
    if line.matches('"').count() % 2 == 1 {
        return vec![None];
    }
    let address = |element: &str| {
        let pairs = split_unquoted(element, ';');
        let mut pairs = pairs.into_iter().filter_map(|it| it.split_once('='));
        let (_, value) = pairs.find(|it| it.0.trim().eq_ignore_ascii_case("for"))?;
        parse_address(value)
    };
    split_unquoted(line, ',').into_iter().map(address).collect()
}

/// Splits a text at a character, except within quotation marks.
fn split_unquoted(text: &str, at: char) -> Vec<&str> {
    let mut is_quoted = false;
    let is_split = |it: char| {
        is_quoted ^= it == '"';
        it == at && !is_quoted
    };
    text.split(is_split).collect()
}

/// Parses an address with or without a port and quotation marks; IPv6 with or without brackets.
fn parse_address(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let ip = match bare.unwrap_or(text).parse::<IpAddr>() {
        Ok(ip) => ip,
        Err(_) => text.parse::<SocketAddr>().ok()?.ip(),
    };
    Some(ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: &str = "127.0.0.1";

    /// Returns the client of a request from a peer. Trusted proxies: 127.0.0.1 and 10.0.0.0/8.
    fn client(peer: &str, headers: &[(&'static str, &str)]) -> String {
        let trusted = ["127.0.0.1", "10.0.0.0/8"].map(|it| parse_network(it).unwrap());
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        client_address(peer.parse().unwrap(), &trusted, &map).to_string()
    }

    #[test]
    fn only_a_trusted_proxy_says_who_the_client_is() {
        let spoofed = [
            ("x-forwarded-for", "203.0.113.9"),
            ("forwarded", "for=203.0.113.9"),
        ];
        for header in spoofed {
            assert_eq!(client("192.0.2.1", &[header]), "192.0.2.1", "{header:?}");
            assert_eq!(client("127.0.0.2", &[header]), "127.0.0.2", "{header:?}");
            assert_eq!(client(PROXY, &[header]), "203.0.113.9", "{header:?}");
        }
        assert_eq!(client(PROXY, &[]), PROXY);
    }

    #[test]
    fn the_rightmost_address_that_is_no_proxy_is_the_client() {
        for (line, expected) in [
            ("203.0.113.9", "203.0.113.9"),
            ("198.51.100.1, 203.0.113.9", "203.0.113.9"),
            ("198.51.100.1,203.0.113.9 , 10.1.2.3", "203.0.113.9"),
            ("203.0.113.9:4711", "203.0.113.9"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("::ffff:203.0.113.9", "203.0.113.9"),
            // All entries are proxies: the leftmost one.
            ("10.0.0.1, 10.0.0.2", "10.0.0.1"),
            // The last known address before the unknown one.
            ("203.0.113.9, unknown, 10.0.0.2", "10.0.0.2"),
            ("203.0.113.9, unknown", PROXY),
            ("203.0.113.9, ", PROXY),
            ("", PROXY),
        ] {
            assert_eq!(
                client(PROXY, &[("x-forwarded-for", line)]),
                expected,
                "{line}"
            );
        }
        let lines = [
            ("x-forwarded-for", "198.51.100.1"),
            ("x-forwarded-for", "203.0.113.9"),
        ];
        assert_eq!(client(PROXY, &lines), "203.0.113.9");
    }

    #[test]
    fn the_examples_of_rfc_7239_are_read() {
        for (line, expected) in [
            ("For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
            ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
            ("proto=https ; for=\"192.0.2.60:80\"", "192.0.2.60"),
            ("for=192.0.2.43, for=198.51.100.17", "198.51.100.17"),
            ("for=198.51.100.17, for=10.0.0.1", "198.51.100.17"),
            ("for=192.0.2.43, for=unknown", PROXY),
            ("for=\"_gazonk\"", PROXY),
            ("proto=https", PROXY),
        ] {
            assert_eq!(client(PROXY, &[("forwarded", line)]), expected, "{line}");
        }
    }

    #[test]
    fn a_quotation_hides_nothing_that_the_proxy_adds() {
        for sent in [
            "for=192.0.2.9;by=\"",
            "for=\"192.0.2.9",
            "by=\"a, for=192.0.2.9;b=\"c\"\"",
        ] {
            for added in ["for=203.0.113.9;proto=https", "for=\"[2001:db8::1]:1\""] {
                let found = client(PROXY, &[("forwarded", &format!("{sent}, {added}"))]);
                assert_ne!(found, "192.0.2.9", "{sent} {added}");
            }
        }
        let quoted = "for=192.0.2.9;by=\"a, for=192.0.2.8\", for=203.0.113.9";
        assert_eq!(client(PROXY, &[("forwarded", quoted)]), "203.0.113.9");
    }

    #[test]
    fn of_two_headers_that_differ_neither_is_believed() {
        let real = ("x-forwarded-for", "203.0.113.9");
        assert_eq!(
            client(PROXY, &[real, ("forwarded", "for=192.0.2.9")]),
            PROXY
        );
        let same = client(PROXY, &[real, ("forwarded", "for=203.0.113.9")]);
        assert_eq!(same, "203.0.113.9");
    }

    #[test]
    fn only_private_networks_are_nearby() {
        for (address, expected) in [
            ("127.0.0.1", true),
            ("::1", true),
            ("10.1.2.3", true),
            ("172.17.0.1", true),
            ("192.168.0.1", true),
            ("169.254.0.1", true),
            ("fd00::1", true),
            ("fe80::1", true),
            ("203.0.113.9", false),
            ("172.32.0.1", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(
                is_local_or_private_address(address.parse().unwrap()),
                expected,
                "{address}"
            );
        }
    }

    #[test]
    fn a_network_is_an_address_with_or_without_a_prefix() {
        for (text, expected) in [
            ("127.0.0.1", "127.0.0.1/32"),
            (" 10.0.0.0/8 ", "10.0.0.0/8"),
            ("::1", "::1/128"),
            ("2001:db8::/32", "2001:db8::/32"),
            ("::ffff:10.0.0.1", "10.0.0.1/32"),
        ] {
            assert_eq!(parse_network(text).unwrap().to_string(), expected);
        }
        for wrong in [
            "",
            "localhost",
            "10.0.0.0/33",
            "10.0.0",
            "0.0.0.0/0",
            "::/0",
        ] {
            assert!(parse_network(wrong).is_err(), "{wrong}");
        }
    }
}
