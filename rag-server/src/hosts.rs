//! Which hosts of a connection string are reached over sockets of this machine?

use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts};

/// Hosts that follow one another and are reached alike.
#[derive(Debug, PartialEq, Eq)]
pub struct Hosts {
    /// Whether that is over unix sockets, which are not encrypted.
    pub is_local: bool,
    /// The configuration with these hosts alone.
    pub config: Config,
}

/// Cuts the hosts of a configuration where one over a unix socket is beside one of a network: those that come first, and
/// those after them. Where there are addresses, all are of a network: the driver takes these before folders. Ports that
/// do not go together with the hosts stay, for the driver to say so.
pub fn alike(config: &Config) -> (Hosts, Vec<Hosts>) {
    let hosts = config.get_hosts();
    let is_local = |place: usize| {
        matches!(hosts.get(place), Some(Host::Unix(_))) && config.get_hostaddrs().is_empty()
    };
    let ports = config.get_ports().len();
    let can_be_cut = ports <= 1 || ports == hosts.len();
    let places: Vec<_> = (0..hosts.len()).collect();
    let cut = |run: &[usize]| Hosts { is_local: is_local(run[0]), config: with_hosts(config, run) };
    let whole = |is_local| (Hosts { is_local, config: config.clone() }, Vec::new());
    match places.chunk_by(|&one, &next| is_local(one) == is_local(next)).collect::<Vec<_>>()[..] {
        [] | [_] => whole(is_local(0)),
        _ if !can_be_cut => whole(false),
        [first, ref others @ ..] => (cut(first), others.iter().map(|run| cut(run)).collect()),
    }
}

/// Whether hosts are taken in an order that is drawn, though some are reached otherwise than others.
pub fn is_drawn_among_unlike(config: &Config) -> bool {
    config.get_load_balance_hosts() == LoadBalanceHosts::Random && !alike(config).1.is_empty()
}

/// The configuration with the hosts of these places. The driver lets none be taken away, so all else is copied.
fn with_hosts(config: &Config, places: &[usize]) -> Config {
    let mut other = without_hosts(config);
    for &place in places {
        match &config.get_hosts()[place] {
            Host::Tcp(host) => other.host(host),
            Host::Unix(folder) => other.host_path(folder),
        };
    }
    match config.get_ports() {
        [port] => _ = other.port(*port),
        ports => places
            .iter()
            .filter_map(|&place| ports.get(place))
            .for_each(|&port| _ = other.port(port)),
    }
    other
}

fn without_hosts(config: &Config) -> Config {
    let mut other = Config::new();
    config.get_user().map(|user| other.user(user));
    config.get_password().map(|password| other.password(password));
    config.get_dbname().map(|name| other.dbname(name));
    config.get_options().map(|options| other.options(options));
    config.get_application_name().map(|name| other.application_name(name));
    config.get_connect_timeout().map(|timeout| other.connect_timeout(*timeout));
    config.get_tcp_user_timeout().map(|timeout| other.tcp_user_timeout(*timeout));
    config.get_keepalives_interval().map(|interval| other.keepalives_interval(interval));
    config.get_keepalives_retries().map(|retries| other.keepalives_retries(retries));
    other
        .ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .keepalives(config.get_keepalives())
        .keepalives_idle(config.get_keepalives_idle())
        .target_session_attrs(config.get_target_session_attrs())
        .channel_binding(config.get_channel_binding())
        .load_balance_hosts(config.get_load_balance_hosts());
    other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &str, expected: &[(bool, &str)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|&(is_local, words)| Hosts { is_local, config: words.parse().unwrap() })
            .collect();
        let (first, mut others) = alike(&words.parse().unwrap());
        others.insert(0, first);
        assert_eq!(others, expected, "{words}");
    }

    #[test]
    fn hosts_are_cut_where_they_are_not_alike() {
        check("user=a", &[(false, "user=a")]);
        check("host=db", &[(false, "host=db")]);
        check("host=/run,/tmp", &[(true, "host=/run,/tmp")]);
        check("host=/run,db", &[(true, "host=/run"), (false, "host=db")]);
        check(
            "host=a,b,/run,c port=1,2,3,4",
            &[(false, "host=a,b port=1,2"), (true, "host=/run port=3"), (false, "host=c port=4")],
        );
        check(
            "host=/run,db port=5433",
            &[(true, "host=/run port=5433"), (false, "host=db port=5433")],
        );
    }

    #[test]
    fn an_address_goes_before_a_folder() {
        let addresses = "host=/run,/tmp hostaddr=127.0.0.1,::1";
        check(addresses, &[(false, addresses)]);
        check("hostaddr=127.0.0.1", &[(false, "hostaddr=127.0.0.1")]);
    }

    #[test]
    fn numbers_that_do_not_go_together_are_left_to_the_driver() {
        for words in ["host=/run,db port=1,2,3", "host=/run,db hostaddr=127.0.0.1"] {
            check(words, &[(false, words)]);
        }
    }

    #[test]
    fn all_else_stays() {
        let all = "user=a password=b dbname=c options=d application_name=e sslmode=require \
                   sslnegotiation=direct connect_timeout=1 tcp_user_timeout=2 keepalives=0 \
                   keepalives_idle=3 keepalives_interval=4 keepalives_retries=5 \
                   target_session_attrs=read-write channel_binding=require load_balance_hosts=random";
        let config: Config = format!("{all} host=/run,db,b port=6,7,8").parse().unwrap();
        assert_eq!(with_hosts(&config, &[0, 1, 2]), config);
        let few: Config = "host=/run,db".parse().unwrap();
        assert_eq!(with_hosts(&few, &[0, 1]), few);
        assert!(is_drawn_among_unlike(&config) && !is_drawn_among_unlike(&few));
    }
}
