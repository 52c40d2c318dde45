//! A farm in this process, in place of a network.

use toposcope::collect::Pace;

use super::failure::Failure;

/// The farm that the arguments choose.
pub(crate) struct FarmChoice {
    pub(crate) name: String,
    pub(crate) devices: usize,
}

/// The pace for agents in this process.
pub(crate) const FARM_PACE: Pace = Pace::new(1_000, 10_000, 10_000);

/// The community of the agents.
pub(crate) const FARM_COMMUNITY: &str = "farm";

/// The addresses of the agents, and the first of them.
pub(crate) const FARM_PREFIX: &str = "127.1.0.0/16";
pub(crate) const FARM_SEED: [u8; 4] = [127, 1, 0, 1];

#[cfg(target_os = "linux")]
pub(crate) use super::farm::socket::SocketFarm as ServedFarm;

/// Serves a farm at a free port.
#[cfg(target_os = "linux")]
pub(crate) fn serve(choice: &FarmChoice) -> Result<ServedFarm, Failure> {
    use super::farm::agents::Agents;
    use super::farm::network::Network;

    let network = Network::named(&choice.name, choice.devices);
    let network = network.ok_or_else(|| Failure::usage(format_args!("There is no farm {}", choice.name)))?;
    let mut agents = Agents::default();
    network.add_to(&mut agents, FARM_COMMUNITY.as_bytes(), None);
    ServedFarm::serve(agents, 0).map_err(|error| Failure::because("No port can be opened", &error))
}

/// Nothing, where there is no farm.
#[cfg(not(target_os = "linux"))]
pub(crate) enum ServedFarm {}

#[cfg(not(target_os = "linux"))]
impl ServedFarm {
    pub(crate) const fn port(&self) -> u16 {
        match *self {}
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn serve(_: &FarmChoice) -> Result<ServedFarm, Failure> {
    Err(Failure::new("The farm requires Linux, whose loopback has all addresses of 127.0.0.0/8."))
}
