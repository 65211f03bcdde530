//! The names of the variants of an axiom, as every page shows them.

use shared::probe::AxiomVariant;

/// Returns the short label of a variant.
pub(crate) fn axiom_variant_label(variant: AxiomVariant) -> &'static str {
    match variant {
        AxiomVariant::Fixed => "as defined here",
        AxiomVariant::PaperRennings2019 => "as printed in 2019",
        AxiomVariant::PaperCamara2020 => "as printed in 2020",
        AxiomVariant::Code => "as implemented",
    }
}

/// Returns what distinguishes a variant from the others.
pub(crate) fn axiom_variant_description(variant: AxiomVariant) -> &'static str {
    match variant {
        AxiomVariant::Fixed => "as defined here",
        AxiomVariant::PaperRennings2019 => "as printed in Rennings, Moraes & Hauff (ECIR 2019)",
        AxiomVariant::PaperCamara2020 => "as printed in Câmara & Hauff (ECIR 2020)",
        AxiomVariant::Code => {
            "as implemented by the authors (Câmara & Hauff, or ir_axioms for its own axioms)"
        }
    }
}
