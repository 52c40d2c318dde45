//! Updates of ports and interfaces, and the effect of updates on concurrent readers.

use std::error::Error;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use http::Request;

use crate::call::{call, each_frame};
use crate::finding::Finding;
use crate::host::Random;
use crate::hosts::HostParts;
use crate::loaded::LoadedInventory;
use crate::page::PAGE;
use crate::reader::Reader;

const UPDATES: usize = 3_000;

/// Interval between concurrent updates: 1,000 a second.
const INTERVAL: Duration = Duration::from_millis(1);

/// Length of a turn. Turns with and without updates alternate, so that drift in the machine's speed affects
/// both.
const TURN: Duration = Duration::from_millis(500);
const TURNS: usize = 7;

pub(crate) const UPDATE: &str = "update of a port, µs";
pub(crate) const INTERFACE: &str = "update of an interface, relative to a port";
pub(crate) const DISTURBED: &str = "readers' p99 with 1,000 updates a second, to quiet";

/// Updates of parts of random hosts. No part gets the value that it has.
#[derive(Debug)]
struct Updates<'g> {
    loaded: &'g LoadedInventory,
    random: Random,
    count: u16,
}

impl<'g> Updates<'g> {
    const fn new(loaded: &'g LoadedInventory, seed: u64) -> Self {
        Self { loaded, random: Random::new(seed), count: 0 }
    }

    /// Changes the number of a port.
    fn port(&mut self) -> Result<Request<String>, Box<dyn Error>> {
        let HostParts { host, network, port, .. } = self.choose();
        let number = 20_000 + self.count;
        let body =
            format!(r#"{{"host_id":"{host}","network_id":"{network}","number":{number},"protocol":"Tcp"}}"#);
        self.member().put(&format!("/api/v1/ports/{port}"), body)
    }

    /// Changes the address of an interface, by which its host is found and sorted.
    fn interface(&mut self) -> Result<Request<String>, Box<dyn Error>> {
        let HostParts { host, network, interface, .. } = self.choose();
        let [high, low] = self.count.to_be_bytes();
        let body =
            format!(r#"{{"host_id":"{host}","network_id":"{network}","ip_address":"192.0.{high}.{low}"}}"#);
        self.member().put(&format!("/api/v1/interfaces/{interface}"), body)
    }

    fn choose(&mut self) -> HostParts {
        let parts = &self.loaded.parts;
        self.count = (self.count + 1) % 40_000;
        parts[(self.random.next() % parts.len() as u64) as usize]
    }

    /// Returns a Member with all networks.
    fn member(&self) -> &Reader {
        &self.loaded.readers[1]
    }

    /// Sends a request, and returns how long the update took.
    fn carry_out(&self, request: Request<String>) -> Duration {
        let start = Instant::now();
        let response = call(&self.loaded.api, request);
        assert_eq!(response.status(), 200, "a part is not updated");
        each_frame(response.into_body(), |frame| _ = black_box(frame));
        start.elapsed()
    }
}

/// Times of pages that are read alone, beside a busy thread, and beside an updater. The busy thread works as often and
/// as long as an updater but accesses nothing.
#[derive(Debug, Default)]
struct Readings {
    quiet: Vec<Duration>,
    busy: Vec<Duration>,
    disturbed: Vec<Duration>,
    updates: u32,
}

pub(crate) fn measure(loaded: &LoadedInventory) -> Result<Vec<Finding>, Box<dyn Error>> {
    let mut findings = Vec::new();
    let mut figure = |name: &str, value: f64| findings.push(Finding::Figure { name: name.to_owned(), value });
    let mut updates = Updates::new(loaded, 17);
    let (mut ports, mut interfaces) = (Vec::with_capacity(UPDATES), Vec::with_capacity(UPDATES));
    // In turn, so that drift in the machine's speed affects both.
    for _ in 0..UPDATES {
        let request = updates.port()?;
        ports.push(updates.carry_out(request));
        let request = updates.interface()?;
        interfaces.push(updates.carry_out(request));
    }
    figure(UPDATE, percentile(&mut ports, 50));
    figure("update of a port, p99, µs", percentile(&mut ports, 99));
    figure("update of an interface, µs", percentile(&mut interfaces, 50));
    figure("update of an interface, p99, µs", percentile(&mut interfaces, 99));
    figure(INTERFACE, percentile(&mut interfaces, 50) / percentile(&mut ports, 50));
    let update = ports[UPDATES / 2];
    let Readings { mut quiet, mut busy, mut disturbed, updates } = read_in_turns(loaded, update)?;
    for (percent, name) in [(50, "median"), (99, "p99")] {
        figure(&format!("readers' {name}, quiet, µs"), percentile(&mut quiet, percent));
        figure(&format!("readers' {name} beside a thread that is busy, µs"), percentile(&mut busy, percent));
        figure(&format!("readers' {name} with updates, µs"), percentile(&mut disturbed, percent));
    }
    figure(DISTURBED, percentile(&mut disturbed, 99) / percentile(&mut quiet, 99));
    let seconds = TURN.as_secs_f64() * TURNS as f64;
    figure("updates a second beside the readers", f64::from(updates) / seconds);
    Ok(findings)
}

fn read_in_turns(loaded: &LoadedInventory, update: Duration) -> Result<Readings, Box<dyn Error>> {
    let mut readings = Readings::default();
    let mut requests = pages(loaded, &loaded.readers[0])?.into_iter().cycle();
    let mut updates = Updates::new(loaded, 19);
    for _ in 0..TURNS {
        read_for(loaded, &mut requests, &mut readings.quiet);
        read_beside(loaded, &mut requests, &mut readings.busy, || spin(update))?;
        let put = || {
            let request = updates.port().unwrap_or_else(|error| panic!("{error}"));
            updates.carry_out(request);
        };
        readings.updates += read_beside(loaded, &mut requests, &mut readings.disturbed, put)?;
    }
    Ok(readings)
}

/// Reads while another thread does some work at every interval. Returns how often the work was done.
fn read_beside(
    loaded: &LoadedInventory,
    requests: &mut impl Iterator<Item = Request<String>>,
    times: &mut Vec<Duration>,
    work: impl FnMut() + Send,
) -> Result<u32, Box<dyn Error>> {
    let ends = AtomicBool::new(false);
    let done = thread::scope(|scope| {
        let worker = scope.spawn(|| work_until(&ends, work));
        read_for(loaded, requests, times);
        ends.store(true, Ordering::Relaxed);
        worker.join()
    });
    done.map_err(|_| "the work beside the readers failed".into())
}

/// Does work at every interval by the clock. If a start is late, the next one follows at once. Returns how often the
/// work was done.
fn work_until(ends: &AtomicBool, mut work: impl FnMut()) -> u32 {
    let start = Instant::now();
    let mut count = 0;
    while !ends.load(Ordering::Relaxed) {
        thread::sleep((start + INTERVAL * count).saturating_duration_since(Instant::now()));
        work();
        count += 1;
    }
    count
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Reads page after page and records the time of each.
fn read_for(
    loaded: &LoadedInventory,
    requests: &mut impl Iterator<Item = Request<String>>,
    times: &mut Vec<Duration>,
) {
    let mut buffer: Vec<u8> = Vec::with_capacity(1024 * 1024);
    let end = Instant::now() + TURN;
    for request in requests {
        let start = Instant::now();
        if start >= end {
            return;
        }
        buffer.clear();
        each_frame(call(&loaded.api, request).into_body(), |frame| buffer.extend_from_slice(frame));
        black_box(&buffer);
        times.push(start.elapsed());
    }
}

/// Pages from all parts of the list.
fn pages(loaded: &LoadedInventory, reader: &Reader) -> Result<Vec<Request<String>>, Box<dyn Error>> {
    let mut random = Random::new(23);
    let last = loaded.size.saturating_sub(PAGE) as u64;
    let offsets = (0..1_000).map(|_| random.next() % (last + 1));
    offsets.map(|offset| reader.get(&format!("/api/v1/hosts?order_by=name&offset={offset}"))).collect()
}

/// Returns a percentile of the times, in microseconds.
fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    times[times.len() * percent / 100].as_secs_f64() * 1e6
}
