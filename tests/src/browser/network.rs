//! The network of a browser, which its developer tools can cut.

use serde_json::json;

use super::tab::BrowserTab;

/// Whether a page reaches its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NetworkState {
    Online,
    Offline,
}

impl BrowserTab {
    /// Connects or disconnects the network of the browser. The page notices it as with a real
    /// network.
    pub(super) fn network(&self, network: NetworkState) {
        self.devtools("Network.enable", json!({}));
        let conditions = json!({
            "offline": network == NetworkState::Offline,
            "latency": 0,
            "downloadThroughput": -1,
            "uploadThroughput": -1,
        });
        self.devtools("Network.emulateNetworkConditions", conditions);
        let online = match network {
            NetworkState::Online => "return navigator.onLine",
            NetworkState::Offline => "return !navigator.onLine",
        };
        self.wait_until("the page to hear of the network", online);
    }
}
