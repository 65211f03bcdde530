//! The address of the Late interaction page, so that a view can be cited and shared.

use crate::pages::page_state::AddressEncodedPageState;
use crate::pages::study::address::ParameterLookup;
use crate::routes::PageRoute;

/// What the Late interaction page shows, as encoded in its address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LateInteractionView {
    /// The slug of the ranker, which is in the path; none takes the first that was analyzed.
    pub(crate) ranker: Option<String>,
    /// The selected query term.
    pub(crate) term: Option<String>,
    /// The position of the query whose documents are listed.
    pub(crate) query: Option<usize>,
    /// The id of the document whose token matches are shown.
    pub(crate) doc_id: Option<String>,
}

/// The state that the parts of the page share.
pub(super) type LateInteractionPageState = AddressEncodedPageState<LateInteractionView>;

impl LateInteractionPageState {
    /// Returns the address of the documents of a query.
    pub(super) fn query_href(self, query: usize) -> String {
        self.href_after_change(|it| {
            it.query = Some(query);
            it.doc_id = None;
        })
    }
}

impl LateInteractionView {
    /// Parses a view from the ranker in the path and the parameters of an address; parameters that
    /// cannot be parsed are ignored.
    pub(crate) fn from_address(
        ranker: Option<String>,
        get: ParameterLookup<'_>,
    ) -> LateInteractionView {
        let number = |key: &str| get(key)?.parse().ok();
        let word = |key: &str| get(key).filter(|it| !it.is_empty());
        LateInteractionView {
            ranker,
            term: word("term"),
            query: number("query"),
            doc_id: word("doc"),
        }
    }

    /// Returns the address of the Late interaction page of a study in this view. Default values are
    /// left out.
    pub(crate) fn href(&self, study: &str) -> String {
        let mut pairs: Vec<(&'static str, String)> = Vec::new();
        pairs.extend(self.term.clone().map(|it| ("term", it)));
        pairs.extend(self.query.map(|it| ("query", it.to_string())));
        pairs.extend(self.doc_id.clone().map(|it| ("doc", it)));
        let page = PageRoute::LateInteraction {
            study: study.to_owned(),
            ranker: self.ranker.clone(),
        };
        page.href_with(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_survives_its_address() {
        let view = LateInteractionView {
            ranker: Some("minilm-late".to_owned()),
            term: Some("c++".to_owned()),
            query: Some(0),
            doc_id: Some("d 1".to_owned()),
        };
        let href = "/studies/demo/late-interaction/minilm-late?term=c%2B%2B&query=0&doc=d%201";
        assert_eq!(view.href("demo"), href);
        let get = |key: &str| {
            let value = match key {
                "term" => "c++",
                "query" => "0",
                "doc" => "d 1",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let ranker = view.ranker.clone();
        assert_eq!(LateInteractionView::from_address(ranker, &get), view);
        let odd = LateInteractionView::from_address(None, &|_| Some("".to_owned()));
        assert_eq!(odd, LateInteractionView::default());
        assert_eq!(odd.href("demo"), "/studies/demo/late-interaction");
    }
}
