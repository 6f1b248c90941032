use tokio_postgres::config::{Host, SslNegotiation};

use super::*;
use crate::connection_string;

fn connector(url: &str) -> Result<Connector, String> {
    let parts = connection_string::split(url).unwrap();
    let encryption = Encryption::read(&parts.encryption, |_| None)?;
    Connector::new(parts.rest.parse().unwrap(), encryption)
}

fn all_ways(url: &str) -> Vec<(SslMode, Option<SslMode>)> {
    let connector = connector(url).unwrap();
    let (first, others) = hosts::alike(&connector.config);
    std::iter::once(first).chain(others).map(|hosts| connector.ways(hosts.is_local)).collect()
}

fn ways(url: &str) -> (SslMode, Option<SslMode>) {
    all_ways(url)[0]
}

#[test]
fn each_mode_has_its_ways() {
    assert_eq!(ways("host=db"), (SslMode::Prefer, Some(SslMode::Disable)));
    assert_eq!(ways("host=db sslmode=disable"), (SslMode::Disable, None));
    assert_eq!(ways("host=db sslmode=allow"), (SslMode::Disable, Some(SslMode::Require)));
    assert_eq!(ways("host=db sslmode=require"), (SslMode::Require, None));
    let each = [(SslMode::Disable, None), (SslMode::Require, None)];
    assert_eq!(all_ways("host=/run,db sslmode=require"), each);
    // The driver takes an address before a folder.
    assert_eq!(ways("host=/run hostaddr=127.0.0.1 sslmode=require"), (SslMode::Require, None));
    assert_eq!(ways("host=/run,/tmp sslmode=require"), (SslMode::Disable, None));
    assert_eq!(ways("postgresql://db/shop?sslmode=require"), (SslMode::Require, None));
}

#[test]
fn an_address_stands_for_a_host() {
    let config = "hostaddr=127.0.0.1,::1 user=reader".parse().unwrap();
    let connector = Connector::new(config, Encryption::read(&[], |_| None).unwrap()).unwrap();
    let hosts = connector.config().get_hosts();
    assert_eq!(hosts, [Host::Tcp("127.0.0.1".to_owned()), Host::Tcp("::1".to_owned())]);
    assert_eq!(ways("hostaddr=127.0.0.1,::1"), (SslMode::Prefer, Some(SslMode::Disable)));
}

#[test]
fn an_order_that_is_drawn_wants_hosts_that_are_alike() {
    let error = connector("host=/run,db load_balance_hosts=random").unwrap_err();
    assert!(error.starts_with("load_balance_hosts=random needs hosts that are all"), "{error}");
    connector("host=db,web load_balance_hosts=random").unwrap();
}

#[test]
fn tls_may_begin_at_once() {
    let config = connector("host=db sslmode=require sslnegotiation=direct").unwrap().config;
    assert_eq!(config.get_ssl_negotiation(), SslNegotiation::Direct);
    assert_eq!(
        connector("host=db").unwrap().config.get_ssl_negotiation(),
        SslNegotiation::Postgres
    );
}
