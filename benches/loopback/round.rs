//! Rounds in which every server has its turn, so that what disturbs one disturbs all.

use std::error::Error;
use std::time::Duration;

use crate::client::Client;
use crate::server::Server;
use crate::servers::Servers;

/// How long a server is asked in a round.
const ROUND: Duration = Duration::from_millis(500);

/// What all rounds of one server came to.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    /// Requests a second, of every round.
    pub(crate) rates: Vec<f64>,
    /// Microseconds of the server's thread a request, of every round.
    pub(crate) processor: Vec<f64>,
    /// Microseconds of every request, in order.
    pub(crate) latencies: Vec<f64>,
}

/// What all servers came to, in their order.
#[derive(Debug)]
pub(crate) struct Rounds(pub(crate) Vec<Measured>);

impl Rounds {
    /// Asks all servers in turns, after a round that does not count.
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
            assert!(client.body()? == servers.body, "{} gives another body", server.name);
            client.ask(ROUND)?;
            clients.push((server, client));
            measured.push(Measured::new(server.name));
        }
        for round in 0..count {
            for turn in 0..clients.len() {
                // Each begins as often as the others.
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
