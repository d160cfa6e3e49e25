//! Of several alternatives, the one that was meant.

use serde_json::{Map, Value};

use super::{Explainer, Found, Kind, Spot, Violation};

/// How near a value comes to an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// It is of another type, or bears the tag of another.
    Other,
    /// It is the right thing, in the wrong shape.
    Shape,
    /// It is the right thing; something inside it is wrong.
    Inside,
}

impl<'a> Explainer<'a> {
    /// What is wrong where no alternative fits. One that nothing is known against may fit.
    pub(super) fn alternatives(
        &mut self,
        spot: &Spot<'a>,
        keywords: &'a Map<String, Value>,
        keyword: &str,
    ) -> Found<'a> {
        let mut refused = Vec::new();
        for alternative in spot.list(keywords, keyword) {
            let found = self.violations(&alternative)?;
            if found.is_empty() {
                return Ok(found);
            }
            refused.push(found);
        }
        Ok(named(&refused).map_or_else(|| nearest(spot, refused), |named| vec![named]))
    }
}

/// Where every alternative wants one certain value in one certain place, all of them are named.
fn named<'a>(refused: &[Vec<Violation<'a>>]) -> Option<Violation<'a>> {
    let mut wanted = Vec::new();
    let place = &refused.first()?.first()?.place;
    for found in refused {
        match found.as_slice() {
            [Violation { place: here, kind: Kind::Constant(constant), .. }] if here == place => {
                wanted.push(constant.to_string());
            }
            _ => return None,
        }
    }
    let words = format!("value is none of {}", wanted.join(", "));
    Some(Violation { place: place.clone(), kind: Kind::Other, words })
}

/// What is wrong with the one alternative that the value comes nearest to, if it is one.
fn nearest<'a>(spot: &Spot<'a>, mut refused: Vec<Vec<Violation<'a>>>) -> Vec<Violation<'a>> {
    let all: Vec<_> = refused.iter().map(|found| nearness(&spot.place, found)).collect();
    let best = all.iter().max();
    let mut at_best = all.iter().enumerate().filter(|(_, nearness)| Some(*nearness) == best);
    match (at_best.next(), at_best.next()) {
        (Some((only, _)), None) => refused.swap_remove(only),
        (None, _) => Vec::new(),
        (Some(_), Some(_)) => {
            vec![spot.violation(&format!("value fits none of {} alternatives", refused.len()))]
        }
    }
}

fn nearness(place: &str, found: &[Violation<'_>]) -> Nearness {
    let of = |it: &Violation<'_>| {
        let is_here = it.place == place;
        let is_below = it.place.rsplit_once('/').is_some_and(|(parent, _)| parent == place);
        match it.kind {
            Kind::Type if is_here => Nearness::Other,
            Kind::Constant(_) if is_here || is_below => Nearness::Other,
            Kind::Other if is_here => Nearness::Shape,
            Kind::Type | Kind::Constant(_) | Kind::Other => Nearness::Inside,
        }
    };
    found.iter().map(of).min().unwrap_or(Nearness::Other)
}
