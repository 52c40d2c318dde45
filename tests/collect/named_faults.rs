//! The named faults: each alone and all in one network, without a device or cable that is missing or invented.

use std::time::Duration;

use tokio::time::timeout;
use toposcope::collect::crawl::{Crawl, CrawlOptions};
use toposcope::collect::{SnmpAuthentication, SnmpPrivacy, SnmpSecret, SnmpUser};

use crate::farm::Farm;
use crate::farm::collected::{Collected, REPORTS_AT_ONCE};
use crate::farm::faulty::{FaultyNetwork, NamedFault, USER};
use crate::farm::named_faults::FAULTS;
use crate::farm::network::address;
use crate::support::{COMMUNITY, gate};

/// The time after which a crawl hangs.
const MAX_TIME: Duration = Duration::from_secs(3_600);

/// Crawls a network of devices with faults from its core, and returns what is wrong with the result.
async fn errors(faults: &[NamedFault]) -> Vec<String> {
    let faulty = FaultyNetwork::new(faults, COMMUNITY);
    let farm = Farm::of_faulty(&faulty);
    let [name, authentication, privacy] = USER;
    let user = SnmpUser::new(name)
        .authentication(SnmpAuthentication::Sha256, authentication)
        .privacy(SnmpPrivacy::Aes128, privacy);
    let (user, users) = (SnmpSecret::v3(user), faulty.users.clone());
    let secrets = move |address| {
        let communities = vec![SnmpSecret::v2c(COMMUNITY), SnmpSecret::v1(COMMUNITY)];
        if users.contains(&address) { vec![user.clone()] } else { communities }
    };
    let mut options = CrawlOptions::default();
    options.follows_arp = true;
    let gate = gate(&farm, "127.1.0.0/16");
    let mut crawl = Crawl::begin(&gate, [address(0).into()], secrets, options).unwrap();
    let collected = Collected::new().await.unwrap();
    let Ok(others) = timeout(MAX_TIME, collected.add_all(&mut crawl, REPORTS_AT_ONCE)).await else {
        return vec!["it hangs".to_owned()];
    };
    let mut errors: Vec<String> = others.unwrap().1.iter().map(|event| format!("{event:?}")).collect();
    if crawl.progress().devices != faulty.network.devices.len() {
        errors.push(format!("{} devices", crawl.progress().devices));
    }
    let (found, truth) = (collected.cables().await.unwrap(), faulty.network.truth());
    errors.extend(found.difference(&truth).map(|cable| format!("invented: {cable:?}")));
    errors.extend(truth.difference(&found).map(|cable| format!("missing: {cable:?}")));
    errors
}

#[tokio::test(start_paused = true)]
async fn each_fault_alone_leaves_all_devices_and_cables() {
    let mut wrong = Vec::new();
    for fault in FAULTS {
        let errors = errors(&[*fault]).await;
        if !errors.is_empty() {
            wrong.push(format!("{}: {errors:#?}", fault.name));
        }
    }
    println!("{} of {} faults leave all devices and cables", FAULTS.len() - wrong.len(), FAULTS.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(FAULTS.len() >= 60);
}

#[tokio::test(start_paused = true)]
async fn all_faults_in_one_network_leave_all_devices_and_cables() {
    let errors = errors(FAULTS).await;
    assert!(errors.is_empty(), "{errors:#?}");
}
