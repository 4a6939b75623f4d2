//! Static tokens: a file with their hashes and identities.
//!
//! The file has one JSON object on each line. The file has no secrets: a token has 256 random bits, so its SHA-256
//! reveals nothing about the token.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::{fs, io};

use aws_lc_rs::digest;
use headroom_api::headroomv1::Role;
use headroom_core::Name;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::roles::in_order;
use crate::caller::{Caller, Proof};
use crate::secret::{NoRandomNumbers, random_token, same_secret};

/// Prefix of all tokens, by which people and secret scanners recognize a token.
pub const TOKEN_PREFIX: &str = "headroom_";

/// Largest size of the file, in bytes.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// A token in plain text, which is shown once and never logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns a new token of 256 random bits.
    ///
    /// # Errors
    /// If the operating system provides no random numbers.
    pub fn random() -> Result<Self, NoRandomNumbers> {
        Ok(Self(format!("{TOKEN_PREFIX}{}", random_token()?)))
    }

    /// Returns the token in plain text, for its holder.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the hash, which is what the file stores.
    pub fn sha256(&self) -> String {
        sha256(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(…)")
    }
}

fn sha256(token: &str) -> String {
    hex::encode(digest::digest(&digest::SHA256, token.as_bytes()))
}

/// Identity of the holder of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    /// Name of the token, for people. Unique in the file.
    pub name: String,
    /// SHA-256 of the token, as 64 lower-case hex digits.
    pub sha256: String,
    /// User name in access lists and limits.
    #[serde(default)]
    pub user: String,
    /// Groups of the user.
    #[serde(default)]
    pub groups: Vec<String>,
    /// Roles of the token.
    pub roles: Vec<Role>,
    /// Time of creation.
    pub created: Timestamp,
    /// Time from which the token is invalid. `None` if the token does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

/// Reason why a token file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// The file cannot be read or written.
    #[error("cannot {deed} the token file {}", path.display())]
    Access {
        /// The operation that failed.
        deed: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// I/O error of the file system.
        #[source]
        source: io::Error,
    },
    /// The file is too large.
    #[error("the token file {} has {bytes} bytes, but at most {FILE_BYTES_MAX} are allowed", path.display())]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// Size in bytes.
        bytes: u64,
    },
    /// A line is not a valid token.
    #[error("{}:{line}: the line is not a valid token: {why}", path.display())]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// The problem with the line.
        why: String,
    },
    /// A token with this name exists already.
    #[error("token {name} already exists in {}. Revoke the token, or choose another name", path.display())]
    Taken {
        /// Name of the token.
        name: String,
        /// Path of the file.
        path: PathBuf,
    },
    /// No token has this name.
    #[error("token {name} does not exist in {}. List the tokens with `headroom token list`", path.display())]
    Unknown {
        /// Name of the token.
        name: String,
        /// Path of the file.
        path: PathBuf,
    },
}

/// A token file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenFile {
    path: PathBuf,
    entries: Vec<TokenEntry>,
}

impl TokenFile {
    /// Reads the file.
    ///
    /// # Errors
    /// If the file cannot be read, or a line is not a valid token.
    pub fn read(path: &Path) -> Result<Self, TokenFileError> {
        let failed = |source| access("read", path, source);
        let bytes = fs::metadata(path).map_err(failed)?.len();
        if bytes > FILE_BYTES_MAX {
            return Err(TokenFileError::TooLarge { path: path.to_owned(), bytes });
        }
        let text = fs::read_to_string(path).map_err(failed)?;
        Self::parse(path, &text)
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// If a line is not a valid token.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, TokenFileError> {
        let mut file = Self { path: path.to_owned(), entries: Vec::new() };
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        for (place, line) in lines {
            let wrong =
                |why: String| TokenFileError::Line { path: path.to_owned(), line: place + 1, why };
            let entry: TokenEntry =
                serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
            if entry.sha256.len() != 64 || !entry.sha256.bytes().all(is_digit) {
                return Err(wrong("`sha256` must have 64 lowercase hexadecimal digits".to_owned()));
            }
            if file.entries.iter().any(|other| other.name == entry.name) {
                return Err(wrong(format!("the name {} occurs twice", entry.name)));
            }
            file.entries.push(entry);
        }
        Ok(file)
    }

    /// Changes the file, or creates it. The new content replaces the old content as a whole. Concurrent updates run one
    /// after another.
    ///
    /// # Errors
    /// If the file cannot be read or written, or the error of `change`. The file is unchanged then.
    pub fn update<T>(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, TokenFileError>,
    ) -> Result<T, TokenFileError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let lock = fs::File::open(folder).and_then(|file| file.lock().map(|()| file));
        let lock = lock.map_err(|source| access("lock the folder of", path, source))?;
        let mut file = match Self::read(path) {
            Err(TokenFileError::Access { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Self { path: path.to_owned(), entries: Vec::new() }
            }
            other => other?,
        };
        let changed = change(&mut file)?;
        file.write().map_err(|source| access("write", path, source))?;
        drop(lock);
        Ok(changed)
    }

    /// Returns the tokens, in the order of the file.
    pub fn entries(&self) -> &[TokenEntry] {
        &self.entries
    }

    /// Adds a token.
    ///
    /// # Errors
    /// If a token has that name.
    pub fn add(&mut self, entry: TokenEntry) -> Result<(), TokenFileError> {
        if self.entries.iter().any(|other| other.name == entry.name) {
            return Err(TokenFileError::Taken { name: entry.name, path: self.path.clone() });
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Removes a token.
    ///
    /// # Errors
    /// If no token has this name.
    pub fn remove(&mut self, name: &str) -> Result<TokenEntry, TokenFileError> {
        let place = self.entries.iter().position(|entry| entry.name == name);
        let unknown = || TokenFileError::Unknown { name: name.to_owned(), path: self.path.clone() };
        let place = place.ok_or_else(unknown)?;
        Ok(self.entries.remove(place))
    }

    /// Returns the text of the file.
    pub(super) fn text(&self) -> io::Result<String> {
        let mut text = String::new();
        for entry in &self.entries {
            text.push_str(&serde_json::to_string(entry)?);
            text.push('\n');
        }
        Ok(text)
    }

    fn write(&self) -> io::Result<()> {
        use std::io::Write as _;
        use std::os::unix::fs::OpenOptionsExt as _;

        let text = self.text()?;
        let new_path = self.path.with_extension("new");
        // Only the owner can read the file, because it lists who can use the server.
        let mut options = fs::OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(0o600).open(&new_path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new_path, &self.path)
    }
}

fn access(deed: &'static str, path: &Path, source: io::Error) -> TokenFileError {
    TokenFileError::Access { deed, path: path.to_owned(), source }
}

/// The active tokens.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    in_force: RwLock<Arc<TokenFile>>,
}

impl Tokens {
    /// Returns the tokens of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn open(path: &Path) -> Result<Self, TokenFileError> {
        let file = TokenFile::read(path)?;
        Ok(Self { path: path.to_owned(), in_force: RwLock::new(Arc::new(file)) })
    }

    /// Returns these tokens, without a file.
    #[cfg(feature = "testkit")]
    pub(super) fn holding(file: TokenFile) -> Self {
        Self { path: file.path.clone(), in_force: RwLock::new(Arc::new(file)) }
    }

    /// Reads the file again. Returns the number of tokens.
    ///
    /// # Errors
    /// If the file cannot be read. The previous tokens stay active.
    pub fn reload(&self) -> Result<usize, TokenFileError> {
        let file = TokenFile::read(&self.path)?;
        let count = file.entries.len();
        *self.in_force.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(file);
        Ok(count)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the holder of this token. `None` if the token is unknown or has expired.
    pub fn find(&self, token: &str, now: Timestamp) -> Option<Caller> {
        let presented = sha256(token);
        let file = Arc::clone(&self.in_force.read().unwrap_or_else(PoisonError::into_inner));
        let mut found = None;
        // All hashes are compared completely, so that the time reveals nothing.
        for entry in &file.entries {
            if same_secret(presented.as_bytes(), entry.sha256.as_bytes()) {
                found = Some(entry);
            }
        }
        let entry = found.filter(|entry| entry.expires.is_none_or(|expires| now < expires))?;
        Some(Caller {
            identity: format!("token:{}", entry.name),
            user: Name::new(&entry.user),
            groups: entry.groups.iter().map(Name::new).collect(),
            roles: in_order(entry.roles.iter().copied()),
            tenants: Vec::new(),
            proof: Proof::Bearer,
        })
    }
}

#[cfg(test)]
mod tests {
    use headroom_api::headroomv1::Role;
    use jiff::{SignedDuration, Timestamp};

    use super::{Secret, TokenEntry, TokenFile, TokenFileError, Tokens};

    fn entry(name: &str, secret: &Secret) -> TokenEntry {
        TokenEntry {
            name: name.to_owned(),
            sha256: secret.sha256(),
            user: "ann".to_owned(),
            groups: vec!["dev".to_owned()],
            roles: vec![Role::Viewer, Role::Viewer],
            created: Timestamp::UNIX_EPOCH,
            expires: Some(Timestamp::UNIX_EPOCH + SignedDuration::from_secs(10)),
        }
    }

    #[test]
    fn a_token_is_found_until_it_expires_or_is_revoked() {
        let path = std::env::temp_dir().join(format!("headroom-tokens-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let secret = Secret::random().unwrap();
        assert!(secret.reveal().len() > 64 && !format!("{secret:?}").contains(&secret.0[9..]));
        TokenFile::update(&path, |file| file.add(entry("ci", &secret))).unwrap();
        let again = TokenFile::update(&path, |file| file.add(entry("ci", &secret)));
        assert!(matches!(again, Err(TokenFileError::Taken { .. })));

        let tokens = Tokens::open(&path).unwrap();
        let at = |seconds| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
        let caller = tokens.find(secret.reveal(), at(9)).unwrap();
        assert_eq!((&*caller.identity, &*caller.roles), ("token:ci", &[Role::Viewer][..]));
        assert_eq!(tokens.find(secret.reveal(), at(10)), None);
        assert_eq!(tokens.find(&secret.sha256(), at(9)), None);

        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(secret.reveal()));
        std::fs::write(&path, format!("{text}\n{{}}\n")).unwrap();
        let bad = tokens.reload().unwrap_err().to_string();
        assert!(bad.contains(":3: the line is not a valid token"), "{bad}");
        assert!(tokens.find(secret.reveal(), at(9)).is_some());
        std::fs::write(&path, text).unwrap();
        TokenFile::update(&path, |file| file.remove("ci")).unwrap();
        assert_eq!(tokens.reload().unwrap(), 0);
        assert_eq!(tokens.find(secret.reveal(), at(9)), None);
        std::fs::remove_file(&path).unwrap();
    }
}
