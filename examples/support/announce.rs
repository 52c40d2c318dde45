//! What a server tells when it begins: how it is reached, and by what.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::setup::Given;

/// What scripts read: NAME=VALUE, one a line.
pub(crate) fn variables(address: SocketAddr, given: &Given) -> String {
    let Given { key, key_id, email, password, network, tag, share } = given;
    let password = password.as_deref().unwrap_or_default();
    format!(
        "TOPOSCOPE_URL={url}
TOPOSCOPE_API_KEY={key}
TOPOSCOPE_KEY_ID={key_id}
TOPOSCOPE_EMAIL={email}
TOPOSCOPE_PASSWORD={password}
TOPOSCOPE_NETWORK={network}
TOPOSCOPE_TAG={tag}
TOPOSCOPE_SHARE={share}
",
        url = url(address)
    )
}

/// What people read.
pub(crate) fn advice(address: SocketAddr, given: &Given, secure_cookies: bool) -> String {
    let Given { key, email, password, .. } = given;
    let url = url(address);
    let hosts =
        format!("To try it:\n  curl -H \"Authorization: Bearer {key}\" \"{url}/api/v1/hosts?limit=2\"");
    let Some(password) = password else {
        return format!(
            "{hosts}\nThe password of {email} is the one that was told when the inventory was new."
        );
    };
    let login = format!(r#"{{"email":"{email}","password":"{password}"}}"#);
    let is_local = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()].contains(&address.ip());
    let warning = if secure_cookies && !is_local {
        "\nOver plain http curl keeps it only from localhost, 127.0.0.1 and ::1, unless there is --insecure-cookies."
    } else {
        ""
    };
    format!(
        "{hosts}
  curl -c session.txt -H \"Content-Type: application/json\" -d '{login}' \"{url}/api/auth/login\"
The second logs in and keeps the session for curl -b session.txt.{warning}"
    )
}

fn url(address: SocketAddr) -> String {
    format!("http://{}", reachable(address))
}

/// Who listens on every address is reached at the machine's own.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
