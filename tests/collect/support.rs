use std::net::{IpAddr, SocketAddr};

use toposcope::collect::snmp::{AskError, ObjectId, SnmpAgent, SnmpValue, TableEnd, WalkBudget, WalkLimits};
use toposcope::collect::{Gate, Pace, SnmpSecret};
#[cfg(all(feature = "service", feature = "topology"))]
use toposcope::discovery::Report;
#[cfg(all(feature = "service", feature = "topology"))]
use toposcope::discovery::report::{Device, Reporter};
#[cfg(all(feature = "service", feature = "topology"))]
use toposcope::model::Timestamp;

use crate::farm::{Agent, Farm, Variables};
use crate::polite::polite_gate;

pub(crate) const COMMUNITY: &[u8] = b"kept to ourselves";

/// `ifTable`.
pub(crate) const IF_TABLE: &[u32] = &[1, 3, 6, 1, 2, 1, 2, 2];

pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// Returns a gate with the usual pace.
pub(crate) fn gate(farm: &Farm, allowed: &str) -> Gate {
    polite_gate(farm.clone(), allowed.parse().unwrap(), Pace::default())
}

/// Returns a report of one device, which has only this name.
#[cfg(all(feature = "service", feature = "topology"))]
pub(crate) fn report_of(name: &str) -> Report {
    let mut device = Device::default();
    device.sys_name = Some(name.to_owned());
    let mut report = Report::new(Reporter::new("collector"), Timestamp::now());
    report.devices.push(device);
    report
}

pub(crate) fn community() -> Vec<SnmpSecret> {
    vec![SnmpSecret::v2c(COMMUNITY)]
}

pub(crate) async fn find(
    farm: &Farm,
    address: &str,
    secrets: Vec<SnmpSecret>,
) -> Result<SnmpAgent, AskError> {
    SnmpAgent::find(&gate(farm, "192.0.2.0/24"), SocketAddr::new(ip(address), 161), secrets).await
}

/// Returns the variables of a device with a number of interfaces.
pub(crate) fn variables(interfaces: u32) -> Variables {
    let mut variables = Variables::new();
    let bytes = |text: &str| SnmpValue::Bytes(text.as_bytes().into());
    let system = [1, 3, 6, 1, 2, 1, 1];
    variables.insert([&system[..], &[1, 0]].concat(), bytes("a switch"));
    let id = ObjectId::new([1, 3, 6, 1, 4, 1, 8072, 3, 2, 10]);
    variables.insert([&system[..], &[2, 0]].concat(), SnmpValue::ObjectId(id));
    variables.insert([&system[..], &[3, 0]].concat(), SnmpValue::TimeTicks(4_711));
    variables.insert([&system[..], &[5, 0]].concat(), bytes("switch-1"));
    for index in 1..=interfaces {
        let columns = [
            (1, SnmpValue::Integer(index.cast_signed())),
            (2, bytes(&format!("port {index}"))),
            (3, SnmpValue::Integer(6)),
            (5, SnmpValue::Gauge32(1_000_000_000)),
            (8, SnmpValue::Integer(1)),
        ];
        for (column, value) in columns {
            variables.insert([IF_TABLE, &[1, column, index]].concat(), value);
        }
    }
    variables.insert(vec![1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1, 1], bytes("p1"));
    variables.insert(vec![1, 3, 6, 1, 6, 3, 1, 1, 6, 1, 0], SnmpValue::Integer(17));
    variables
}

/// Reads a table, and returns its variables and its end.
pub(crate) async fn table(agent: &mut SnmpAgent, root: &[u32]) -> (Vec<(ObjectId, SnmpValue)>, TableEnd) {
    let mut budget = WalkBudget::new(&WalkLimits::default());
    let table = agent.walk(&ObjectId::new(root), &mut budget).await;
    (table.rows.into_iter().map(|variable| (variable.id, variable.value)).collect(), table.end)
}

/// Returns a farm of one agent at 192.0.2.1.
pub(crate) fn farm_of(agent: Agent) -> Farm {
    Farm::with([(ip("192.0.2.1"), agent)])
}
