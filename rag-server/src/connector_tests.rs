use super::*;
use crate::connection_string;

fn ways(url: &str) -> (SslMode, Option<SslMode>) {
    let parts = connection_string::split(url).unwrap();
    let encryption = Encryption::read(&parts.encryption, |_| None).unwrap();
    Connector::new(parts.rest.parse().unwrap(), encryption).unwrap().ways()
}

#[test]
fn each_mode_has_its_ways() {
    assert_eq!(ways("host=db"), (SslMode::Prefer, Some(SslMode::Disable)));
    assert_eq!(ways("host=db sslmode=disable"), (SslMode::Disable, None));
    assert_eq!(ways("host=db sslmode=allow"), (SslMode::Disable, Some(SslMode::Require)));
    assert_eq!(ways("host=db sslmode=require"), (SslMode::Require, None));
    assert_eq!(ways("host=/run,db sslmode=require"), (SslMode::Require, None));
    assert_eq!(ways("host=/run,/tmp sslmode=require"), (SslMode::Disable, None));
    assert_eq!(ways("postgresql://db/shop?sslmode=require"), (SslMode::Require, None));
}

#[test]
fn an_address_stands_for_a_host() {
    let config = "hostaddr=127.0.0.1,::1 user=reader".parse().unwrap();
    let connector = Connector::new(config, Encryption::read(&[], |_| None).unwrap()).unwrap();
    let hosts = connector.config().get_hosts();
    assert_eq!(hosts, [Host::Tcp("127.0.0.1".to_owned()), Host::Tcp("::1".to_owned())]);
    assert_eq!(connector.ways(), (SslMode::Prefer, Some(SslMode::Disable)));
}
