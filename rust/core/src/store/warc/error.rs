//! What the disk or a damaged file does to the store; never an outcome of the web.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum WarcError {
    /// No room for the file. Nothing of the append is left behind; it can be tried again later.
    DiskFull { path: PathBuf, source: io::Error },
    /// Another failure of the file system.
    Io { path: PathBuf, source: io::Error },
    /// A flush failed, so nobody knows what reached the disk: resume from the committed position.
    Uncertain { path: PathBuf },
    /// The committed file is not there.
    Missing { path: PathBuf },
    /// The committed file ends before the committed offset.
    Short {
        path: PathBuf,
        length: u64,
        committed: u64,
    },
    /// The files hold more finished records than the state knows of: the state is an older one.
    StateBehind { path: PathBuf },
    /// The file is no WARC file that we can read, or is damaged at this offset.
    Format {
        path: PathBuf,
        offset: u64,
        reason: String,
    },
    /// A setting or a stored position makes no sense.
    Invalid(String),
}

impl WarcError {
    /// Sorts an error of the operating system: full disk apart from the rest.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            // A file-size limit is a lack of room too: waiting for the operator is the answer.
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => WarcError::DiskFull { path, source },
            _ => WarcError::Io { path, source },
        }
    }

    /// Whether waiting for room and trying again is the answer.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        matches!(self, WarcError::DiskFull { .. })
    }
}

impl fmt::Display for WarcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WarcError::DiskFull { path, source } => {
                write!(f, "no room left to write {}: {source}", path.display())
            }
            WarcError::Io { path, source } => write!(f, "{}: {source}", path.display()),
            WarcError::Uncertain { path } => write!(
                f,
                "{}: an earlier flush failed; resume from the committed position",
                path.display()
            ),
            WarcError::Missing { path } => {
                write!(f, "{}: the committed file is missing", path.display())
            }
            WarcError::Short {
                path,
                length,
                committed,
            } => write!(
                f,
                "{}: {length} bytes long, but {committed} bytes were committed",
                path.display()
            ),
            WarcError::StateBehind { path } => write!(
                f,
                "{}: holds records that the state does not know of; the state is older than the files",
                path.display()
            ),
            WarcError::Format {
                path,
                offset,
                reason,
            } => write!(f, "{} at offset {offset}: {reason}", path.display()),
            WarcError::Invalid(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for WarcError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            WarcError::DiskFull { source, .. } | WarcError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
