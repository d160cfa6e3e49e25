//! What the documents, and everything else that is text, may and may not say.

use everstep_tests::generated;
use everstep_tests::repository::{File, file, files, root, rust_files};
use everstep_tests::requirements::{catalogue, render, tests, unknown};

use crate::expect_none;

/// First parts of paths that exist on one machine only, without the slashes around them.
const MACHINES: [&str; 5] = ["work", "root", "farm", "home", "Users"];

/// What a stranger looks for first.
const FIRST_FILES: [&str; 7] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "docs/architecture.md",
    ".ci/run",
    "Cargo.lock",
];

/// How the tests are run, wherever it is said.
const TEST_COMMAND: &str = "cargo test --workspace";

fn machine_paths(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files {
        for (at, line) in file.text.lines().enumerate() {
            if MACHINES.iter().any(|machine| has_path(line, machine)) {
                let line = line.trim();
                complaints.push(format!("{}:{}: a path of one machine: {line}", file.path, at + 1));
            }
        }
    }
    complaints
}

/// Whether `/<first>/` stands in the line as the beginning of a path.
fn has_path(line: &str, first: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '}' | '>' | '*');
    let path = format!("/{first}/");
    let starts = line.match_indices(&path).map(|(at, _)| at);
    starts.map(|at| line[..at].chars().next_back()).any(|before| !before.is_some_and(inside))
}

#[test]
fn house_nothing_names_a_path_of_one_machine() {
    expect_none(&machine_paths(&files()));
    let found = |line: &str| !machine_paths(&[File::planted("planted.md", line)]).is_empty();
    for machine in MACHINES {
        assert!(found(&format!("see `/{machine}/main/x`")), "{machine}");
        assert!(!found(&format!("see docs/{machine}/x")), "{machine}");
    }
}

#[test]
fn house_requirements_table_is_current() {
    let families = catalogue(&file("docs/requirements.toml").text);
    let tests = tests(&rust_files());
    let strange: Vec<_> = unknown(&families, &tests)
        .iter()
        .map(|test| {
            format!("{}: {} claims an id that docs/requirements.toml lacks", test.path, test.name)
        })
        .collect();
    expect_none(&strange);
    generated::assert_current("docs/requirements.md", &render(&families, &tests), "requirements");
}

#[test]
fn house_the_catalogue_is_whole() {
    let families = catalogue(&file("docs/requirements.toml").text);
    let sizes: Vec<_> =
        families.iter().map(|family| (family.prefix.as_str(), family.ids.len())).collect();
    let whole = [
        ("ARC", 15),
        ("DUR", 19),
        ("STORE", 13),
        ("RUN", 34),
        ("CAP", 21),
        ("SUB", 34),
        ("AUTH", 17),
        ("SEC", 7),
        ("OPS", 3),
    ];
    assert_eq!(sizes, whole);
    for family in families {
        let width =
            if matches!(family.prefix.as_str(), "ARC" | "AUTH" | "SEC" | "OPS") { 2 } else { 3 };
        let numbers: Vec<_> = family.ids.keys().cloned().collect();
        let expected: Vec<_> = (1..=numbers.len()).map(|n| format!("{n:0width$}")).collect();
        assert_eq!(numbers, expected, "{}", family.prefix);
    }
}

#[test]
fn house_a_stranger_finds_the_first_files() {
    let missing: Vec<_> = FIRST_FILES.iter().filter(|path| !root().join(path).is_file()).collect();
    assert!(missing.is_empty(), "missing: {missing:?}");
}

/// The lines of the first block of shell commands of a document.
fn first_commands(markdown: &str) -> Vec<&str> {
    let block = markdown.lines().skip_while(|line| *line != "```sh").skip(1);
    block.take_while(|line| *line != "```").filter(|line| !line.is_empty()).collect()
}

#[test]
fn house_readme_begins_with_two_commands_and_one_runs_the_tests() {
    let readme = file("README.md").text;
    let commands = first_commands(&readme);
    assert_eq!(commands.len(), 2, "{commands:?}");
    assert!(commands.contains(&TEST_COMMAND), "{commands:?}");
    assert_eq!(first_commands("a\n```sh\nb\n\nc\n```\nd\n```sh\ne\n```\n"), ["b", "c"]);
}

#[cfg(unix)]
#[test]
fn house_the_gate_may_be_executed() {
    use std::os::unix::fs::PermissionsExt as _;
    let gate = std::fs::metadata(root().join(".ci/run")).expect("the gate is there");
    assert_ne!(gate.permissions().mode() & 0o111, 0, ".ci/run has no run bit");
}

/// Links of a Markdown file to files that do not exist.
fn broken_links(file: &File) -> Vec<String> {
    let targets = file.text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let mut complaints = Vec::new();
    for (target, _) in targets {
        let path = target.split('#').next().unwrap_or_default();
        if path.is_empty() || path.contains(':') || path.contains(char::is_whitespace) {
            continue;
        }
        if !root().join(file.folder()).join(path).exists() {
            complaints.push(format!("{}: links to {target}, which is not there", file.path));
        }
    }
    complaints
}

#[test]
fn house_documents_link_to_what_exists() {
    let documents = files().into_iter().filter(|file| file.path.ends_with(".md"));
    let broken: Vec<_> = documents.flat_map(|file| broken_links(&file)).collect();
    expect_none(&broken);
    let planted = "[a](Cargo.toml) [b](nowhere.md#x) [c](https://x.org) [d](#e)";
    assert_eq!(broken_links(&File::planted("planted.md", planted)).len(), 1);
}
