//! Common parts of charts: title, axes with ticks, and legend.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Colour, FAINT, GREY, INK, Lettering};
use super::font::Fonts;

/// The rectangle in which data are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
    /// Values of the left and right edges.
    pub(super) across: (f64, f64),
}

impl Area {
    pub(super) fn x(&self, value: f64) -> f64 {
        let (low, high) = self.across;
        self.left + (value - low) / (high - low) * (self.right - self.left)
    }
}

/// A line of the legend.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) sample: Sample,
}

/// The symbol before a name in the legend.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sample {
    Nothing,
    Line(Colour, Option<(f64, f64)>),
    Box(Colour, f64),
}

/// Maximum number of lines of a legend; the rest is counted.
pub(super) const LEGEND_LINES: usize = 14;
const LEGEND_WIDTH: f64 = 230.0;
const LINE_HEIGHT: f64 = 18.0;
const MARGIN: f64 = 18.0;

/// Draws title and subtitle. Returns their height.
pub(super) fn head(canvas: &mut Canvas, fonts: &Fonts, title: &str, subtitle: &str) -> f64 {
    let room = canvas.width - 2.0 * MARGIN;
    let mut y = MARGIN + 12.0;
    if !title.is_empty() {
        let title = fonts.fit(title, Lettering::TITLE.size, true, room);
        canvas.text((MARGIN, y), &title, Anchor::Start, Lettering::TITLE);
        y += 18.0;
    }
    if !subtitle.is_empty() {
        let subtitle = fonts.fit(subtitle, Lettering::SUBTITLE.size, false, room);
        canvas.text((MARGIN, y), &subtitle, Anchor::Start, Lettering::SUBTITLE);
        y += 18.0;
    }
    y
}

/// Returns the width of a legend at the right, including its distance to the data; at most a third of the canvas.
pub(super) fn legend_width(canvas: &Canvas, fonts: &Fonts, entries: &[Entry]) -> f64 {
    let widest = entries.iter().map(|entry| fonts.width(&entry.name, Lettering::TICK.size, false)).fold(0.0, f64::max);
    if entries.is_empty() { MARGIN } else { (widest + 52.0).min(LEGEND_WIDTH).min(canvas.width / 3.0) + MARGIN / 2.0 }
}

/// Draws a legend whose left edge is at that position.
pub(super) fn legend(canvas: &mut Canvas, fonts: &Fonts, entries: &[Entry], (x, y): (f64, f64)) {
    let room = canvas.width - x - 40.0;
    for (line, entry) in entries.iter().enumerate() {
        let y = y + 8.0 + line as f64 * LINE_HEIGHT;
        let mut text = x + 30.0;
        match entry.sample {
            Sample::Nothing => text = x,
            Sample::Line(colour, dash) => canvas.line(vec![(x, y), (x + 22.0, y)], colour, 2.4, dash),
            Sample::Box(colour, opacity) => canvas.rectangle((x, y - 6.0), (22.0, 12.0), colour, opacity),
        }
        let name = fonts.fit(&entry.name, Lettering::TICK.size, false, room);
        canvas.text((text, y + 4.0), &name, Anchor::Start, Lettering { colour: INK, ..Lettering::TICK });
    }
}

/// Truncates a legend to a readable length and adds the number of omitted entries, including `more` that are not drawn
/// at all.
pub(super) fn shorten(entries: &mut Vec<Entry>, more: usize) {
    let missing = entries.len().saturating_sub(LEGEND_LINES);
    entries.truncate(LEGEND_LINES);
    let note = |text: String| Entry { name: text, sample: Sample::Nothing };
    if missing > 0 {
        entries.push(note(format!("… and {missing} more")));
    }
    if more > 0 {
        entries.push(note(format!("… and {more} more, not drawn")));
    }
}

/// Draws the horizontal axis below the data: ticks, numbers, label.
pub(super) fn horizontal_axis(canvas: &mut Canvas, fonts: &Fonts, axis: &Axis, area: &Area) {
    let (low, high) = area.across;
    let wanted = ((area.right - area.left) / 90.0).max(2.0) as usize;
    for (value, text) in axis.ticks(low, high, wanted) {
        let x = area.x(value);
        canvas.line(vec![(x, area.bottom), (x, area.bottom + 5.0)], GREY, 1.0, None);
        canvas.text((x, area.bottom + 18.0), &text, Anchor::Middle, Lettering::TICK);
    }
    canvas.line(vec![(area.left, area.bottom), (area.right, area.bottom)], GREY, 1.0, None);
    let title = axis.title(high.abs().max(low.abs()));
    let title = fonts.fit(&title, Lettering::LABEL.size, false, area.right - area.left);
    canvas.text(((area.left + area.right) / 2.0, area.bottom + 38.0), &title, Anchor::Middle, Lettering::LABEL);
}

/// Draws the numbers and grid lines of a vertical axis, with its label above it.
pub(super) fn vertical_axis(
    canvas: &mut Canvas,
    fonts: &Fonts,
    (axis, ticks, most): (&Axis, &[(f64, String)], f64),
    area: &Area,
    y: impl Fn(f64) -> f64,
) {
    for (value, text) in ticks {
        let y = y(*value);
        canvas.line(vec![(area.left, y), (area.right, y)], FAINT, 1.0, None);
        canvas.text((area.left - 8.0, y + 4.0), text, Anchor::End, Lettering::TICK);
    }
    let title = fonts.fit(&axis.title(most), Lettering::LABEL.size, false, area.right - MARGIN);
    canvas.text((MARGIN, area.top - 12.0), &title, Anchor::Start, Lettering::LABEL);
}

/// Returns the margin left of the data for labels of that width.
pub(super) fn left_margin(widest: f64) -> f64 {
    (MARGIN + widest + 10.0).max(44.0)
}

/// Height of the margin below the data.
pub(super) const BELOW: f64 = 52.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_is_cut_and_says_so() {
        let entry = |number: usize| Entry { name: format!("flow {number}"), sample: Sample::Nothing };
        let mut few: Vec<Entry> = (0..3).map(entry).collect();
        shorten(&mut few, 0);
        assert_eq!(few.len(), 3);
        let mut many: Vec<Entry> = (0..40).map(entry).collect();
        shorten(&mut many, 5);
        assert_eq!(many[LEGEND_LINES].name, "… and 26 more");
        assert_eq!(many[LEGEND_LINES + 1].name, "… and 5 more, not drawn");
        assert_eq!(many.len(), LEGEND_LINES + 2);
    }
}
