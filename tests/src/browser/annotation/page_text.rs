//! The text of a page and its exports as plain values.

/// Normalizes whitespace to what a reader sees.
pub(super) fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the cell of a CSV table in the first row that begins with a word. No cell may contain a
/// comma.
pub(super) fn column<'a>(csv: &'a str, row: &str, name: &str) -> &'a str {
    let mut lines = csv.lines().map(|it| it.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap_or_default();
    let at = head.iter().position(|it| *it == name);
    let at = at.unwrap_or_else(|| panic!("no column {name} in {csv}"));
    let found = lines.find(|it| it[0] == row);
    found.unwrap_or_else(|| panic!("no row {row} in {csv}"))[at]
}

/// Returns the same cell as a number.
pub(super) fn number(csv: &str, row: &str, name: &str) -> f64 {
    let cell = column(csv, row, name);
    cell.parse()
        .unwrap_or_else(|_| panic!("{name}: {cell} is no number"))
}
