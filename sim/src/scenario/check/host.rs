//! What a host is told beside its agent: groups of tools, and its own compactor.

use everstep_machine::identity::GroupName;
use everstep_machine::limits::{RUN_TURNS, SUMMARY_BYTES};

use super::{Tools, at_most, distinct, name, text, within};
use crate::scenario::bounds::TOOLS;
use crate::scenario::draft::{Checked, Compactor, Group};
use crate::scenario::fault::Fault;
use crate::scenario::noun::Noun;
use crate::scenario::{CompactorScript, GroupScript};

pub(super) fn compactor(part: &Compactor) -> Checked<CompactorScript> {
    let summary = text("summary", &part.summary)?;
    if summary.len() > SUMMARY_BYTES {
        return Err(part.summary.site.fault(Fault::TextTooLong { key: "summary" }));
    }
    let keep = within("keep", &part.keep, 1, u64::from(RUN_TURNS))? as usize;
    Ok(CompactorScript { summary, keep })
}

/// Groups, each with a tool in it: a limit of nothing was meant for something else.
pub(super) fn groups(tools: &Tools, parts: &[Group]) -> Checked<Vec<GroupScript>> {
    at_most("groups", parts, TOOLS, |group| &group.name.site)?;
    distinct(Noun::Group, parts.iter().map(|group| &group.name))?;
    let group = |part: &Group| {
        let name = name("name", &part.name, GroupName::new)?;
        let places = within("places", &part.places, 1, u64::from(u32::MAX))? as usize;
        let Tools(tools) = tools;
        if tools.iter().all(|tool| tool.definition.group.as_ref() != Some(&name)) {
            let (noun, nearest) = (Noun::Group, None);
            let name = part.name.value.clone();
            return Err(part.name.site.fault(Fault::Unknown { noun, name, nearest }));
        }
        Ok(GroupScript { name, places })
    };
    parts.iter().map(group).collect()
}
