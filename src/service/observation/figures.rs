//! The figures of the service.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;

use crate::figures::{CacheFigures, Counter, Histogram, Latencies, MetricKind, OpenMetrics, write_caches};
use crate::inventory::InventoryFigures;
use crate::service::routes::RouteTable;
use crate::service::routes::route::Route;
use crate::service::served::Served;

/// The figures of an [`Api`](crate::Api) and of its inventory. See [`Api::figures`](crate::Api::figures).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApiFigures {
    /// The requests of each route that was requested, of those that no route matches, and of endpoints of the host application.
    pub requests: Vec<RouteFigures>,
    /// Number of requests that were dropped before they were answered. Their clients, or a layer before the service,
    /// did not wait.
    pub dropped: u64,
    /// Number of requests that failed because the store was unavailable.
    pub store_outages: u64,
    /// Slots of costly requests, such as imports and streams of events.
    pub slots: Vec<LimitFigures>,
    /// Memory in bytes, such as that of request bodies.
    pub memory: Vec<LimitFigures>,
    /// The cache of joined response bodies.
    pub page_cache: CacheFigures,
    /// The figures of the inventory.
    pub inventory: InventoryFigures,
}

/// The requests of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouteFigures {
    /// The method of the route, which also counts `HEAD` as `GET`; empty for requests that no route matches, and for endpoints of
    /// the host application.
    pub method: &'static str,
    /// The template of the path, [`Served::UNMATCHED`] or [`Served::OWN`].
    pub route: &'static str,
    /// The numbers of answers by status, in ascending order of the status. Statuses that were never answered are missing.
    pub by_status: Vec<(u16, u64)>,
    /// The times from a request to the head of its answer, without that of sending the body.
    pub latencies: Latencies,
}

/// The use of a limited resource.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitFigures {
    /// The name of the resource.
    pub name: &'static str,
    /// How much is in use now.
    pub used: u64,
    /// The most that may be in use.
    pub limit: u64,
    /// Number of requests refused because it was used up, by all or by one organization or user.
    pub refused: u64,
}

/// The statuses that the service answers with.
const STATUSES: [u16; 17] =
    [200, 304, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 415, 422, 429, 500, 503];

/// Counts requests by route and status. The last cell is that of requests that no route matches.
#[derive(Debug)]
pub(in crate::service) struct Requests {
    cells: Box<[Cell]>,
    own: OwnCell,
    pub(in crate::service) dropped: Counter,
}

#[derive(Debug, Default)]
struct Cell {
    by_status: [Counter; STATUSES.len()],
    latencies: Histogram,
}

/// Counts the requests to endpoints of the host application, which answer with any status.
#[derive(Debug, Default)]
struct OwnCell {
    by_status: Mutex<BTreeMap<u16, u64>>,
    latencies: Histogram,
}

impl Default for Requests {
    fn default() -> Self {
        let cells = (0..=RouteTable::all().len()).map(|_| Cell::default());
        Self { cells: cells.collect(), own: OwnCell::default(), dropped: Counter::default() }
    }
}

impl Requests {
    pub(in crate::service) fn count(
        &self,
        route: Option<&'static Route>,
        status: StatusCode,
        latency: Duration,
    ) {
        let cell = match route {
            Some(route) => self.cells.get(route.index),
            None => self.cells.last(),
        };
        let place = STATUSES.iter().position(|known| *known == status.as_u16());
        debug_assert!(place.is_some(), "the status {status} is not counted");
        if let Some(cell) = cell
            && let Some(count) = place.and_then(|place| cell.by_status.get(place))
        {
            count.increment();
            cell.latencies.record(latency);
        }
    }

    /// Counts a request to an endpoint of the host application.
    pub(in crate::service) fn count_own(&self, status: StatusCode, latency: Duration) {
        let mut by_status = self.own.by_status.lock().unwrap_or_else(PoisonError::into_inner);
        *by_status.entry(status.as_u16()).or_default() += 1;
        drop(by_status);
        self.own.latencies.record(latency);
    }

    /// Returns the figures of the routes that were requested.
    pub(in crate::service) fn figures(&self) -> Vec<RouteFigures> {
        let routes = RouteTable::all().iter().map(|route| (route.method.as_str(), route.path));
        let routes = routes.chain([("", Served::UNMATCHED)]).zip(&self.cells);
        let figures = routes.map(|((method, route), cell)| RouteFigures {
            method,
            route,
            by_status: cell.by_status(),
            latencies: cell.latencies.latencies(),
        });
        let figures = figures.chain([self.own.figures()]);
        figures.filter(|figures| !figures.by_status.is_empty()).collect()
    }
}

impl OwnCell {
    fn figures(&self) -> RouteFigures {
        let by_status = self.by_status.lock().unwrap_or_else(PoisonError::into_inner);
        RouteFigures {
            method: "",
            route: Served::OWN,
            by_status: by_status.iter().map(|(status, count)| (*status, *count)).collect(),
            latencies: self.latencies.latencies(),
        }
    }
}

impl Cell {
    fn by_status(&self) -> Vec<(u16, u64)> {
        let counts = STATUSES.into_iter().zip(self.by_status.iter().map(Counter::get));
        counts.filter(|(_, count)| *count > 0).collect()
    }
}

impl ApiFigures {
    /// Returns the figures as text in the format of OpenMetrics, with those of the inventory. Its type is
    /// [`CONTENT_TYPE`](crate::figures::CONTENT_TYPE).
    ///
    /// ```
    /// # use toposcope::{Api, Inventory, MemoryStore};
    /// let api = Api::builder(Inventory::new(MemoryStore::new())).build();
    /// let text = api.figures().to_openmetrics();
    /// assert!(text.contains("\ntoposcope_slots_limit{slots=\"imports\"} 8\n"));
    /// assert!(text.ends_with("# EOF\n"));
    /// ```
    #[must_use]
    pub fn to_openmetrics(&self) -> String {
        let mut text = OpenMetrics::default();
        self.write_requests(&mut text);
        text.family(
            "toposcope_requests_dropped",
            MetricKind::Counter,
            "Requests dropped before they were answered.",
        )
        .value(&[], self.dropped);
        text.family(
            "toposcope_store_outages",
            MetricKind::Counter,
            "Requests that failed because the store was unavailable.",
        )
        .value(&[], self.store_outages);
        write_slots(&mut text, &self.slots);
        write_memory(&mut text, &self.memory);
        write_caches(&mut text, &std::iter::once(&self.page_cache).chain(&self.inventory.caches));
        self.inventory.write_all_but_caches(&mut text);
        text.finish()
    }

    fn write_requests(&self, text: &mut OpenMetrics) {
        let mut family = text.family(
            "toposcope_requests",
            MetricKind::Counter,
            "Requests by route and status of the answer.",
        );
        for requests in &self.requests {
            for (status, count) in &requests.by_status {
                let status = status.to_string();
                let labels =
                    [("method", requests.method), ("route", requests.route), ("status", status.as_str())];
                family.value(&labels, *count);
            }
        }
        let mut family = text.family(
            "toposcope_request_duration_seconds",
            MetricKind::Histogram,
            "Time from a request to the head of its answer.",
        );
        for requests in &self.requests {
            let labels = [("method", requests.method), ("route", requests.route)];
            family.latencies(&labels, &requests.latencies);
        }
    }
}

type Value = fn(&LimitFigures) -> u64;

fn write_slots(text: &mut OpenMetrics, slots: &[LimitFigures]) {
    let families: [(&str, MetricKind, &str, Value); 3] = [
        ("toposcope_slots_used", MetricKind::Gauge, "Slots of costly requests in use.", |slots| slots.used),
        ("toposcope_slots_limit", MetricKind::Gauge, "Slots of costly requests.", |slots| slots.limit),
        ("toposcope_slots_refused", MetricKind::Counter, "Requests refused for want of a slot.", |slots| {
            slots.refused
        }),
    ];
    for (name, kind, help, value) in families {
        let mut family = text.family(name, kind, help);
        for slots in slots {
            family.value(&[("slots", slots.name)], value(slots));
        }
    }
}

fn write_memory(text: &mut OpenMetrics, memory: &[LimitFigures]) {
    let families: [(&str, MetricKind, &str, Value); 3] = [
        ("toposcope_memory_used_bytes", MetricKind::Gauge, "Limited memory in use.", |memory| memory.used),
        ("toposcope_memory_limit_bytes", MetricKind::Gauge, "The limit of memory.", |memory| memory.limit),
        ("toposcope_memory_refused", MetricKind::Counter, "Requests refused for want of memory.", |memory| {
            memory.refused
        }),
    ];
    for (name, kind, help, value) in families {
        let mut family = text.family(name, kind, help);
        for memory in memory {
            family.value(&[("memory", memory.name)], value(memory));
        }
    }
}
