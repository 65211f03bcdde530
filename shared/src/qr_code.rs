//! QR codes of links (ISO/IEC 18004), as a path for SVG and as text for terminals. The encoder is
//! the crate `qrcode`; error correction is of level M, which restores 15 % of a code.

use qrcode::types::Color;
use qrcode::{EcLevel, QrCode};

use crate::error::Error;

/// The width of the light margin around a code, in modules, as the standard requires.
const QUIET_ZONE: usize = 4;

/// The modules of a QR code, with the quiet zone around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QrCodeModules {
    /// The number of modules of a side, with the quiet zone.
    width: usize,
    /// Whether each module is dark, row by row.
    dark: Vec<bool>,
}

impl QrCodeModules {
    /// Encodes a link. It is an error if it is too long for a QR code, which holds about 2,300
    /// characters.
    pub fn encode_link(link: &str) -> Result<QrCodeModules, Error> {
        let code = QrCode::with_error_correction_level(link, EcLevel::M).map_err(|_| {
            let reason = format!(
                "has {} bytes, too many for a QR code; shorten it",
                link.len()
            );
            Error::out_of_range("link", reason)
        })?;
        let inner = code.width();
        let width = inner + 2 * QUIET_ZONE;
        let mut dark = vec![false; width * width];
        for (at, color) in code.to_colors().into_iter().enumerate() {
            let (row, column) = (at / inner + QUIET_ZONE, at % inner + QUIET_ZONE);
            dark[row * width + column] = color == Color::Dark;
        }
        Ok(QrCodeModules { width, dark })
    }

    /// Returns the number of modules of a side, with the quiet zone.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the dark modules as the data of an SVG path, one rectangle for each run of a row;
    /// a module is one unit wide.
    pub fn svg_path_data(&self) -> String {
        let mut path = String::new();
        for (y, row) in self.dark.chunks(self.width).enumerate() {
            let mut x = 0;
            while x < row.len() {
                let n = row[x..].iter().take_while(|it| **it).count();
                if n > 0 {
                    path.push_str(&format!("M{x} {y}h{n}v1h-{n}z"));
                }
                x += n.max(1);
            }
        }
        path
    }

    /// Returns the code for a terminal: two rows of modules in a line, black on white by escape
    /// sequences, so that it can be read on a dark and on a light background.
    pub fn terminal_text(&self) -> String {
        let mut out = String::new();
        let blank = vec![false; self.width];
        let rows: Vec<&[bool]> = self.dark.chunks(self.width).collect();
        for pair in rows.chunks(2) {
            let below = pair.get(1).copied().unwrap_or(&blank);
            out.push_str("\x1b[30;107m");
            for (upper, lower) in pair[0].iter().zip(below) {
                out.push(match (upper, lower) {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                });
            }
            out.push_str("\x1b[0m\n");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that fills its code and has only characters of byte mode, since encoders may differ
    /// in how they split a text and fill the rest.
    const TEXT: &str = "join#abcdefghijklmnopqrstuvwxyz_abcdefghij";

    /// The modules of [`TEXT`], version 3, level M, mask 5, as the Python package
    /// segno 1.6.6 computes them.
    const KNOWN: [&str; 29] = [
        "#######..#..###..#....#######",
        "#.....#.#.#...#..##.#.#.....#",
        "#.###.#.#.##..###.#...#.###.#",
        "#.###.#.######..##....#.###.#",
        "#.###.#...##....#..##.#.###.#",
        "#.....#......##.###...#.....#",
        "#######.#.#.#.#.#.#.#.#######",
        "........####...#.............",
        "#.....#.#.######.#..###..###.",
        "####.....#.#..##...#...###...",
        ".##...#.#.#..###....####..#..",
        "..####.#..#...##..###..##..#.",
        "##..#.##.#..#..##...#.##.#.#.",
        "....##.#.....#.##..##.###...#",
        "##..#.#...##...##....##..##..",
        "##.###..##..#.#.#..#.#######.",
        "#..#.###..#..###.#.#......#.#",
        "#####..#.###.#.##..##.###...#",
        "####..##.#.#.###...#.#..#.#.#",
        "#......#.###..###.#.#.####..#",
        "#..#.##.#.#..##.##.######.###",
        "........####.##.....#...#.#..",
        "#######..#.#.#.#.#.##.#.#.#..",
        "#.....#..#.##..#...##...##..#",
        "#.###.#......##....#######.#.",
        "#.###.#....#...###...#......#",
        "#.###.#...#.##.##.##########.",
        "#.....#...###.#.#.#.....###.#",
        "#######.#....#..##.#..###.#..",
    ];

    #[test]
    fn a_link_has_the_modules_that_another_encoder_computes() {
        let code = QrCodeModules::encode_link(TEXT).unwrap();
        assert_eq!(code.width(), KNOWN.len() + 2 * QUIET_ZONE);
        let rows = code.dark.chunks(code.width()).map(|row| {
            let text = row.iter().map(|it| if *it { '#' } else { '.' });
            text.collect::<String>()
        });
        let rows: Vec<String> = rows.collect();
        let blank = ".".repeat(code.width());
        for (row, known) in rows[QUIET_ZONE..].iter().zip(KNOWN) {
            assert_eq!(*row, format!("....{known}...."));
        }
        for row in rows[..QUIET_ZONE]
            .iter()
            .chain(&rows[KNOWN.len() + QUIET_ZONE..])
        {
            assert_eq!(*row, blank);
        }
    }

    #[test]
    fn the_path_and_the_text_have_every_dark_module() {
        let code = QrCodeModules::encode_link("https://example.org/join#Zm9vYmFy").unwrap();
        let n_dark = code.dark.iter().filter(|it| **it).count();
        let path = code.svg_path_data();
        let runs = path.split('h').skip(1).filter(|it| !it.starts_with('-'));
        let lengths = runs.map(|it| it.split('v').next().unwrap().parse::<usize>().unwrap());
        assert_eq!(lengths.sum::<usize>(), n_dark);
        assert!(path.starts_with("M4 4h7v1h-7z"), "{path}");
        let text = code.terminal_text();
        let halves = text.chars().map(|it| match it {
            '█' => 2,
            '▀' | '▄' => 1,
            _ => 0,
        });
        assert_eq!(halves.sum::<usize>(), n_dark);
        assert_eq!(text.lines().count(), code.width().div_ceil(2));
    }

    #[test]
    fn a_link_that_no_code_holds_is_refused() {
        let long = format!("https://example.org/{}", "a".repeat(3_000));
        let error = QrCodeModules::encode_link(&long).unwrap_err().to_string();
        assert!(error.contains("shorten it"), "{error}");
    }
}
