//! Grid search: the value of each point of a parameter grid as a heat map; the darkest cell is the
//! best.

use super::{
    FigureColorRole, FigureFontStyle, FigureMark, NOTE, PlotFigure, TextAnchor, TextStyle, rect,
    text,
};
use crate::report::format;
use crate::tune::{GridSearchResult, ParameterGrid};

const LEFT: f64 = 56.0;
const TOP: f64 = 46.0;
const CELL: [f64; 2] = [46.0, 22.0];

/// Draws a cell for each point; the best one has a frame.
pub fn draw_grid_search_heatmap(grid: &ParameterGrid, found: &GridSearchResult) -> PlotFigure {
    let least = found.values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = found.values[found.best_index];
    let step = |value: f64| match most > least {
        true => ((value - least) / (most - least) * 5.0).round() as i8,
        false => 5,
    };
    let number = |value: f64| format::format_score(value, u8::from(value < 10.0));
    let mut marks = Vec::new();
    for (at, column) in grid.column_values.iter().enumerate() {
        let x = LEFT + (at as f64 + 0.5) * CELL[0];
        marks.push(text(
            [x, TOP - 8.0],
            TextAnchor::Middle,
            NOTE,
            number(*column),
        ));
    }
    marks.push(text(
        [LEFT, TOP - 26.0],
        TextAnchor::Start,
        NOTE,
        grid.column_parameter.to_owned(),
    ));
    for (at, row) in grid
        .row_values
        .iter()
        .enumerate()
        .filter(|_| !grid.row_parameter.is_empty())
    {
        let y = TOP + (at as f64 + 0.5) * CELL[1] + 4.0;
        let name = format!("{} {}", grid.row_parameter, number(*row));
        marks.push(text([LEFT - 6.0, y], TextAnchor::End, NOTE, name));
    }
    let n_columns = grid.column_values.len();
    for (at, value) in found.values.iter().enumerate() {
        let corner = [
            LEFT + (at % n_columns) as f64 * CELL[0],
            TOP + (at / n_columns) as f64 * CELL[1],
        ];
        let size = [CELL[0] - 2.0, CELL[1] - 2.0];
        let step = step(*value);
        if at == found.best_index {
            let frame = [corner[0] - 2.0, corner[1] - 2.0];
            let around = [size[0] + 4.0, size[1] + 4.0];
            marks.push(rect(frame, around, 2.0, FigureColorRole::Foreground));
        }
        let name = number_of(value);
        let middle = [corner[0] + size[0] / 2.0, corner[1] + 14.0];
        let words = TextStyle(FigureFontStyle::Label, FigureColorRole::OnStep(step));
        marks.push(FigureMark::Group {
            title: format!("{}: {name}", grid.rankers[at]),
            marks: vec![
                rect(corner, size, 1.0, FigureColorRole::Gray(step as u8)),
                text(middle, TextAnchor::Middle, words, name),
            ],
        });
    }
    PlotFigure {
        width: LEFT + n_columns as f64 * CELL[0],
        height: TOP + grid.row_values.len() as f64 * CELL[1],
        margin: 12.0,
        alt_text: format!(
            "{} over {} queries; best {}: {}",
            found.measure,
            found.n_queries,
            grid.rankers[found.best_index],
            number_of(&most)
        ),
        description: "Each cell is a point of the grid; the framed cell is the best.".to_owned(),
        marks,
    }
}

fn number_of(value: &f64) -> String {
    format::format_score(*value, 4)
        .trim_start_matches('0')
        .to_owned()
}
