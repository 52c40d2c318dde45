//! The agent of net-snmp, started on a loopback address: what is read is what its own `snmpbulkwalk` reads.
//!
//! Without its programs (Debian: `snmpd` and `snmp`), the tests say that they are skipped.

use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use tempfile::TempDir;
use toposcope::collect::snmp::{
    AskError, ObjectId, SnmpAgent, SnmpRefusal, TableEnd, WalkBudget, WalkLimits,
};
use toposcope::collect::{Gate, Pace, SnmpAuthentication, SnmpPrivacy, SnmpSecret, SnmpUser, UdpTransport};

use crate::farm::Variables;
use crate::polite::polite_gate;
use crate::recording::walked;

const LOOPBACK: &str = "127.45.0.1";
const CONFIGURATION: &str = "\
rocommunity collected 127.0.0.0/8
createUser aes SHA-256 \"the authentication\" AES \"the private key\"
createUser des MD5 \"the authentication\" DES \"the private key\"
createUser open SHA-512 \"the authentication\"
rouser aes authPriv
rouser des authPriv
rouser open authNoPriv
sysName agent-1
sysLocation a \"place\" with \\ and \u{e9}
";

/// A running agent, which is ended with the value.
struct Daemon {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts an agent. If it is not installed, it prints a message and returns `None`.
fn start() -> Option<Daemon> {
    let path = env::var("PATH").unwrap_or_default() + ":/usr/sbin";
    let find =
        |name: &str| path.split(':').map(|folder| Path::new(folder).join(name)).find(|path| path.is_file());
    let (Some(program), Some(_)) = (find("snmpd"), find("snmpbulkwalk")) else {
        println!("skipped: snmpd and snmpbulkwalk are not installed");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.conf");
    fs::write(&file, CONFIGURATION).unwrap();
    let socket = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let address = socket.local_addr().unwrap();
    drop(socket);
    let process = Command::new(program)
        .args(["-f", "-Ln", "-C", "-I", "-smux", "-c"])
        .arg(&file)
        .arg(format!("udp:{address}"))
        .env("SNMP_PERSISTENT_DIR", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Some(Daemon { process, address, _folder: folder })
}

async fn gate() -> Gate {
    let transport = UdpTransport::open().await.unwrap();
    polite_gate(transport, "127.45.0.1/32".parse().unwrap(), Pace::new(10_000, 10_000, 10_000))
}

fn user(name: &str, authentication: SnmpAuthentication) -> SnmpUser {
    SnmpUser::new(name).authentication(authentication, "the authentication")
}

/// Walks everything with the program of net-snmp.
fn bulk_walk(daemon: &Daemon) -> Variables {
    let output = Command::new("snmpbulkwalk")
        .args([
            "-v2c",
            "-c",
            "collected",
            "-On",
            "-Ox",
            "-Oe",
            "-t",
            "5",
            "-m",
            "",
            &daemon.address.to_string(),
            ".1.3",
        ])
        .output()
        .unwrap();
    walked(&output.stdout)
}

async fn read(agent: &mut SnmpAgent) -> Variables {
    let mut budget = WalkBudget::new(&WalkLimits::default());
    let table = agent.walk(&ObjectId::new([1, 3]), &mut budget).await;
    assert_eq!(table.end, TableEnd::Complete);
    table.rows.into_iter().map(|variable| (variable.id.arcs().to_vec(), variable.value)).collect()
}

#[tokio::test]
async fn agent_is_read_as_its_own_program_reads_it() {
    let Some(daemon) = start() else { return };
    let gate = gate().await;
    let secrets = [
        SnmpSecret::v2c("collected"),
        SnmpSecret::v3(
            user("aes", SnmpAuthentication::Sha256).privacy(SnmpPrivacy::Aes128, "the private key"),
        ),
        SnmpSecret::v3(user("des", SnmpAuthentication::Md5).privacy(SnmpPrivacy::Des, "the private key")),
        SnmpSecret::v3(user("open", SnmpAuthentication::Sha512)),
        SnmpSecret::v1("collected"),
    ];
    for secret in secrets {
        let name = format!("{secret:?}");
        let mut agent = SnmpAgent::find(&gate, daemon.address, vec![secret]).await.unwrap();
        let before = bulk_walk(&daemon);
        let read = read(&mut agent).await;
        let after = bulk_walk(&daemon);
        // Counters and times change in between, and the states of processes and connections change back and forth.
        let is_volatile = |id: &[u32]| {
            matches!(
                id,
                [1, 3, 6, 1, 4, 1, ..] | [1, 3, 6, 1, 2, 1, 6, ..] | [1, 3, 6, 1, 2, 1, 25, 1..=5, ..]
            )
        };
        let stable = before.iter().filter(|(id, value)| !is_volatile(id) && after.get(*id) == Some(*value));
        let mut count = 0;
        for (id, value) in stable {
            // SNMPv1 has no Counter64.
            if name.contains("v1") && !read.contains_key(id) {
                assert!(matches!(value, toposcope::collect::snmp::SnmpValue::Counter64(_)), "{name}: {id:?}");
                continue;
            }
            assert_eq!(read.get(id), Some(value), "{name}: {id:?}");
            count += 1;
        }
        println!("{name}: {count} of {} variables are the same, the others change", before.len());
        assert!(count > 100, "{name}: {count}");
    }
}

#[tokio::test]
async fn agent_refuses_what_is_wrong() {
    let Some(daemon) = start() else { return };
    let gate = gate().await;
    let private =
        |user: SnmpUser, password: &str| SnmpSecret::v3(user.privacy(SnmpPrivacy::Aes128, password));
    // It answers when it has started.
    let right = private(user("aes", SnmpAuthentication::Sha256), "the private key");
    assert!(SnmpAgent::find(&gate, daemon.address, vec![right]).await.is_ok());
    for (secret, refusal) in [
        (private(user("stranger", SnmpAuthentication::Sha256), "the private key"), SnmpRefusal::UnknownUser),
        (private(user("aes", SnmpAuthentication::Sha1), "the private key"), SnmpRefusal::WrongDigest),
        (private(user("aes", SnmpAuthentication::Sha256), "something else"), SnmpRefusal::DecryptionFailed),
    ] {
        let error = SnmpAgent::find(&gate, daemon.address, vec![secret]).await.unwrap_err();
        // Some versions say nothing to messages that they cannot decrypt.
        let is_silent = error == AskError::Silent && refusal == SnmpRefusal::DecryptionFailed;
        assert!(error == AskError::Refused(refusal) || is_silent, "{error:?} {refusal:?}");
    }
}
