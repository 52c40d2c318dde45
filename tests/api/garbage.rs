//! Whatever is sent, the answer is an envelope: [`Server::send`](crate::common::Server::send) checks every one.

use http::header::AUTHORIZATION;
use http::{HeaderValue, Method, Request, Uri};

use crate::common::{OFFICE, SplitMix64, World, host};

const PIECES: [&str; 40] = [
    "/",
    "/",
    "api",
    "v1",
    "hosts",
    "version",
    "/api/v1/hosts",
    "/api/v1/hosts",
    "/api/version",
    "?",
    "?",
    "&",
    "&",
    "=",
    "=",
    ",",
    "limit",
    "offset",
    "ids",
    "tag_ids",
    "network_id",
    "order_by",
    "group_by",
    "order_direction",
    "name",
    "desc",
    "interface_ip",
    "0",
    "1",
    "1000",
    "-1",
    "%00",
    "%FF",
    "%",
    "%2",
    "+",
    ";",
    "null",
    "é",
    "00000000-0000-0000-0000-000000000001",
];

fn target(random: &mut SplitMix64) -> Option<Uri> {
    let mut target = if random.once_in(3) { "/".to_owned() } else { "/api/v1/hosts?".to_owned() };
    for _ in 0..random.below(10) {
        if random.once_in(8) {
            target.push(char::from(u8::try_from(random.below(0x5e) + 0x21).unwrap()));
        }
        target.push_str(random.choose(&PIECES));
    }
    // What is no URI never reaches a service.
    Uri::try_from(target.into_bytes()).ok()
}

#[tokio::test]
async fn random_requests_get_an_envelope_and_never_a_fault() {
    let world = World::with((1..=5).map(|id| host(id, OFFICE))).await;
    let mut random = SplitMix64(404);
    let methods = [Method::GET, Method::GET, Method::GET, Method::HEAD, Method::POST, Method::OPTIONS];
    let mut seen = [0; 5];
    for _ in 0..3000 {
        let Some(target) = target(&mut random) else { continue };
        let mut request =
            Request::builder().method(random.choose(&methods)).uri(target).body(String::new()).unwrap();
        if !random.once_in(4) {
            let mut header = format!("Bearer {}", world.key).into_bytes();
            if random.once_in(6) {
                let place = random.below(header.len());
                header[place] = u8::try_from(random.below(0x5f) + 0x20).unwrap();
            }
            request.headers_mut().insert(AUTHORIZATION, HeaderValue::from_bytes(&header).unwrap());
        }
        let shown = format!("{request:?}");
        let status = world.server.send(request).await.status.as_u16();
        let place = [200, 400, 401, 404, 405].iter().position(|known| *known == status);
        seen[place.unwrap_or_else(|| panic!("{status}: {shown}"))] += 1;
    }
    assert!(seen.iter().all(|count| *count > 20), "the requests are of all sorts: {seen:?}");
}
