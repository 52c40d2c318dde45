//! The startup message of an example server: its address and credentials.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::setup::Given;

/// Returns the message for scripts: one `NAME=VALUE` per line.
pub(crate) fn variables(address: SocketAddr, prefix: &str, given: &Given) -> String {
    let Given { key, key_id, email, password, network, tag, share } = given;
    let [key, password] = [key, password].map(|secret| secret.as_deref().unwrap_or_default());
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
        url = url(address, prefix)
    )
}

/// Returns the message for human readers.
pub(crate) fn advice(address: SocketAddr, prefix: &str, given: &Given, secure_cookies: bool) -> String {
    let Given { key, email, password, network, share, .. } = given;
    let url = url(address, prefix);
    let description = if cfg!(feature = "openapi") {
        format!("{url}/openapi.json describes all endpoints.\n")
    } else {
        String::new()
    };
    let page = if cfg!(feature = "topology") {
        format!(
            "{url}/topology/{network} shows the network to work with it. Log in there as {email}.\n\
             {url}/share/{share} shows the network in any browser, without a login.\n"
        )
    } else {
        String::new()
    };
    let key_note = match key {
        Some(_) => "",
        None => {
            "The API key of an earlier start is unchanged. Start the server with --rotate-key to replace it.\n"
        }
    };
    let key = key.as_deref().unwrap_or("$TOPOSCOPE_API_KEY");
    let hosts = format!(
        "{page}{description}{key_note}To try it:\n  curl -H \"Authorization: Bearer {key}\" \"{url}/api/v1/hosts?limit=2\""
    );
    let Some(password) = password else {
        return format!(
            "{hosts}\nThe password of {email} was printed when the inventory was created and is unchanged."
        );
    };
    let login = format!(r#"{{"email":"{email}","password":"{password}"}}"#);
    let is_local = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()].contains(&address.ip());
    let warning = if secure_cookies && !is_local {
        "\nOver plain HTTP, curl keeps the cookie only for localhost, 127.0.0.1 and ::1. Start the server with \
         --insecure-cookies to allow other addresses."
    } else {
        ""
    };
    format!(
        "{hosts}
  curl -c session.txt -H \"Content-Type: application/json\" -d '{login}' \"{url}/api/auth/login\"
The second command logs in and saves the session cookie for curl -b session.txt.{warning}"
    )
}

fn url(address: SocketAddr, prefix: &str) -> String {
    format!("http://{}{prefix}", reachable(address))
}

/// Returns an address to connect to. If the server listens on all addresses, this is the loopback address.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
