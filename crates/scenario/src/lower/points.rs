//! Congestion points of switches: one for all classes, or several for some each.

use super::buffers::Rules;
use crate::parameters;
use crate::problem::Problem;
use crate::resolve::{Gathered, Node};
use congestion::{ByClass, CongestionPoint, Point};

/// Reads the congestion point of a switch: `Some(None)` if it has none. `of_all` is the one of all switches.
pub(super) fn points(
    gathered: &mut Gathered<'_>,
    node: &Node,
    rules: &Rules<'_>,
    of_all: Option<&Node>,
    trim_class: u8,
) -> Option<Option<Point>> {
    let several = node.tables("congestion_points");
    if !several.is_empty() && node.given("congestion_point") {
        let message = "`congestion_points` replaces `congestion_point`, but both are given";
        let problem = Problem::new(
            node.place_of("congestion_points"),
            message,
            "remove one of them, or move congestion_point into the list",
        );
        gathered.problems.push(problem.and(node.place_of("congestion_point"), "the other"));
        return None;
    }
    if several.is_empty() && node.given("congestion_points") && !node.is_none("congestion_points") {
        // An empty list is a switch without congestion points; anything else is a mistake that was reported.
        return node.has("congestion_points").then_some(None);
    }
    let of_all = of_all.filter(|_| !node.is_none("congestion_point"));
    let single = match node.table("congestion_point").or(of_all) {
        None if node.given("congestion_point") && !node.is_none("congestion_point") => return None,
        single => single,
    };
    let entries: Vec<&Node> = match several {
        [] => single.into_iter().collect(),
        several => several.iter().collect(),
    };
    let mut parts: Vec<(u8, Point)> = Vec::new();
    for inner in entries {
        let name = inner.text("name")?;
        let info = congestion::POINTS.iter().find(|info| info.name == name)?;
        let values = parameters::values(inner, info.parameters)?;
        let point = parameters::built(gathered, inner, (info.build)(&values))?;
        let classes = classes(gathered, inner, rules, &point, trim_class)?;
        let taken = parts.iter().fold(0, |all, (classes, _)| all | classes);
        if classes & taken != 0 {
            let class = (classes & taken).trailing_zeros();
            let message = format!("class `{}` has two congestion points", rules.class_names.name(class));
            gathered.refuse(inner.place_of("classes"), message, "name each class in one of the points only");
            return None;
        }
        parts.push((classes, point));
    }
    let all = mask(0..rules.classes.len() as u32);
    Some(match parts.len() {
        0 => None,
        1 if parts[0].0 == all => parts.pop().map(|(_, point)| point),
        _ => Some(Point::ByClass(ByClass::new(parts))),
    })
}

fn mask(classes: impl IntoIterator<Item = u32>) -> u8 {
    classes.into_iter().fold(0, |mask, class| mask | 1 << class)
}

/// The classes of a point: the given ones, or all that it may observe.
fn classes(gathered: &mut Gathered<'_>, inner: &Node, rules: &Rules<'_>, point: &Point, trim_class: u8) -> Option<u8> {
    let name = inner.text("name")?;
    let number = rules.classes.len() as u32;
    let discards = point.discards() != 0;
    let fits = |class: &u32| {
        let headers = point.trims() && *class == u32::from(trim_class);
        !(discards && (rules.classes[*class as usize].lossless || headers))
    };
    let Some(patterns) = inner.names("classes") else {
        let chosen: Vec<u32> = (0..number).filter(fits).collect();
        if chosen.is_empty() {
            let (message, help) = match point.trims() {
                true => (
                    format!("`{name}` trims frames of lossy classes other than `trim_class`, but there is none"),
                    "add a class with lossless = false for the data, beside the one for the headers",
                ),
                false => (
                    format!("`{name}` drops frames of lossy classes, but every class is lossless"),
                    "add a class with lossless = false, or choose a point that marks frames",
                ),
            };
            gathered.refuse(inner.place_of("name"), message, help);
            return None;
        }
        let names: Vec<String> = chosen.iter().map(|&class| format!("{:?}", rules.class_names.name(class))).collect();
        gathered.computed(&inner.path, "classes", format!("[{}]", names.join(", ")));
        return Some(mask(chosen));
    };
    let chosen = rules.class_names.select(gathered, &patterns, inner.place_of("classes"))?;
    if let Some(class) = chosen.iter().find(|class| !fits(class)) {
        let class_name = rules.class_names.name(*class);
        let message = match rules.classes[*class as usize].lossless {
            true => format!("`{name}` drops or trims frames, but class `{class_name}` is lossless"),
            false => format!("`{name}` trims frames of class `{class_name}`, in which the headers continue"),
        };
        gathered.refuse(inner.place_of("classes"), message, "name lossy classes other than `trim_class`");
        return None;
    }
    Some(mask(chosen))
}
