//! The reports of the example on their way to a service.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use toposcope::access::Caller;
use toposcope::client::{Client, HttpService, RequestBody};
use toposcope::inventory::HostQuery;
use toposcope::{Api, Inventory};
use tower::service_fn;

use crate::again;
use crate::example::args;
use crate::program::destination::Destination;
use crate::program::server::ServerDestination;
use crate::program::stop::Stop;
use crate::program::watch;
use crate::service::Served;
use crate::support::{community, gate, report_of};

/// A service with an inventory in memory.
struct Service {
    inventory: Inventory,
    caller: Caller,
    key: String,
}

impl Service {
    async fn new() -> Self {
        let Served { inventory, caller, key, .. } = Served::new().await;
        Self { inventory, caller, key }
    }

    /// Returns a destination whose report of this number, from 0, arrives damaged.
    fn damaging(&self, number: usize) -> ServerDestination<impl HttpService + use<>> {
        let (api, requests) = (Api::builder(self.inventory.clone()).build(), Arc::new(AtomicUsize::new(0)));
        let service = service_fn(move |mut request: http::Request<RequestBody>| {
            if requests.fetch_add(1, Ordering::Relaxed) == number {
                *request.body_mut() = RequestBody::new(b"{".to_vec());
            }
            tower::Service::call(&mut api.clone(), request)
        });
        ServerDestination(Client::new(service).with_api_key(&self.key).unwrap())
    }

    async fn hosts(&self) -> u64 {
        self.inventory.hosts().list(&self.caller, &HostQuery::default()).await.unwrap().total
    }
}

#[tokio::test(start_paused = true)]
async fn service_gets_the_reports_by_a_daemon_key() {
    let service = Service::new().await;
    let client = Client::new(Api::builder(service.inventory.clone()).build());
    let farm = again::network();
    let args = args("192.0.2.1", "192.0.2.0/24", community());
    let gate = gate(&farm, "192.0.2.0/24");
    let wrong = ServerDestination(client.clone().with_api_key("topo_d_wrong").unwrap());
    let failure =
        watch(&args, &gate, &wrong, &Stop::default(), &mut Vec::new()).await.unwrap_err().to_string();
    assert!(failure.contains("Check that --server-key-env names a daemon key"), "{failure}");
    let right = ServerDestination(client.with_api_key(&service.key).unwrap());
    watch(&args, &gate, &right, &Stop::default(), &mut Vec::new()).await.unwrap();
    assert_eq!(service.hosts().await, 3);
}

#[tokio::test]
async fn report_that_is_refused_does_not_hold_up_the_others() {
    let service = Service::new().await;
    let delivered = service.damaging(1).deliver(["a", "b", "c"].map(report_of).into()).await;
    let is_stored: Vec<bool> = delivered.answers.iter().map(Result::is_ok).collect();
    assert_eq!((is_stored, delivered.failure.is_none()), (vec![true, false, true], true));
    assert_eq!(service.hosts().await, 2);
    // Without the right key, none of them is taken.
    let api = Api::builder(service.inventory.clone()).build();
    let wrong = ServerDestination(Client::new(api).with_api_key("topo_d_wrong").unwrap());
    let delivered = wrong.deliver(["a", "b", "c"].map(report_of).into()).await;
    assert!(delivered.answers.is_empty() && delivered.failure.is_some());
}

#[tokio::test(start_paused = true)]
async fn report_that_is_refused_is_printed_and_its_device_is_read_again() {
    let (service, farm) = (Service::new().await, again::network());
    let mut args = args("192.0.2.1", "192.0.2.0/24", community());
    args.watch = Some(Duration::from_secs(600));
    let (gate, destination, mut output) = (gate(&farm, "192.0.2.0/24"), service.damaging(1), Vec::new());
    let stop = Stop::default();
    let program = watch(&args, &gate, &destination, &stop, &mut output);
    assert!(timeout(Duration::from_secs(900), program).await.is_err(), "it goes on");
    let output = String::from_utf8(output).unwrap();
    assert_eq!(
        output.matches("Not stored:\n192.0.2.2  The service did not take a report:").count(),
        1,
        "{output}"
    );
    let counts: Vec<&str> = output.lines().filter(|line| line.starts_with("asked: ")).collect();
    assert_eq!(counts.len(), 2, "{output}");
    assert!(counts[0].ends_with("stored: 2"), "{output}");
    assert!(counts[1].contains("devices: 3 (2 unchanged),") && counts[1].ends_with("stored: 3"), "{output}");
    assert_eq!(service.hosts().await, 3);
}
