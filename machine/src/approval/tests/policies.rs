use proptest::prelude::*;

use super::*;

const JUDGEMENTS: [Judgement; 3] = [Judgement::Auto, Judgement::Prompt, Judgement::Deny];
const RISKS: [Risk; 4] = [Risk::Low, Risk::Medium, Risk::High, Risk::Critical];

fn metadata(origin: Origin, judgement: Judgement, risk: Risk) -> Metadata {
    Metadata { origin, judgement, risk, capability: Some(key("terminal.exec")) }
}

/// Layers that say nothing, beside a registry that asks nobody.
fn silent() -> Layers {
    Layers {
        core: Entries::default(),
        global: Entries::default(),
        component: Entries::default(),
        metadata: metadata(Origin::Authored, Judgement::Auto, Risk::Medium),
        guard: None,
    }
}

fn for_tool(judgement: Judgement) -> Entries {
    Entries { tools: BTreeMap::from([(tool("terminal"), judgement)]), ..Entries::default() }
}

fn ruling(layers: &Layers) -> Ruling {
    Ruling::of(layers, &tool("terminal"))
}

fn by(judgement: Judgement, layer: Layer, entry: Entry) -> (Judgement, Rule) {
    (judgement, Rule { layer, entry })
}

fn said(layers: &Layers) -> (Judgement, Rule) {
    let ruling = ruling(layers);
    (ruling.judgement, ruling.rule)
}

#[test]
fn auth_06_auto_of_core_and_host_weakens_no_registry() {
    for strict in [Judgement::Prompt, Judgement::Deny] {
        let layers = Layers {
            core: for_tool(Judgement::Auto),
            global: Entries { default: Some(Judgement::Auto), ..Entries::default() },
            metadata: metadata(Origin::BuiltIn, strict, Risk::Medium),
            ..silent()
        };
        assert_eq!(said(&layers), by(strict, Layer::Metadata, Entry::Declared));
    }
}

#[test]
fn case_ap_25_of_a_core_a_tool_and_a_guard_the_strictest_wins() {
    let auto =
        Layers { core: for_tool(Judgement::Auto), global: for_tool(Judgement::Auto), ..silent() };
    assert_eq!(said(&auto), by(Judgement::Auto, Layer::Core, Entry::Tool));
    let guarded = |text, metadata: Judgement| Layers {
        metadata: Metadata { judgement: metadata, ..silent().metadata },
        guard: Some(guard::judge(text, guard::Environment::Inherited)),
        ..auto.clone()
    };
    let asked = ruling(&guarded("cargo test", Judgement::Auto));
    let command = Entry::Command(guard::Reason::NotReadOnly);
    assert_eq!((asked.judgement, asked.risk), (Judgement::Prompt, Risk::High));
    assert_eq!(asked.rule, Rule { layer: Layer::Guard, entry: command });
    let prompted = said(&guarded("cargo test", Judgement::Prompt));
    assert_eq!(prompted, by(Judgement::Prompt, Layer::Metadata, Entry::Declared));
    let blocked = said(&guarded("rm -rf /", Judgement::Prompt));
    let destroys = Entry::Command(guard::Reason::Destroys);
    assert_eq!(blocked, by(Judgement::Deny, Layer::Guard, destroys));
    let read = ruling(&guarded("ls", Judgement::Auto));
    assert_eq!((read.judgement, read.risk), (Judgement::Auto, Risk::Medium));
    let read = said(&guarded("ls", Judgement::Prompt));
    assert_eq!(read.0, Judgement::Prompt, "a guard that is content takes nothing back");
}

#[test]
fn auth_06_in_a_layer_the_strictest_match_wins_and_a_default_only_without_one() {
    let mut core = for_tool(Judgement::Auto);
    core.default = Some(Judgement::Deny);
    core.tools.insert(tool("other"), Judgement::Deny);
    core.risks.insert(Risk::Critical, Judgement::Deny);
    let layers = |core: &Entries| Layers { core: core.clone(), ..silent() };
    assert_eq!(said(&layers(&core)), by(Judgement::Auto, Layer::Core, Entry::Tool));
    core.risks.insert(Risk::Medium, Judgement::Prompt);
    let risk = Entry::Risk(Risk::Medium);
    assert_eq!(said(&layers(&core)), by(Judgement::Prompt, Layer::Core, risk));
    let exact = Pattern::new("terminal.exec").unwrap();
    core.capabilities.insert(exact.clone(), Judgement::Prompt);
    let first = Entry::Capability(exact);
    assert_eq!(said(&layers(&core)), by(Judgement::Prompt, Layer::Core, first));
    let nothing = Entries { default: Some(Judgement::Deny), ..Entries::default() };
    assert_eq!(said(&layers(&nothing)), by(Judgement::Deny, Layer::Core, Entry::Default));
    assert_eq!(said(&silent()), by(Judgement::Auto, Layer::Metadata, Entry::Declared));
}

#[test]
fn auth_06_a_pattern_of_capabilities_reaches_secrets_when_it_denies() {
    let mut layers = silent();
    layers.metadata.capability = Some(key("secret.bind:API_KEY"));
    let secrets = Pattern::new("secret.bind:*").unwrap();
    layers.global.capabilities.insert(secrets.clone(), Judgement::Deny);
    assert_eq!(said(&layers), by(Judgement::Deny, Layer::Global, Entry::Capability(secrets)));
}

#[test]
fn auth_08_risk_is_ordered_and_selects_its_entry() {
    assert!(RISKS.is_sorted_by(|low, high| low < high));
    for risk in RISKS {
        let component =
            Entries { risks: BTreeMap::from([(risk, Judgement::Deny)]), ..Entries::default() };
        for declared in RISKS {
            let metadata = metadata(Origin::Authored, Judgement::Auto, declared);
            let layers = Layers { component: component.clone(), metadata, ..silent() };
            let denies = said(&layers) == by(Judgement::Deny, Layer::Component, Entry::Risk(risk));
            assert_eq!(denies, risk == declared, "{risk:?} {declared:?}");
        }
    }
}

#[test]
fn auth_07_a_built_in_tool_gets_stricter_only_and_others_are_what_is_said() {
    let base = |origin| metadata(origin, Judgement::Prompt, Risk::High);
    let says = |judgement, risk, capability: Option<&str>| Override {
        judgement,
        risk,
        capability: capability.map(key),
    };
    let table = [
        (says(Some(Judgement::Auto), None, None), Loosens::Judgement),
        (says(None, Some(Risk::Low), None), Loosens::Risk),
        (says(Some(Judgement::Deny), Some(Risk::Medium), None), Loosens::Risk),
        (says(None, None, Some("fs.read")), Loosens::Capability),
    ];
    for (said, loosens) in table {
        assert_eq!(base(Origin::BuiltIn).overridden(&said), Err(loosens));
        for origin in [Origin::Authored, Origin::Remote] {
            let metadata = base(origin).overridden(&said).unwrap();
            assert_eq!(metadata.judgement, said.judgement.unwrap_or(Judgement::Prompt));
            assert_eq!(metadata.risk, said.risk.unwrap_or(Risk::High));
        }
    }
    let stricter = says(Some(Judgement::Deny), Some(Risk::Critical), Some("terminal.exec"));
    let metadata = base(Origin::BuiltIn).overridden(&stricter).unwrap();
    assert_eq!((metadata.judgement, metadata.risk), (Judgement::Deny, Risk::Critical));
    assert_eq!(base(Origin::BuiltIn).overridden(&Override::default()), Ok(base(Origin::BuiltIn)));
}

fn any_judgement() -> impl Strategy<Value = Judgement> {
    prop::sample::select(Vec::from(JUDGEMENTS))
}

fn any_entries() -> impl Strategy<Value = Entries> {
    let tools = prop::option::of(any_judgement());
    let patterns = prop::sample::select(Vec::from(["terminal.exec", "fs.read", "mcp.call:*"]));
    let capabilities = prop::collection::btree_map(patterns, any_judgement(), 0..3);
    let risks =
        prop::collection::btree_map(prop::sample::select(Vec::from(RISKS)), any_judgement(), 0..4);
    let default = prop::option::of(any_judgement());
    (tools, capabilities, risks, default).prop_map(|(tools, capabilities, risks, default)| {
        Entries {
            tools: tools.map(|it| (tool("terminal"), it)).into_iter().collect(),
            capabilities: capabilities
                .into_iter()
                .map(|(it, said)| (Pattern::new(it).unwrap(), said))
                .collect(),
            risks,
            default,
        }
    })
}

fn any_layers() -> impl Strategy<Value = Layers> {
    let commands = prop::sample::select(Vec::from(["ls", "cargo test", "rm -rf /"]));
    let entries = (any_entries(), any_entries(), any_entries());
    let risk = prop::sample::select(Vec::from(RISKS));
    (entries, any_judgement(), risk, prop::option::of(commands)).prop_map(
        |((core, global, component), judgement, risk, command)| Layers {
            core,
            global,
            component,
            metadata: metadata(Origin::Authored, judgement, risk),
            guard: command.map(|it| guard::judge(it, guard::Environment::Inherited)),
        },
    )
}

proptest! {
    #[test]
    fn auth_06_no_layer_is_weaker_for_another_one(layers in any_layers()) {
        let whole = ruling(&layers);
        let judgement = whole.judgement;
        prop_assert!(judgement >= layers.metadata.judgement);
        prop_assert!(whole.risk >= layers.metadata.risk);
        if let Some(judged) = layers.guard {
            prop_assert!(judgement >= judged.verdict.into());
        }
        // The order of layers says who is named, and never what is said.
        let (core, global, component) = (&layers.core, &layers.global, &layers.component);
        for [one, two, three] in [[global, core, component], [component, global, core]] {
            let turned = Layers {
                core: one.clone(),
                global: two.clone(),
                component: three.clone(),
                ..layers.clone()
            };
            prop_assert_eq!(ruling(&turned).judgement, judgement);
        }
        // Saying it twice says it once.
        let twice = Layers { global: core.clone(), component: core.clone(), ..layers.clone() };
        let once = Layers { global: Entries::default(), component: Entries::default(), ..layers.clone() };
        prop_assert_eq!(ruling(&twice).judgement, ruling(&once).judgement);
        // Silence of any layer never makes a call stricter.
        for silenced in [
            Layers { core: Entries::default(), ..layers.clone() },
            Layers { global: Entries::default(), ..layers.clone() },
            Layers { component: Entries::default(), ..layers.clone() },
        ] {
            prop_assert!(ruling(&silenced).judgement <= judgement);
        }
        let ask_nobody = Metadata { judgement: Judgement::Auto, ..layers.metadata.clone() };
        let unasked = ruling(&Layers { metadata: ask_nobody, ..layers.clone() });
        prop_assert!(unasked.judgement <= judgement);
    }

    #[test]
    fn auth_06_the_rule_that_is_named_says_what_was_decided(layers in any_layers()) {
        let ruling = ruling(&layers);
        let entries = match ruling.rule.layer {
            Layer::Core => &layers.core,
            Layer::Global => &layers.global,
            Layer::Component => &layers.component,
            Layer::Metadata => {
                prop_assert_eq!(ruling.judgement, layers.metadata.judgement);
                return Ok(());
            }
            Layer::Guard => {
                prop_assert_eq!(ruling.judgement, layers.guard.unwrap().verdict.into());
                return Ok(());
            }
        };
        let said = match &ruling.rule.entry {
            Entry::Tool => entries.tools.get(&tool("terminal")).copied(),
            Entry::Capability(pattern) => entries.capabilities.get(pattern).copied(),
            Entry::Risk(risk) => entries.risks.get(risk).copied(),
            Entry::Default => entries.default,
            Entry::Declared | Entry::Command(_) => None,
        };
        prop_assert_eq!(said, Some(ruling.judgement));
    }

    #[test]
    fn auth_06_strictness_is_a_lattice(
        one in any_judgement(), two in any_judgement(), three in any_judgement(),
    ) {
        prop_assert_eq!(one.max(one), one);
        prop_assert_eq!(one.max(two), two.max(one));
        prop_assert_eq!(one.max(two).max(three), one.max(two.max(three)));
        prop_assert!(one.max(two) >= one);
        prop_assert!(one > two || one.max(three) <= two.max(three));
        prop_assert_eq!(one.max(Judgement::default()), one);
    }
}
