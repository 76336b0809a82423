//! Connections: read a head, answer, write, again. One thread, one runtime, many connections.

use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::net::SendFlags;
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::LocalSet;

use super::Shared;
use super::answer::{Desk, Request};
use super::negotiate::Conditions;
use super::reply::Ending;

/// The largest request head; larger ones get 431.
const MOST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;
/// What is read of a request that was refused, at most.
const MOST_LEFT_OVER: usize = 1 << 20;
const DRIPS: usize = 10;
const SEND_BUFFER: usize = 256 * 1024;

/// Serves connections until told to stop.
pub(crate) fn work(
    shared: &Arc<Shared>,
    listener: std::net::TcpListener,
    mut stopping: watch::Receiver<bool>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return eprintln!("simweb: a worker cannot start: {error}"),
    };
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        let listener = match tokio::net::TcpListener::from_std(listener) {
            Ok(listener) => listener,
            Err(error) => return eprintln!("simweb: a worker cannot listen: {error}"),
        };
        let desk = Rc::new(RefCell::new(Desk::default()));
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        tokio::task::spawn_local(serve(Arc::clone(shared), Rc::clone(&desk), stream));
                    }
                    // Out of descriptors, most likely: those in use will come back.
                    Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                },
                _ = stopping.changed() => break,
            }
        }
    });
}

struct Connection {
    shared: Arc<Shared>,
    desk: Rc<RefCell<Desk>>,
    stream: TcpStream,
    number: u64,
    address: Ipv4Addr,
}

async fn serve(shared: Arc<Shared>, desk: Rc<RefCell<Desk>>, stream: TcpStream) {
    let address = match stream.local_addr().map(|address| address.ip()) {
        Ok(IpAddr::V4(address)) if address.is_loopback() => address,
        // Reached through a real network: the simulated web is not for others.
        _ => return,
    };
    let _ = stream.set_nodelay(true);
    let _ = SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER);
    let number = shared.connections.fetch_add(1, Ordering::Relaxed);
    let mut connection = Connection {
        shared,
        desk,
        stream,
        number,
        address,
    };
    // The client went away, or broke the protocol: nobody is left to be told.
    let _ = connection.run().await;
}

enum Parsed {
    Partial,
    Bad(u16),
    Head(Head),
}

/// What a request head says, its texts as ranges of the read buffer.
struct Head {
    length: usize,
    keep: bool,
    method: Method,
    host: Option<u32>,
    path: Range<usize>,
    accept_encoding: Range<usize>,
    none_match: Option<Range<usize>>,
    modified_since: Option<Range<usize>>,
}

impl Head {
    fn request<'a>(&self, buffer: &'a [u8]) -> Request<'a> {
        let text = |range: &Range<usize>| buffer.get(range.clone()).unwrap_or_default();
        Request {
            path: path_of(text(&self.path)),
            head_only: self.method == Method::Head,
            accept_encoding: text(&self.accept_encoding),
            conditions: Conditions {
                none_match: self.none_match.as_ref().map(text),
                modified_since: self.modified_since.as_ref().map(text),
            },
            keep: self.keep,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Get,
    Head,
    Other,
}

impl Connection {
    async fn run(&mut self) -> io::Result<()> {
        let mut buffer: Vec<u8> = Vec::with_capacity(2048);
        loop {
            let parsed = if buffer.is_empty() {
                Parsed::Partial
            } else {
                self.parse(&buffer)
            };
            match parsed {
                Parsed::Partial if buffer.len() >= MOST_HEAD => return self.refuse(431).await,
                Parsed::Partial => {
                    if self.read(&mut buffer).await? == 0 {
                        return Ok(());
                    }
                }
                Parsed::Bad(status) => return self.refuse(status).await,
                Parsed::Head(head) => {
                    if !self.exchange(&buffer, &head).await? {
                        return self.part().await;
                    }
                    buffer.drain(..head.length);
                }
            }
        }
    }

    /// Reads what is there. `read_buf` spares the second call that would only say "nothing yet".
    async fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        buffer.reserve(2048);
        self.stream.read_buf(buffer).await
    }

    fn parse(&self, buffer: &[u8]) -> Parsed {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let length = match head.parse(buffer) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Parsed::Partial,
            Err(httparse::Error::TooManyHeaders) => return Parsed::Bad(431),
            Err(_) => return Parsed::Bad(400),
        };
        let method = match head.method {
            Some("GET") => Method::Get,
            Some("HEAD") => Method::Head,
            _ => Method::Other,
        };
        let range = |text: &[u8]| {
            let start = text.as_ptr() as usize - buffer.as_ptr() as usize;
            start..start + text.len()
        };
        let mut facts = Head {
            length,
            keep: head.version == Some(1),
            method,
            host: None,
            path: range(head.path.map_or(&buffer[..0], str::as_bytes)),
            accept_encoding: 0..0,
            none_match: None,
            modified_since: None,
        };
        for header in head.headers.iter() {
            let is = |name| header.name.eq_ignore_ascii_case(name);
            if is("host") {
                facts.host = self.shared.model.hosts.of_name(header.value);
            } else if is("connection") {
                if header.value.eq_ignore_ascii_case(b"close") {
                    facts.keep = false;
                } else if header.value.eq_ignore_ascii_case(b"keep-alive") {
                    facts.keep = true;
                }
            } else if is("accept-encoding") {
                facts.accept_encoding = range(header.value);
            } else if is("if-none-match") {
                facts.none_match = Some(range(header.value));
            } else if is("if-modified-since") {
                facts.modified_since = Some(range(header.value));
            }
        }
        // The body of another method is not read, so nothing can follow it.
        facts.keep &= method != Method::Other;
        Parsed::Head(facts)
    }

    /// One request and its reply; true if another may follow.
    async fn exchange(&mut self, buffer: &[u8], head: &Head) -> io::Result<bool> {
        let keep = head.keep;
        let time_us = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let host = head
            .host
            .or_else(|| self.shared.model.hosts.of_address(self.address));
        if let Some(host) = host {
            let wait = self.shared.model.latency_us(host);
            if wait > 0 {
                tokio::time::sleep(Duration::from_micros(wait)).await;
            }
        }
        let (ending, rest) = self.reply(
            head.method,
            host,
            head.request(buffer),
            time_us.as_micros() as u64,
        )?;
        match ending {
            Ending::Whole => {
                if !rest.is_empty() {
                    self.stream.write_all(&rest).await?;
                }
                return Ok(keep);
            }
            Ending::Drip => {
                let pause = self.shared.model.options.drip_seconds / DRIPS as f64;
                for part in rest.chunks(rest.len().div_ceil(DRIPS).max(1)) {
                    self.stream.write_all(part).await?;
                    tokio::time::sleep(Duration::from_secs_f64(pause)).await;
                }
                return Ok(keep);
            }
            Ending::ResetFirst => {}
            Ending::ResetMidway => self.stream.write_all(&rest[..rest.len() / 2]).await?,
        }
        // Lingering for no time makes the kernel send a reset.
        SockRef::from(&self.stream).set_linger(Some(Duration::ZERO))?;
        Err(io::ErrorKind::ConnectionReset.into())
    }

    /// Makes the reply and writes what the socket takes at once; gives what is left.
    fn reply(
        &self,
        method: Method,
        host: Option<u32>,
        request: Request<'_>,
        time_us: u64,
    ) -> io::Result<(Ending, Vec<u8>)> {
        let mut desk = self.desk.borrow_mut();
        let ending = match host {
            _ if method == Method::Other => desk.plain(405, "only GET and HEAD\n", request),
            Some(host) => desk.answer(&self.shared, host, request),
            None => desk.plain(
                421,
                "no host of the simulated web has this address\n",
                request,
            ),
        };
        let status = if matches!(ending, Ending::ResetFirst) {
            0
        } else {
            desk.reply.status
        };
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        if let Some(log) = &self.shared.log {
            let mut name = Vec::with_capacity(24);
            match host {
                Some(host) => self.shared.model.hosts.write_authority(host, &mut name),
                None => name.extend_from_slice(self.address.to_string().as_bytes()),
            }
            log.add(time_us, self.number, &name, request.path, status);
        }
        if ending == Ending::ResetFirst {
            return Ok((ending, Vec::new()));
        }
        let (bytes, tail) = (desk.reply.bytes(), desk.reply.tail.clone());
        let sent = if ending == Ending::Whole {
            self.send(bytes, tail.clone())?
        } else {
            0
        };
        if sent == bytes.len() + tail.len() {
            return Ok((ending, Vec::new()));
        }
        let mut rest = bytes.get(sent..).unwrap_or_default().to_vec();
        let prose = self.shared.model.prose(tail);
        rest.extend_from_slice(&prose[sent.saturating_sub(bytes.len())..]);
        Ok((ending, rest))
    }

    /// Sends what the socket takes at once, the tail straight from the file that holds the prose.
    fn send(&self, bytes: &[u8], tail: Range<usize>) -> io::Result<usize> {
        let blocked = |result: io::Result<usize>| match result {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            result => result,
        };
        let Some(prose) = self.shared.prose.as_ref().filter(|_| !tail.is_empty()) else {
            return blocked(self.stream.try_write(bytes));
        };
        let sent = blocked(self.stream.try_io(Interest::WRITABLE, || {
            let flags = SendFlags::MORE | SendFlags::NOSIGNAL;
            Ok(rustix::net::send(&self.stream, bytes, flags)?)
        }))?;
        if sent < bytes.len() {
            return Ok(sent);
        }
        let more = blocked(self.stream.try_io(Interest::WRITABLE, || {
            let mut offset = tail.start as u64;
            Ok(rustix::fs::sendfile(
                &self.stream,
                prose,
                Some(&mut offset),
                tail.len(),
            )?)
        }))?;
        Ok(sent + more)
    }

    async fn refuse(&mut self, status: u16) -> io::Result<()> {
        let bytes = {
            let mut desk = self.desk.borrow_mut();
            let request = Request {
                path: b"/",
                head_only: false,
                accept_encoding: b"",
                conditions: Conditions::default(),
                keep: false,
            };
            desk.plain(status, "the request is not understood\n", request);
            desk.reply.bytes().to_vec()
        };
        self.stream.write_all(&bytes).await?;
        self.part().await
    }

    /// Ends the connection so that the client gets the reply also when it was still sending:
    /// closing with unread bytes would be a reset. Bounded in time and bytes.
    async fn part(&mut self) -> io::Result<()> {
        self.stream.shutdown().await?;
        let mut left = MOST_LEFT_OVER;
        let mut waste = Vec::with_capacity(MOST_HEAD);
        let drain = async {
            while left > 0 {
                waste.clear();
                match self.stream.read_buf(&mut waste).await {
                    Ok(0) | Err(_) => break,
                    Ok(count) => left = left.saturating_sub(count),
                }
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(1), drain).await;
        Ok(())
    }
}

/// The path and query of a request target, also where it is in absolute form (RFC 9112, 3.2.2).
fn path_of(target: &[u8]) -> &[u8] {
    let Some(rest) = target.strip_prefix(b"http://") else {
        return target;
    };
    rest.iter()
        .position(|&byte| byte == b'/')
        .map_or(b"/", |at| &rest[at..])
}
