//! Whom limits count.

use std::net::{IpAddr, Ipv6Addr};

use shared::annotation::PersonId;

/// The key by which limits count a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::http) enum ClientKey {
    /// The IP address. The addresses of an IPv6 /64 network count as one.
    Address(IpAddr),
    /// A person who is signed in, from any address.
    Person(PersonId),
}

impl ClientKey {
    /// Returns the key for limits: IPv6 addresses are reduced to their /64 network.
    pub(in crate::http) fn rate_limit_key(self) -> ClientKey {
        match self {
            ClientKey::Address(IpAddr::V6(ip)) => {
                let [a, b, c, d, ..] = ip.segments();
                ClientKey::Address(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
            }
            ClientKey::Address(IpAddr::V4(_)) | ClientKey::Person(_) => self,
        }
    }
}
