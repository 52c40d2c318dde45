use super::{PortNumber, Protocol};

/// Returns the service usually found on this number and protocol, as named in JSON.
pub(super) const fn kind(number: PortNumber, protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Tcp => tcp(number.get()),
        Protocol::Udp => udp(number.get()),
    }
}

const fn tcp(number: u16) -> &'static str {
    match number {
        21 => "Ftp",
        22 => "Ssh",
        23 => "Telnet",
        53 => "DnsTcp",
        80 => "Http",
        88 => "Kerberos",
        389 => "Ldap",
        443 => "Https",
        445 => "Samba",
        515 => "LdpTcp",
        554 => "Rtsp",
        631 => "Ipp",
        636 => "Ldaps",
        1433 => "MsSql",
        1883 => "Mqtt",
        2049 => "Nfs",
        2375 => "Docker",
        2376 => "DockerTls",
        3000 => "Http3000",
        3306 => "MySql",
        3389 => "Rdp",
        5000 => "Http5000",
        5060 => "Sip",
        5061 => "SipTls",
        5432 => "PostgreSQL",
        5671 => "AMQPTls",
        5672 => "AMQP",
        5984 => "CouchDb",
        6379 => "Redis",
        6443 => "Kubernetes",
        8080 => "Http8080",
        8081 => "Http8081",
        8082 => "Http8082",
        8086 => "InfluxDb",
        8443 => "Https8443",
        8883 => "MqttTls",
        8888 => "Http8888",
        9000 => "Http9000",
        9042 => "Cassandra",
        9092 => "Kafka",
        9100 => "JetDirect",
        9200 => "Elasticsearch",
        9443 => "Https9443",
        10_443 => "Https10443",
        15_672 => "RabbitMqMgmt",
        27_017 => "MongoDB",
        _ => "Custom",
    }
}

const fn udp(number: u16) -> &'static str {
    match number {
        53 => "DnsUdp",
        67 => "Dhcp",
        123 => "Ntp",
        161 => "Snmp",
        515 => "LdpUdp",
        1161 => "SnmpAlt",
        1194 => "OpenVPN",
        47_808 => "BACnet",
        51_820 => "Wireguard",
        _ => "Custom",
    }
}
