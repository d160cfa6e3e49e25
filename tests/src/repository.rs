//! The files of this repository, as a fresh clone has them.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose content is made, not written.
const MADE: [&str; 2] = ["target", ".git"];

/// One text file of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it lies, from the root, with `/` between the parts.
    pub path: String,
    /// All of it.
    pub text: String,
}

impl File {
    /// A file that lies nowhere: what a check is shown to see whether it objects.
    pub fn planted(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// The folder it lies in, empty for the root.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Its name within the folder.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// The folder of the workspace's manifest.
pub fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("this package lies in a folder of the workspace").to_path_buf()
}

/// Every text file, sorted by path; what is not UTF-8 is left out.
///
/// # Panics
///
/// When a file cannot be read.
pub fn files() -> Vec<File> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository can be listed") {
            let path = entry.expect("an entry can be read").path();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                if !MADE.iter().any(|made| path.ends_with(made)) {
                    folders.push(path);
                }
                continue;
            }
            let bytes = fs::read(&path).expect("a file of the repository can be read");
            if let Ok(text) = String::from_utf8(bytes) {
                found.push(File { path: relative(&root, &path), text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Those of them that are Rust sources.
pub fn rust_files() -> Vec<File> {
    files().into_iter().filter(|file| file.path.ends_with(".rs")).collect()
}

/// One file by its path from the root.
///
/// # Panics
///
/// When there is none; the message names it.
pub fn file(path: &str) -> File {
    match fs::read_to_string(root().join(path)) {
        Ok(text) => File { path: path.to_owned(), text },
        Err(fault) => panic!("{path}: {fault}"),
    }
}

fn relative(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).expect("a found file lies under the root");
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}
