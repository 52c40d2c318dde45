//! The ports and services of generated hosts.

use std::error::Error;

use toposcope::model::{
    Binding, BindingTarget, DockerVirtualization, Port, PortNumber, Service, ServiceDefinition, ServiceId,
    ServiceVirtualization,
};

use super::rack::Offer;
use super::{Part, Position};

impl Position {
    pub(super) fn ports(self) -> Result<Vec<Port>, Box<dyn Error + Send + Sync>> {
        let offers = (0..).zip(self.device.offers);
        let port = |(place, offer): (u64, &Offer)| {
            let (number, protocol) = offer.port?;
            let port = PortNumber::try_from(number).map(|number| Port {
                id: self.id(Part::Port, place),
                host_id: self.id(Part::Host, 0),
                network_id: self.network_id(),
                number,
                protocol,
                created_at: self.created_at(),
                updated_at: self.created_at(),
                last_seen_at: None,
                is_stale: false,
            });
            Some(port.map_err(Into::into))
        };
        offers.filter_map(port).collect()
    }

    pub(super) fn services(self) -> Result<Vec<Service>, Box<dyn Error + Send + Sync>> {
        (0..).zip(self.device.offers).map(|(place, offer)| self.service(place, offer)).collect()
    }

    fn service(self, place: u64, offer: &Offer) -> Result<Service, Box<dyn Error + Send + Sync>> {
        let id: ServiceId = self.id(Part::Service, place);
        let docker = || DockerVirtualization {
            container_name: Some(offer.name.to_lowercase()),
            container_id: Some(id.uuid().simple().to_string()),
            service_id: self.id(Part::Service, 0),
        };
        Ok(Service {
            id,
            host_id: self.id(Part::Host, 0),
            network_id: self.network_id(),
            name: offer.name.to_owned(),
            position: place.cast_signed(),
            service_definition: ServiceDefinition::new(offer.definition)?,
            source: self.source(),
            tags: Vec::new(),
            virtualization: offer.is_contained.then(docker).map(ServiceVirtualization::Docker),
            bindings: vec![self.binding(place, offer)],
            created_at: self.created_at(),
            updated_at: self.created_at(),
            last_seen_at: None,
            is_stale: false,
        })
    }

    fn binding(self, place: u64, offer: &Offer) -> Binding {
        let target = match offer.port {
            Some(_) => BindingTarget::Port { port_id: self.id(Part::Port, place), interface_id: None },
            None => BindingTarget::Interface { interface_id: self.id(Part::Interface, 0) },
        };
        Binding {
            id: self.id(Part::Binding, place),
            service_id: self.id(Part::Service, place),
            network_id: self.network_id(),
            target,
            created_at: self.created_at(),
            updated_at: self.created_at(),
        }
    }
}
