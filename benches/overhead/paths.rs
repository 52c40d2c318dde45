//! The measured requests.

use std::error::Error;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use http::header::{AUTHORIZATION, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH};
use http::{Request, StatusCode};
use toposcope::inventory::Inventory;
use toposcope::service::{Api, ClientAddr, RateLimit};
use toposcope::store::MemoryStore;

use crate::call::{call, each_frame};
use crate::load::load;

const HOSTS: usize = 1_000;

/// Number of client addresses, large enough that the default rate limit never rejects a request.
pub(crate) const ADDRESSES: u32 = 2_000;

/// A measured request and the service it is sent to.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) name: &'static str,
    /// Maximum median time of a request; `None`: not limited.
    pub(crate) bar: Option<Duration>,
    /// Whether its instruction count is compared with the baseline.
    pub(crate) is_watched: bool,
    api: Api,
    request: Request<String>,
    status: StatusCode,
}

impl Path {
    fn new(name: &'static str, api: &Api, request: Request<String>, status: StatusCode) -> Self {
        Self { name, bar: None, is_watched: false, api: api.clone(), request, status }
    }

    fn watched(self, bar: Duration) -> Self {
        Self { bar: Some(bar), is_watched: true, ..self }
    }

    /// Returns the request, sent from the client address with this number.
    pub(crate) fn request(&self, number: u32) -> Request<String> {
        let mut request = self.request.clone();
        let address = Ipv4Addr::from_bits(0x0a00_0000 + number % ADDRESSES);
        request.extensions_mut().insert(ClientAddr(IpAddr::from(address)));
        request
    }

    /// Sends a request and drops each frame of the response. A server does the same once it has passed the frame to the
    /// socket.
    pub(crate) fn serve(&self, request: Request<String>) {
        let response = call(&self.api, request);
        assert_eq!(response.status(), self.status, "{}", self.name);
        each_frame(response.into_body(), |frame| _ = black_box(frame));
    }

    /// Returns a header of the response.
    fn header(&self, name: HeaderName) -> Option<HeaderValue> {
        call(&self.api, self.request(0)).headers().get(name).cloned()
    }
}

/// Returns all measured requests. The 304 is missing if pages have no `ETag`.
pub(crate) fn paths() -> Result<Vec<Path>, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let loaded = runtime.block_on(load(Arc::new(MemoryStore::new()), HOSTS))?;
    let empty = || Api::builder(Inventory::new(MemoryStore::new()));
    let unlimited = empty().rate_limit(None).build();
    let narrow = empty().rate_limit(RateLimit::new(NonZeroU32::MIN, NonZeroU32::MIN)).build();
    let keeping = Api::builder(loaded.inventory.clone()).rate_limit(plenty()?).build();
    let hosts = Api::builder(loaded.inventory.clone()).rate_limit(plenty()?).page_cache(0).build();
    let anonymous = |uri: &str| Request::get(uri).body(String::new());
    let authorization = format!("Bearer {}", loaded.key);
    let network = loaded.networks.first().ok_or("no network")?;
    let hosts_of =
        |query: &str| Request::get(format!("/api/v1/hosts?{query}")).header(AUTHORIZATION, &authorization);
    let of_network = hosts_of(&format!("limit=50&network_id={network}")).body(String::new())?;

    let refused = Path::new("429", &narrow, anonymous("/api/version")?, StatusCode::TOO_MANY_REQUESTS);
    for number in 0..ADDRESSES {
        call(&narrow, refused.request(number));
    }
    let page_of_50 =
        Path::new("page of 50", &hosts, hosts_of("limit=50").body(String::new())?, StatusCode::OK);
    let not_modified = page_of_50
        .header(ETAG)
        .map(|tag| hosts_of("limit=50").header(IF_NONE_MATCH, tag).body(String::new()));
    let mut paths = vec![
        Path::new("version, no rate limit", &unlimited, anonymous("/api/version")?, StatusCode::OK),
        Path::new("version", &empty().build(), anonymous("/api/version")?, StatusCode::OK)
            .watched(Duration::from_micros(2)),
        Path::new("401", &hosts, anonymous("/api/v1/hosts")?, StatusCode::UNAUTHORIZED),
        Path::new("404", &hosts, anonymous("/api/v1/nothing")?, StatusCode::NOT_FOUND),
        refused,
        Path::new("page of 1", &hosts, hosts_of("limit=1").body(String::new())?, StatusCode::OK),
        Path::new("page of 50 of one network", &hosts, of_network, StatusCode::OK),
        page_of_50.watched(Duration::from_micros(15)),
        Path::new("page of 50, kept", &keeping, hosts_of("limit=50").body(String::new())?, StatusCode::OK),
    ];
    if let Some(request) = not_modified {
        let path = Path::new("304", &hosts, request?, StatusCode::NOT_MODIFIED);
        paths.push(path.watched(Duration::from_micros(3)));
    }
    Ok(paths)
}

/// A rate limit that rejects nothing, but has the usual cost.
fn plenty() -> Result<RateLimit, Box<dyn Error>> {
    let plenty = NonZeroU32::new(1_000_000_000).ok_or("zero")?;
    Ok(RateLimit::new(plenty, plenty))
}
