//! A diagram as a picture. All of it lies on a board with a colour of its own, so it can be read on pages
//! that are light or dark. Each piece has its Chinese character, and its letter for those who do not read
//! that or have no font for it.

use std::fmt::Write as _;

use super::super::board::glyph;
use super::diagram::Diagram;
use crate::rules::{Cell, Colour, FILES, Piece, Square};

/// The side of a square, in the picture's units.
const SIDE: u32 = 48;

/// How wide the frame is, which has the names of files and ranks.
const FRAME: u32 = 22;

const WOOD: &str = "#d9b078";
const EDGE: &str = "#7a5327";
const MARKED: &str = "#ffe68a";
const DISC: &str = "#fbf1dc";
const BACK: &str = "#6b3f1d";
const CHOICE: &str = "#1557b0";
const INK: &str = "#2a211a";

/// The diagram as a document of SVG, with a title and the same in words.
pub(super) fn draw(diagram: &Diagram, title: &str) -> String {
    let ranks = u32::from(diagram.position.board_size().ranks());
    let (width, height) = (u32::from(FILES) * SIDE + 2 * FRAME, ranks * SIDE + 2 * FRAME);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-labelledby=\"title words\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"words\">{}</desc>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{WOOD}\"/>\n\
         <g font-family=\"sans-serif\" font-size=\"12\" fill=\"{INK}\" text-anchor=\"middle\" aria-hidden=\"true\">\n",
        escaped(title),
        escaped(&diagram.told()),
    );
    edges(&mut svg, ranks, height);
    for square in diagram.squares() {
        draw_square(&mut svg, diagram, square, ranks);
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// The names of files and ranks, on both sides.
fn edges(svg: &mut String, ranks: u32, height: u32) {
    for (file, name) in (0u32..).zip(('a'..).take(FILES.into())) {
        let x = FRAME + file * SIDE + SIDE / 2;
        for y in [15, height - 7] {
            let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{name}</text>");
        }
    }
    for rank in 0..ranks {
        let y = FRAME + (ranks - 1 - rank) * SIDE + SIDE / 2 + 4;
        for x in [FRAME / 2, FRAME + u32::from(FILES) * SIDE + FRAME / 2] {
            let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{}</text>", rank + 1);
        }
    }
}

fn draw_square(svg: &mut String, diagram: &Diagram, square: Square, ranks: u32) {
    let left = FRAME + u32::from(square.file()) * SIDE;
    let top = FRAME + (ranks - 1 - u32::from(square.rank())) * SIDE;
    let (x, y) = (left + SIDE / 2, top + SIDE / 2);
    let fill = if diagram.marked.contains(&square) { MARKED } else { "none" };
    let _ = writeln!(
        svg,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{SIDE}\" height=\"{SIDE}\" fill=\"{fill}\" stroke=\"{EDGE}\"/>"
    );
    if diagram.from == Some(square) {
        let (left, top, side) = (left + 2, top + 2, SIDE - 4);
        let _ = writeln!(
            svg,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{side}\" height=\"{side}\" fill=\"none\" \
             stroke=\"{CHOICE}\" stroke-width=\"4\"/>"
        );
    }
    let target = diagram.targets.contains(&square);
    let mut dashes = "";
    match diagram.position.cell(square) {
        Cell::Empty => {
            if target {
                let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"7\" fill=\"{CHOICE}\"/>");
            }
            return;
        }
        Cell::FaceDown => {
            let _ = writeln!(
                svg,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"17\" fill=\"{BACK}\" stroke=\"{INK}\"/>\n\
                 <circle cx=\"{x}\" cy=\"{y}\" r=\"12\" fill=\"none\" stroke=\"{WOOD}\"/>"
            );
            dashes = " stroke-dasharray=\"6 4\"";
        }
        Cell::FaceUp(piece) => draw_piece(svg, piece, x, y),
    }
    if target {
        let _ = writeln!(
            svg,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"21\" fill=\"none\" stroke=\"{CHOICE}\" stroke-width=\"4\"{dashes}/>"
        );
    }
}

fn draw_piece(svg: &mut String, piece: Piece, x: u32, y: u32) {
    let colour = match piece.colour {
        Colour::Red => "#a81d16",
        Colour::Black => "#1d1916",
        Colour::Blue => "#174ea6",
        Colour::Green => "#0b6a35",
    };
    let _ = writeln!(
        svg,
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"18\" fill=\"{DISC}\" stroke=\"{colour}\" stroke-width=\"2\"/>\n\
         <text x=\"{x}\" y=\"{}\" font-family=\"'Noto Serif CJK TC','Songti TC',PMingLiU,serif\" font-size=\"20\" \
         fill=\"{colour}\">{}</text>\n\
         <text x=\"{x}\" y=\"{}\" font-size=\"10\" font-weight=\"bold\" fill=\"{colour}\">{piece}</text>",
        y + 4,
        glyph(piece),
        y + 14,
    );
}

/// Text that means itself in a document of SVG.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
