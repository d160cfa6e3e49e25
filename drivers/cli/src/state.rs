//! `everstep state`: what agents keep beside their conversations.

use std::fmt::Write as _;

use everstep_machine::agent_state::{
    Address, Command, Owner, Put, Reply, Scope, Slot, Stored, Value as Kept, WriteClass,
};
use everstep_machine::identity::{AgentId, Revision, StateKey, TenantId};
use everstep_machine::json::CanonicalJson;
use everstep_sqlite::{MAX_LISTED, Options, SqliteStore};
use serde_json::{Value, json};

use crate::args::{self, At, Look, Over, StateAct};
use crate::database::{PATIENCE, age, reader, unopened, unread, value};
use crate::exit::{Complaint, Exit, Outcome};
use crate::listing::{every, unreadable};
use crate::output::{self, HEAD, one_line, styled};

/// Runs the command.
pub(crate) fn run(args: &args::State) -> Outcome {
    match &args.act {
        StateAct::List { look } => list(look),
        StateAct::Show { at, look } => show(at, look),
        StateAct::Set { at, value, version, over, look } => {
            let json = CanonicalJson::parse(value.as_bytes());
            let json = json.map_err(|why| usage(format!("the value: {why}")))?;
            write(at, over, Some(Kept { version: *version, json }), look)
        }
        StateAct::Remove { at, over, look } => write(at, over, None, look),
    }
}

fn usage(why: impl std::fmt::Display) -> Complaint {
    Complaint::new(Exit::Usage, why)
}

fn address(at: &At) -> Result<Address, Complaint> {
    let tenant = TenantId::new(&at.tenant).map_err(usage)?;
    let agent = AgentId::new(&at.agent).map_err(usage)?;
    let key = StateKey::new(&at.key).map_err(usage)?;
    Ok(Address::of_agent(Owner { tenant, agent }, key))
}

fn list(look: &Look) -> Outcome {
    let reader = reader(&look.db)?;
    let mut entries = Vec::new();
    let corrupt = every(
        |after| reader.states(after, MAX_LISTED),
        |one| {
            entries.push(one);
            Ok(())
        },
    )?;
    let mut text = String::new();
    if look.json {
        let entries: Vec<Value> = entries.iter().map(|(at, slot)| as_json(at, slot)).collect();
        let value = json!({ "command": "state list", "entries": entries });
        let _ = writeln!(text, "{value:#}");
    } else if entries.is_empty() {
        text.push_str("no agent keeps anything\n");
    } else {
        for (address, slot) in &entries {
            let _ = writeln!(text, "{}", words(address, slot));
        }
    }
    output::print(&text)?;
    unreadable(&corrupt)?;
    Ok(Exit::Holds)
}

fn show(at: &At, look: &Look) -> Outcome {
    let address = address(at)?;
    let slot = reader(&look.db)?.state(&address).map_err(unread)?;
    if slot.is_blank() {
        let db = look.db.display();
        return Err(usage(format!("{}: there is nothing in {db}", one_line(&address.to_string()))));
    }
    let mut text = String::new();
    if look.json {
        let value = json!({ "command": "state show", "entry": as_json(&address, &slot) });
        let _ = writeln!(text, "{value:#}");
    } else {
        let _ = writeln!(text, "{}", words(&address, &slot));
        if let Some(Stored { value, .. }) = &slot.current {
            let _ = writeln!(text, "version {}: {}", value.version, one_line(value.json.as_str()));
        }
    }
    output::print(&text)?;
    Ok(Exit::Holds)
}

fn write(at: &At, over: &Over, value: Option<Kept>, look: &Look) -> Outcome {
    let Address { scope, key } = address(at)?;
    let Scope::Agent(owner) = scope else { return Err(usage("a run's state is its calls'")) };
    let class = WriteClass::ALL.into_iter().find(|it| it.name() == over.class);
    let class = class.ok_or_else(|| usage(format!("{}: there is no such class", over.class)))?;
    let put = Put { key, class, expected: over.expect.map(Revision), value };
    let options = Options::new(&look.db).create(false).busy(PATIENCE);
    let mut store = SqliteStore::open(options).map_err(|why| unopened(&why))?;
    let done = store.state(&Command::Set { owner, put }).map_err(unread)?;
    let reply = done.map_err(|why| usage(format!("{}: {why}", one_line(&at.key))))?;
    let Reply::Written(Revision(revision)) = reply else {
        return Err(Complaint::new(Exit::Safety, "a write was answered as a reading"));
    };
    let text = if look.json {
        format!("{:#}\n", json!({ "command": "state write", "revision": revision }))
    } else {
        format!("done, as revision {revision}\n")
    };
    output::print(&text)?;
    Ok(Exit::Holds)
}

fn words(address: &Address, slot: &Slot) -> String {
    let at = styled(HEAD, one_line(&address.to_string()));
    let mut words = match &slot.current {
        Some(Stored { revision, class, at: since, .. }) => {
            format!("{at}  revision {revision}, {}, written {} ago", class.name(), age(*since))
        }
        None => format!("{at}  nothing that others see"),
    };
    if let Some(call) = slot.hold {
        let _ = write!(words, "; held by call {call}, whose end is not recorded");
    }
    words
}

fn as_json(address: &Address, slot: &Slot) -> Value {
    let (agent, tenant, run) = match &address.scope {
        Scope::Agent(Owner { tenant, agent }) => {
            (Some(agent.as_str()), Some(tenant.as_str()), None)
        }
        Scope::Run(run) => (None, None, Some(run.to_string())),
    };
    json!({
        "agent": agent,
        "tenant": tenant,
        "run": run,
        "key": address.key.as_str(),
        "current": slot.current.as_ref().map(|it| json!({
            "revision": it.revision.0,
            "class": it.class.name(),
            "version": it.value.version,
            "value": value(&it.value.json),
            "written_ms": it.at.0,
        })),
        "held_by": slot.hold.map(|it| it.to_string()),
    })
}
