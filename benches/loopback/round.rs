//! Rounds in which every server is measured once, so that disturbances affect all alike.

use std::error::Error;
use std::time::Duration;

use crate::client::Client;
use crate::server::Server;
use crate::servers::Servers;

/// Time for which a server is measured in a round.
const ROUND: Duration = Duration::from_millis(500);

/// The results of one server.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    /// Requests per second, for each round.
    pub(crate) rates: Vec<f64>,
    /// Processor time of the server's thread per request, in microseconds, for each round.
    pub(crate) processor: Vec<f64>,
    /// Latency of each request in microseconds, ascending.
    pub(crate) latencies: Vec<f64>,
}

/// The results of all servers, in their order.
#[derive(Debug)]
pub(crate) struct Rounds(pub(crate) Vec<Measured>);

impl Rounds {
    /// Measures all servers in turn, after a warm-up round.
    pub(crate) fn measure(
        servers: &Servers,
        connections: usize,
        count: usize,
    ) -> Result<Self, Box<dyn Error>> {
        eprintln!("{connections} connections");
        let mut measured = Vec::new();
        let mut clients = Vec::new();
        for server in &servers.all {
            let mut client = Client::connect(server.address, connections, &servers.request)?;
            assert!(client.body()? == servers.body, "{} returns a different body", server.name);
            client.ask(ROUND)?;
            clients.push((server, client));
            measured.push(Measured::new(server.name));
        }
        for round in 0..count {
            for turn in 0..clients.len() {
                // Each server goes first equally often.
                let turn = (round + turn) % clients.len();
                let (server, client) = &mut clients[turn];
                measured[turn].take_turn(server, client)?;
            }
        }
        for measured in &mut measured {
            measured.latencies.sort_unstable_by(f64::total_cmp);
        }
        Ok(Self(measured))
    }
}

impl Measured {
    const fn new(name: &'static str) -> Self {
        Self { name, rates: Vec::new(), processor: Vec::new(), latencies: Vec::new() }
    }

    fn take_turn(&mut self, server: &Server, client: &mut Client) -> Result<(), Box<dyn Error>> {
        let before = server.processor_time()?;
        let asked = client.ask(ROUND)?;
        let processor = server.processor_time()?.saturating_sub(before);
        let count = asked.latencies.len() as f64;
        self.rates.push(count / asked.time.as_secs_f64());
        self.processor.push(micros(processor) / count);
        self.latencies.extend(asked.latencies.into_iter().map(micros));
        Ok(())
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
