//! Documents read through a real ragd: those of strangers harm nobody.

#[allow(dead_code)]
mod support {
    pub mod documents;
    pub mod ragd;
}

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::error::{Error, ErrorKind};
use pg_rag::parse::{ParseOptions, Part};
use pg_rag::protocol::{FileDocument, HEADER, ParseOutcome, Request, Response, decode, encode};

use support::documents;
use support::ragd::Ragd;

const MINUTE: Duration = Duration::from_secs(60);

fn request(documents: Vec<Vec<u8>>, timeout: Duration) -> Request {
    let documents = documents.into_iter().map(|bytes| FileDocument { bytes, mime: None }).collect();
    let timeout_ms = timeout.as_millis() as u64;
    Request::Parse { documents, options: ParseOptions::default(), timeout_ms }
}

fn parse(
    client: &mut ClientConnection,
    documents: Vec<Vec<u8>>,
    timeout: Duration,
) -> Vec<ParseOutcome> {
    match client.call(&request(documents, timeout)).unwrap() {
        Response::Parts(outcomes) => outcomes,
        other => panic!("{other:?}"),
    }
}

fn text(parts: &[Part]) -> String {
    parts.iter().map(|part| &*part.content).collect::<Vec<_>>().join("\n\n")
}

fn check_fails(ragd: &Ragd, document: Vec<u8>, timeout: Duration) -> Error {
    let outcome = parse(&mut ragd.connect(), vec![document], timeout).swap_remove(0);
    let error = outcome.unwrap_err();
    assert!(error.hint_text().is_some(), "{error} without a hint");
    assert_eq!(children(ragd), [0; 0], "a process was left behind");
    assert_is_well(ragd);
    error
}

fn assert_is_well(ragd: &Ragd) {
    let outcome = parse(&mut ragd.connect(), vec![b"fine".to_vec()], MINUTE).swap_remove(0);
    assert_eq!(text(&outcome.unwrap()), "fine");
}

/// The processes whose parent is `ragd`.
fn children(ragd: &Ragd) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in parentheses, may contain anything.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let (state, parent) = (fields.next()?, fields.next()?);
        (state != "Z" && parent == ragd.pid().to_string()).then_some(pid)
    });
    processes.collect()
}

fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']))
}

/// Whether the process has given up what it does not need, the last of which are privileges. A
/// container may have none to give up, so what comes before them is looked at, too.
fn is_confined(pid: u32) -> bool {
    let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let (status, limits) = (read("status"), read("limits"));
    let processes = limits.lines().find_map(|line| line.strip_prefix("Max processes"));
    status.contains("NoNewPrivs:\t1")
        && processes.is_some_and(|most| most.split_whitespace().next() == Some("0"))
}

/// Has `ragd` read what never ends, and gives the process that does it.
fn begin_endless(ragd: &Ragd) -> (ClientConnection, u32) {
    let mut client = ragd.connect();
    client.send(&request(vec![documents::endless_pdf()], MINUTE)).unwrap();
    let started = Instant::now();
    loop {
        // A child is its parent until it runs its own program.
        let of_ragd = children(ragd);
        let runs = |pid: &&u32| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.windows(7).any(|window| window == b"--parse")
        };
        // It confines itself first, then reads.
        if let Some(child) = of_ragd.iter().find(|pid| runs(pid) && is_confined(**pid)) {
            return (client, *child);
        }
        assert!(started.elapsed() < Duration::from_secs(60), "no child has confined itself");
        thread::sleep(Duration::from_millis(2));
    }
}

fn gone_after(pid: u32) -> Duration {
    let started = Instant::now();
    while is_running(pid) {
        assert!(started.elapsed() < Duration::from_secs(60), "process {pid} goes on");
        thread::sleep(Duration::from_millis(1));
    }
    started.elapsed()
}

#[test]
fn documents_of_all_formats_in_one_request() {
    let ragd = Ragd::start();
    let outcomes = parse(
        &mut ragd.connect(),
        vec![
            b"plain".to_vec(),
            b"<h1>page</h1>".to_vec(),
            documents::pdf(&[&documents::draw(72, 700, 10, "drawn")]),
            b"\x89PNG\r\n\x1a\n".to_vec(),
            documents::docx(&documents::paragraph("Kop1", "written")),
            Vec::new(),
        ],
        MINUTE,
    );
    let texts: Vec<String> = outcomes
        .iter()
        .map(|outcome| outcome.as_ref().map_or_else(|error| error.to_string(), |p| text(p)))
        .collect();
    let png = "document is image/png, which cannot be parsed";
    assert_eq!(texts, ["plain", "# page", "drawn", png, "# written", ""]);
    assert!(parse(&mut ragd.connect(), Vec::new(), MINUTE).is_empty());
}

#[test]
fn what_takes_too_long_is_ended() {
    let ragd = Ragd::start();
    let started = Instant::now();
    let error = check_fails(&ragd, documents::endless_pdf(), Duration::from_millis(300));
    assert_eq!(error.kind(), ErrorKind::DocumentLimit);
    assert_eq!(error.message(), "document was not parsed within 300 ms");
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn what_takes_too_much_memory_is_ended() {
    let ragd = Ragd::start();
    assert_is_well(&ragd);
    let before = ragd.resident();
    for _ in 0..3 {
        let error = check_fails(&ragd, documents::pdf_bomb(4 << 30), MINUTE);
        assert_eq!(error.kind(), ErrorKind::DocumentLimit, "{error}");
        assert_eq!(error.message(), "document needs more than 1024 MB of memory to be parsed");
    }
    let grown = ragd.resident().saturating_sub(before);
    assert!(grown < 32 << 20, "ragd grew by {grown} bytes");
}

#[test]
fn archives_that_unpack_to_too_much_are_refused() {
    let ragd = Ragd::start();
    let error = check_fails(&ragd, documents::docx_bomb(257 << 20), MINUTE);
    assert_eq!(error.kind(), ErrorKind::DocumentLimit);
    assert!(error.message().contains("unzips to more than"), "{error}");
}

#[test]
fn hostile_files_are_errors_and_nothing_else() {
    let ragd = Ragd::start();
    let pdf = documents::compressed_pdf(&[&documents::draw(72, 700, 10, "text")]);
    let docx = documents::docx(&documents::paragraph("", "text"));
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 56) as u8
    };
    let noise: Vec<u8> = (0..10_000).map(|_| random()).collect();
    for document in [
        documents::nested_docx(100_000),
        "<div>".repeat(1_000_000).into_bytes(),
        docx[..docx.len() / 2].to_vec(),
        [b"%PDF-1.7\n", &noise[..]].concat(),
        [b"PK\x03\x04", &noise[..]].concat(),
        noise.clone(),
        documents::encrypted_pdf(),
    ] {
        let kind = check_fails(&ragd, document, MINUTE).kind();
        let kinds = [ErrorKind::DocumentUnreadable, ErrorKind::DocumentLimit];
        assert!(kinds.contains(&kind), "{kind:?}");
    }
    // These are no worse than a viewer finds them.
    let _ = parse(&mut ragd.connect(), vec![documents::nested_pdf(1_000_000)], MINUTE);
    let _ = parse(&mut ragd.connect(), vec![pdf[..pdf.len() / 2].to_vec()], MINUTE);
    assert_is_well(&ragd);
}

#[test]
fn closing_the_connection_ends_the_process() {
    let ragd = Ragd::start();
    let (client, child) = begin_endless(&ragd);
    drop(client);
    let time = gone_after(child);
    println!("ended after {time:?}");
    assert!(time < Duration::from_secs(10), "{time:?}");
    assert_is_well(&ragd);
}

#[test]
fn the_process_dies_with_ragd() {
    let ragd = Ragd::start();
    let (_client, child) = begin_endless(&ragd);
    ragd.signal(libc::SIGKILL);
    gone_after(child);
}

#[test]
fn the_process_may_next_to_nothing() {
    let ragd = Ragd::start();
    let (client, child) = begin_endless(&ragd);
    let proc = format!("/proc/{child}");
    let limits = fs::read_to_string(format!("{proc}/limits")).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(limit("Max address space"), (1_u64 << 30).to_string());
    assert_eq!(limit("Max cpu time"), "61");
    for name in ["Max open files", "Max file size", "Max core file size", "Max processes"] {
        assert_eq!(limit(name), "0", "{name}");
    }
    let open = fs::read_dir(format!("{proc}/fd")).unwrap();
    let mut open: Vec<_> = open.map(|entry| entry.unwrap().file_name()).collect();
    open.sort();
    assert_eq!(open, ["0", "1", "2"]);
    let status = fs::read_to_string(format!("{proc}/status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(u64::from_str_radix(&field("SigBlk:"), 16), Ok(0), "signals are blocked");
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(fs::read(format!("{proc}/environ")).unwrap(), b"");
    assert_eq!(fs::read_to_string(format!("{proc}/oom_score_adj")).unwrap().trim(), "1000");
    drop(client);
}

#[test]
fn many_sessions_share_a_few_processes() {
    let ragd = Ragd::start();
    thread::scope(|scope| {
        for number in 0..16 {
            let ragd = &ragd;
            scope.spawn(move || {
                let word = format!("document {number}");
                let document = documents::docx(&documents::paragraph("", &word));
                let outcome = parse(&mut ragd.connect(), vec![document], MINUTE).swap_remove(0);
                assert_eq!(text(&outcome.unwrap()), word);
            });
        }
    });
    assert_eq!(children(&ragd), [0; 0]);
}

#[test]
fn a_long_document_goes_there_and_back() {
    let ragd = Ragd::start();
    let long = "A line of text of a long document.\n".repeat(1_000_000);
    let outcome =
        parse(&mut ragd.connect(), vec![long.clone().into_bytes()], MINUTE).swap_remove(0);
    assert_eq!(text(&outcome.unwrap()), long.trim_end());
}

#[test]
fn the_process_answers_garbage_with_an_error() {
    for input in [&b""[..], b"x", b"\x05\0\0\0\xff\xff\xff\xff\xff"] {
        let mut child = Ragd::executable()
            .args(["--parse", "5"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        let outcome: ParseOutcome = decode(&output.stdout[HEADER..]).unwrap();
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::DataCorrupted);
    }
    assert!(encode(&ParseOutcome::Ok(Vec::new())).is_ok());
}

#[test]
fn how_long_a_short_document_takes() {
    let ragd = Ragd::start();
    let mut client = ragd.connect();
    let documents = vec![b"short".to_vec(); 50];
    let started = Instant::now();
    let outcomes = parse(&mut client, documents, MINUTE);
    let each = started.elapsed() / 50;
    println!("{each:?} a document");
    assert!(outcomes.iter().all(Result::is_ok));
    assert!(each < Duration::from_millis(500), "{each:?}");
}
