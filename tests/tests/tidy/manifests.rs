//! What the manifests may and may not say.

use std::collections::{BTreeMap, BTreeSet};

use everstep_tests::repository::{File, file, files};
use toml::{Table, Value};

use crate::expect_none;

/// The tables of a manifest, or of one of its targets, that name dependencies.
const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// A manifest, parsed.
struct Manifest {
    /// The package's folder, from the root.
    folder: String,
    table: Table,
}

impl Manifest {
    fn of(file: &File) -> Self {
        let table = file.text.parse().unwrap_or_else(|fault| panic!("{}: {fault}", file.path));
        Self { folder: file.folder().to_owned(), table }
    }

    fn name(&self) -> &str {
        let name = self.table.get("package").and_then(|package| package.get("name"));
        name.and_then(Value::as_str).unwrap_or_else(|| panic!("{}: no name", self.folder))
    }

    /// Every dependency of every kind and target.
    fn dependencies(&self) -> Vec<(&str, &Value)> {
        let targets = self.table.get("target").and_then(Value::as_table);
        let of_targets = targets.into_iter().flat_map(|targets| targets.values());
        let tables = [&self.table].into_iter().chain(of_targets.filter_map(Value::as_table));
        let mut found = Vec::new();
        for table in tables {
            for kind in KINDS {
                let entries = table.get(kind).and_then(Value::as_table);
                found.extend(entries.into_iter().flatten().map(|(name, at)| (name.as_str(), at)));
            }
        }
        found
    }
}

fn workspace() -> Table {
    file("Cargo.toml").text.parse().expect("the workspace's manifest is TOML")
}

fn shared_dependencies(workspace: &Table) -> &Table {
    workspace["workspace"]["dependencies"].as_table().expect("one table of dependencies")
}

/// The members, as the workspace lists them.
fn members() -> Vec<Manifest> {
    let workspace = workspace();
    let members = workspace["workspace"]["members"].as_array().expect("members");
    let folders = members.iter().map(|member| member.as_str().expect("a folder"));
    folders.map(|folder| Manifest::of(&file(&format!("{folder}/Cargo.toml")))).collect()
}

/// Whether the package in `from` may depend on the one in `to`, both folders of the workspace.
///
/// The arrows point at the core. The binary and the tests may use everything; the simulator and
/// the host may use the schema checks, which are deterministic.
fn may_depend(from: &str, to: &str) -> bool {
    match from {
        "machine" => false,
        "sim" => matches!(to, "machine" | "drivers/schema"),
        "model-checker" => matches!(to, "machine" | "sim"),
        "drivers/cli" | "tests" => true,
        "drivers/runtime" => matches!(to, "machine" | "drivers/schema"),
        "drivers/http" => matches!(to, "machine" | "drivers/runtime"),
        _ => from.starts_with("drivers/") && to == "machine",
    }
}

fn outward(members: &[Manifest]) -> Vec<String> {
    let folders: BTreeMap<_, _> =
        members.iter().map(|member| (member.name(), member.folder.as_str())).collect();
    let mut complaints = Vec::new();
    for member in members {
        for (name, _) in member.dependencies() {
            if let Some(to) = folders.get(name).filter(|to| !may_depend(&member.folder, to)) {
                complaints.push(format!("{}: must not depend on {to}", member.folder));
            }
        }
    }
    complaints
}

fn planted(folder: &str, text: &str) -> Manifest {
    Manifest::of(&File::planted(&format!("{folder}/Cargo.toml"), text))
}

#[test]
fn arc_15_dependencies_point_inward_only() {
    let members = members();
    let core = members.iter().find(|member| member.folder == "machine").expect("the core");
    assert_eq!(core.name(), "everstep-machine");
    expect_none(&outward(&members));

    let core = |more: &str| planted("machine", &format!("[package]\nname = \"core\"\n{more}"));
    let sim = |more: &str| planted("sim", &format!("[package]\nname = \"sim\"\n{more}"));
    let on_core = "[dependencies]\ncore.workspace = true";
    assert!(outward(&[core(""), sim(on_core)]).is_empty());
    assert_eq!(outward(&[core("[dev-dependencies]\nsim.workspace = true"), sim("")]).len(), 1);
    let by_target = "[target.'cfg(unix)'.build-dependencies]\nsim.workspace = true";
    assert_eq!(outward(&[core(by_target), sim(on_core)]).len(), 1);
    let driver = "[package]\nname = \"store\"\n[dependencies]\nsim.workspace = true";
    assert_eq!(outward(&[core(""), sim(on_core), planted("drivers/sqlite", driver)]).len(), 1);
}

#[test]
fn house_every_package_is_a_member_or_kept_apart_on_purpose() {
    let members = members();
    let workspace = workspace();
    let apart = workspace["workspace"]["exclude"].as_array().expect("what is kept apart");
    let apart: Vec<_> = apart.iter().filter_map(Value::as_str).collect();
    let manifests = files().into_iter().filter(|file| file.name() == "Cargo.toml");
    for manifest in manifests.filter(|file| !file.folder().is_empty()) {
        let folder = manifest.folder();
        let known = members.iter().any(|member| member.folder == folder);
        assert!(
            known || apart.iter().any(|apart| folder.starts_with(apart)),
            "{folder}: no member"
        );
    }
}

fn own_versions(members: &[Manifest]) -> Vec<String> {
    let mut complaints = Vec::new();
    for member in members {
        for (name, entry) in member.dependencies() {
            let shared = entry.get("workspace").and_then(Value::as_bool) == Some(true);
            if !shared {
                complaints.push(format!("{}: {name} is not `workspace = true`", member.folder));
            }
        }
    }
    complaints
}

#[test]
fn house_versions_stand_in_one_table() {
    expect_none(&own_versions(&members()));
    let own =
        "[dependencies]\na.workspace = true\nb = \"1\"\n[dev-dependencies]\nc = { path = \"c\" }";
    assert_eq!(own_versions(&[planted("x", own)]).len(), 2);
}

/// Entries of the shared table without a word on why they are there.
fn unexplained(manifest: &str) -> Vec<String> {
    let from = manifest.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    let table = from.take_while(|line| !line.starts_with('['));
    let entries = table.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let foreign = entries.filter(|line| !line.starts_with("everstep"));
    foreign.filter(|line| !line.contains(" # ")).map(|line| format!("no reason: {line}")).collect()
}

#[test]
fn house_every_dependency_says_why_and_is_used() {
    expect_none(&unexplained(&file("Cargo.toml").text));
    let planted = "[workspace.dependencies]\na = \"1\" # why\nb = \"1\"\n[profile.dev]\nx = 1\n";
    assert_eq!(unexplained(planted), ["no reason: b = \"1\""]);

    let members = members();
    let used: BTreeSet<_> =
        members.iter().flat_map(Manifest::dependencies).map(|(name, _)| name.to_owned()).collect();
    let workspace = workspace();
    let unused: Vec<_> =
        shared_dependencies(&workspace).keys().filter(|name| !used.contains(*name)).collect();
    assert!(unused.is_empty(), "in the table, used by nobody: {unused:?}");
}

#[test]
fn arc_15_the_core_takes_no_default_features() {
    let workspace = workspace();
    let core = Manifest::of(&file("machine/Cargo.toml"));
    let direct = core.table.get("dependencies").and_then(Value::as_table).expect("dependencies");
    assert!(!direct.is_empty());
    for name in direct.keys() {
        let defaults = shared_dependencies(&workspace)[name].get("default-features");
        assert_eq!(defaults.and_then(Value::as_bool), Some(false), "{name} may bring std along");
    }
}

#[test]
fn house_lints_stand_in_one_table_and_forbid_unsafe() {
    let workspace = workspace();
    assert_eq!(workspace["workspace"]["lints"]["rust"]["unsafe_code"].as_str(), Some("forbid"));
    for member in members() {
        let lints = member.table.get("lints").and_then(|lints| lints.get("workspace"));
        let shared = lints.and_then(Value::as_bool) == Some(true);
        assert!(shared, "{}: lints are not `workspace = true`", member.folder);
    }
}

/// Name and version of every package of a lock file that comes from outside.
fn locked(lock: &str) -> BTreeSet<(String, String)> {
    let table: Table = lock.parse().expect("a lock file is TOML");
    let packages = table["package"].as_array().expect("a lock file lists packages");
    let foreign = packages.iter().filter(|package| package.get("source").is_some());
    let text = |package: &Value, key: &str| package[key].as_str().expect("text").to_owned();
    foreign.map(|package| (text(package, "name"), text(package, "version"))).collect()
}

#[test]
fn arc_15_what_is_proven_pure_is_what_is_built() {
    let built = locked(&file("Cargo.lock").text);
    let proven = locked(&file("tests/purity/Cargo.lock").text);
    let differ: Vec<_> = proven.difference(&built).collect();
    assert!(!proven.is_empty());
    assert!(
        differ.is_empty(),
        "tests/purity/Cargo.lock has other versions than Cargo.lock: {differ:?}; \
         copy Cargo.lock there and run `cargo check --manifest-path tests/purity/Cargo.toml`"
    );
}

/// Names on the core's closed list that its lock file does not have.
fn stale_names(list: &str, lock: &str) -> Vec<String> {
    let list: Table = list.parse().expect("the closed list is TOML");
    let lock: Table = lock.parse().expect("a lock file is TOML");
    let name = |entry: &Value, key: &str| entry[key].as_str().expect("a name").to_owned();
    let packages = lock["package"].as_array().expect("a lock file lists packages");
    let there: BTreeSet<_> = packages.iter().map(|package| name(package, "name")).collect();
    let allowed = list["bans"]["allow"].as_array().expect("a closed list");
    let allowed = allowed.iter().map(|entry| name(entry, "crate"));
    allowed.filter(|allowed| !there.contains(allowed)).collect()
}

#[test]
fn arc_15_the_closed_list_below_the_core_is_no_longer_than_it_must_be() {
    let list = file("tests/purity/deny.toml").text;
    let stale = stale_names(&list, &file("tests/purity/Cargo.lock").text);
    assert!(stale.is_empty(), "allowed below the core, but not there: {stale:?}");
    let planted = "[bans]\nallow = [{ crate = \"a\" }, { crate = \"b\" }]";
    assert_eq!(stale_names(planted, "[[package]]\nname = \"a\"\n"), ["b"]);
}

#[test]
fn house_the_pinned_toolchain_is_the_promised_one() {
    let workspace = workspace();
    let promised = workspace["workspace"]["package"]["rust-version"].as_str().expect("a version");
    let pinned: Table = file("rust-toolchain.toml").text.parse().expect("TOML");
    let pinned = pinned["toolchain"]["channel"].as_str().expect("a channel");
    assert!(pinned.starts_with(&format!("{promised}.")), "{pinned} is not {promised}");
}
