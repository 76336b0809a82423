//! The server: HTTP on all loopback addresses, DNS, the request log.
//! Takes: a model and a configuration. Gives: a running server that ends when told or dropped.

mod answer;
mod connection;
mod dns;
mod log;
mod negotiate;
mod once;
mod reply;

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::watch;

use crate::model::{Model, change};
use crate::options::{BadOption, Options};
use log::Log;
use once::Once;

/// How to serve, as opposed to what.
#[derive(Debug, Clone, Default)]
pub struct ServerConfig {
    pub workers: usize,
    pub log: Option<PathBuf>,
    /// 0 asks for any free port.
    pub dns_port: Option<u16>,
}

/// Why a server did not start.
#[derive(Debug)]
pub enum StartError {
    Option(BadOption),
    Io {
        name: &'static str,
        error: io::Error,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Option(bad) => bad.fmt(f),
            StartError::Io { name, error } => write!(f, "--{name}: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

/// What all workers share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub model: Model,
    pub log: Option<Log>,
    pub once: Once,
    /// A file in memory with the prose, to send from; none where there is no such thing.
    pub prose: Option<File>,
    pub started: Instant,
    pub connections: AtomicU64,
    pub requests: AtomicU64,
}

impl Shared {
    /// The simulated time in seconds since 1970.
    pub fn simulated_now(&self) -> f64 {
        let speed = self.model.options.clock_speed;
        change::SIM_START + self.started.elapsed().as_secs_f64() * speed
    }
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    stopped: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    dns_port: Option<u16>,
}

impl Server {
    /// Starts serving. `options.port` 0 asks for any free port.
    pub fn start(mut options: Options, config: &ServerConfig) -> Result<Server, StartError> {
        let failed = |name| move |error| StartError::Io { name, error };
        let listener = listen(options.port).map_err(failed("port"))?;
        options.port = listener.local_addr().map_err(failed("port"))?.port();
        let dns = match config.dns_port {
            Some(port) => Some(listen_dns(port).map_err(failed("dns-port"))?),
            None => None,
        };
        let dns_port = match &dns {
            Some(socket) => Some(socket.local_addr().map_err(failed("dns-port"))?.port()),
            None => None,
        };
        let log = match &config.log {
            Some(path) => Some(Log::create(path).map_err(failed("log"))?),
            None => None,
        };
        let model = Model::new(options).map_err(StartError::Option)?;
        let prose = file_of(model.all_prose()).ok();
        let shared = Arc::new(Shared {
            model,
            log,
            once: Once::default(),
            prose,
            started: Instant::now(),
            connections: AtomicU64::new(0),
            requests: AtomicU64::new(0),
        });
        let (stop, stopping) = watch::channel(false);
        let stopped = Arc::new(AtomicBool::new(false));
        let mut server = Server {
            shared,
            stop,
            stopped,
            threads: Vec::new(),
            dns_port,
        };
        for number in 0..config.workers.max(1) {
            let listener = listener.try_clone().map_err(failed("workers"))?;
            let (shared, stopping) = (Arc::clone(&server.shared), stopping.clone());
            server.spawn(format!("simweb-{number}"), move || {
                connection::work(&shared, listener, stopping);
            })?;
        }
        if let Some(socket) = dns {
            let (shared, stopped) = (Arc::clone(&server.shared), Arc::clone(&server.stopped));
            server.spawn("simweb-dns".into(), move || {
                dns::answer_all(&shared, &socket, &stopped)
            })?;
        }
        if server.shared.log.is_some() {
            let (shared, stopped) = (Arc::clone(&server.shared), Arc::clone(&server.stopped));
            server.spawn("simweb-log".into(), move || {
                if let Some(log) = &shared.log {
                    log.write_until(&stopped);
                }
            })?;
        }
        Ok(server)
    }

    fn spawn(
        &mut self,
        name: String,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<(), StartError> {
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(body)
            .map_err(|error| StartError::Io {
                name: "workers",
                error,
            })?;
        self.threads.push(thread);
        Ok(())
    }

    #[must_use]
    pub fn model(&self) -> &Model {
        &self.shared.model
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.shared.model.options.port
    }

    #[must_use]
    pub fn dns_port(&self) -> Option<u16> {
        self.dns_port
    }

    /// Requests answered so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// The simulated time in seconds since 1970.
    #[must_use]
    pub fn simulated_now(&self) -> f64 {
        self.shared.simulated_now()
    }

    /// Ends all connections and threads; the log is complete afterwards.
    pub fn stop(&mut self) {
        let _ = self.stop.send(true);
        // The log's writer ends last, when no worker can add a line any more.
        let log = if self.shared.log.is_some() {
            self.threads.pop()
        } else {
            None
        };
        let dns = if self.dns_port.is_some() {
            self.threads.pop()
        } else {
            None
        };
        for worker in self.threads.drain(..) {
            let _ = worker.join();
        }
        self.stopped.store(true, Ordering::Release);
        for thread in [dns, log].into_iter().flatten() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// All addresses of 127.0.0.0/8 can only be had by listening on every address; connections that
/// come in by another than a loopback address are dropped when they are accepted.
fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port)).into())?;
    // Accepted sockets inherit it. A loopback has no congestion, and the pacing of other algorithms
    // costs timers. Where it cannot be chosen the system's own serves as well.
    let _ = rustix::net::sockopt::set_tcp_congestion(&socket, "reno");
    socket.listen(4096)?;
    Ok(socket.into())
}

fn listen_dns(port: u16) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, port))?;
    socket.set_read_timeout(Some(std::time::Duration::from_millis(100)))?;
    Ok(socket)
}

/// A file in memory with that content.
fn file_of(content: &[u8]) -> io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create(
        "simweb-prose",
        rustix::fs::MemfdFlags::CLOEXEC,
    )?);
    file.write_all(content)?;
    Ok(file)
}
