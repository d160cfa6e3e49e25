//! The table of requirements: which test holds which.
//!
//! A test names what it holds in the name it bears: `dur_006_superseded_epoch_cannot_append` holds
//! `DUR-006`, `case_le_01_a_token_per_claim` the field case `LE-01`, and a test that holds two
//! names both. The ids, each with a label to recognize it by, stand in `docs/requirements.toml`.
//! This is a claim by name: what a test asserts is for its reader to judge.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use crate::repository::File;
use crate::source;

/// Requirements that share a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// The part of the id before the dash.
    pub prefix: String,
    /// What they are about.
    pub title: String,
    /// The rest of each id, digits, with the label.
    pub ids: BTreeMap<String, String>,
}

/// One test function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Test {
    /// The function's name.
    pub name: String,
    /// The file it stands in, from the root.
    pub path: String,
}

/// What a test's name says it holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// A requirement, as it is written in the catalogue: `DUR-006`.
    Requirement(String),
    /// A field case: `LE-01`.
    Case(String),
}

/// Reads the catalogue.
///
/// # Panics
///
/// When it does not have the shape of `docs/requirements.toml`.
pub fn catalogue(text: &str) -> Vec<Family> {
    let table: Table = text.parse().expect("the catalogue is TOML");
    let families = table["family"].as_array().expect("the catalogue lists families");
    families.iter().map(family).collect()
}

fn family(value: &Value) -> Family {
    let text = |value: &Value| value.as_str().expect("labels and titles are text").to_owned();
    let ids = value["ids"].as_table().expect("a family has ids");
    Family {
        prefix: text(&value["prefix"]),
        title: text(&value["title"]),
        ids: ids.iter().map(|(id, label)| (id.clone(), text(label))).collect(),
    }
}

/// Every test function of the given sources, sorted by name.
pub fn tests(sources: &[File]) -> Vec<Test> {
    let mut found = Vec::new();
    for file in sources {
        let names = source::test_names(&source::tokens(file));
        found.extend(names.into_iter().map(|name| Test { name, path: file.path.clone() }));
    }
    found.sort();
    found
}

/// What a name claims, from its beginning on: `<family>_<digits>_…`, one or several, each after
/// `case_` if it is a field case. Family names are those of the catalogue; a case has two letters.
pub fn claims(name: &str, families: &[Family]) -> Vec<Claim> {
    let mut found = Vec::new();
    let mut rest = name;
    loop {
        let case = rest.strip_prefix("case_");
        let Some((prefix, after)) = case.unwrap_or(rest).split_once('_') else { return found };
        let Some((digits, after)) = after.split_once('_') else { return found };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return found;
        }
        let id = format!("{}-{digits}", prefix.to_ascii_uppercase());
        if case.is_some() && prefix.len() == 2 {
            found.push(Claim::Case(id));
        } else if families.iter().any(|known| known.prefix.eq_ignore_ascii_case(prefix)) {
            found.push(Claim::Requirement(id));
        } else {
            return found;
        }
        rest = after;
    }
}

/// The tests that claim a requirement which the catalogue does not have.
pub fn unknown<'a>(families: &[Family], tests: &'a [Test]) -> Vec<&'a Test> {
    let known = |id: &str| {
        let parts = id.split_once('-');
        let mut same = families.iter().filter(|family| parts.is_some_and(|p| p.0 == family.prefix));
        same.any(|family| parts.is_some_and(|p| family.ids.contains_key(p.1)))
    };
    let strange = |claim: &Claim| matches!(claim, Claim::Requirement(id) if !known(id));
    tests.iter().filter(|test| claims(&test.name, families).iter().any(strange)).collect()
}

/// The whole document.
pub fn render(families: &[Family], tests: &[Test]) -> String {
    let mut held: BTreeMap<Claim, Vec<&Test>> = BTreeMap::new();
    for test in tests {
        for claim in claims(&test.name, families) {
            held.entry(claim).or_default().push(test);
        }
    }
    let ids = |family: &Family| {
        let prefix = family.prefix.clone();
        family.ids.clone().into_iter().map(move |(id, label)| (format!("{prefix}-{id}"), label))
    };
    let named = |id: &str| held.get(&Claim::Requirement(id.to_owned()));
    let count = |family: &Family| ids(family).filter(|(id, _)| named(id).is_some()).count();

    let all: usize = families.iter().map(|family| family.ids.len()).sum();
    let some: usize = families.iter().map(count).sum();
    let mut out = format!(
        "# Requirements and the tests that hold them\n\n\
         Generated from `docs/requirements.toml` and from the names of the tests by\n\
         `UPDATE=1 cargo test -p everstep-tests requirements`; do not edit.\n\n\
         {some} of {all} requirements are named by a test; the others are open.\n"
    );
    for family in families {
        let (named_here, of) = (count(family), family.ids.len());
        let heading = format!("{} ({}): {named_here} of {of}", family.title, family.prefix);
        push(
            &mut out,
            &format!("\n## {heading}\n\n| id | in short | tests |\n| --- | --- | --- |"),
        );
        for (id, label) in ids(family) {
            let cell = named(&id).map_or_else(|| "open".to_owned(), |tests| links(tests));
            push(&mut out, &format!("| {id} | {label} | {cell} |"));
        }
    }
    push(
        &mut out,
        "\n## Field cases\n\nSituations in which comparable systems failed in public.\n",
    );
    push(&mut out, "| case | tests |\n| --- | --- |");
    for (claim, tests) in &held {
        if let Claim::Case(id) = claim {
            push(&mut out, &format!("| {id} | {} |", links(tests)));
        }
    }
    out
}

fn push(out: &mut String, line: &str) {
    writeln!(out, "{line}").expect("a string takes what is written");
}

fn links(tests: &[&Test]) -> String {
    let links: Vec<_> =
        tests.iter().map(|test| format!("[`{}`](../{})", test.name, test.path)).collect();
    links.join("<br>")
}

#[cfg(test)]
mod tests {
    use super::{Claim, Family, Test, catalogue, claims, render, unknown};

    const CATALOGUE: &str = "
        [[family]]
        prefix = \"DUR\"
        title = \"Durability\"
        [family.ids]
        001 = \"first\"
        002 = \"second\"
    ";

    fn test(name: &str) -> Test {
        Test { name: name.to_owned(), path: "sim/src/tests.rs".to_owned() }
    }

    fn families() -> Vec<Family> {
        catalogue(CATALOGUE)
    }

    #[test]
    fn house_a_test_claims_what_its_name_begins_with() {
        let requirement = |id: &str| Claim::Requirement(id.to_owned());
        let claimed = |name: &str| claims(name, &families());
        assert_eq!(claimed("dur_001_holds"), [requirement("DUR-001")]);
        assert_eq!(
            claimed("dur_001_case_le_01_dur_002_holds"),
            [requirement("DUR-001"), Claim::Case("LE-01".to_owned()), requirement("DUR-002")]
        );
        assert_eq!(claimed("a_dur_001_holds"), []);
        assert_eq!(claimed("dur_first_holds"), []);
        assert_eq!(claimed("dur_001"), [], "an id alone says nothing");
        assert_eq!(claimed("le_01_not_marked_as_a_case"), []);
    }

    #[test]
    fn house_an_id_outside_the_catalogue_is_found() {
        let tests = [test("dur_001_holds"), test("dur_003_holds"), test("dur_1_holds")];
        let strange: Vec<_> = unknown(&families(), &tests).iter().map(|test| &test.name).collect();
        assert_eq!(strange, ["dur_003_holds", "dur_1_holds"]);
    }

    #[test]
    fn house_the_table_shows_tests_and_what_is_open() {
        let table = render(&families(), &[test("case_le_01_held"), test("dur_002_held")]);
        assert!(table.contains("1 of 2 requirements"), "{table}");
        assert!(table.contains("| DUR-001 | first | open |"), "{table}");
        assert!(
            table.contains("| DUR-002 | second | [`dur_002_held`](../sim/src/tests.rs) |"),
            "{table}"
        );
        assert!(table.contains("| LE-01 | [`case_le_01_held`]"), "{table}");
    }
}
