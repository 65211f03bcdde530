//! The network of a browser, cut by its developer tools.

use serde_json::json;

use super::tab::Tab;

/// Whether a page reaches its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    There,
    Cut,
}

impl Tab {
    /// Gives the browser its network, or cuts it. The page is told as by a real one.
    pub(super) fn network(&self, network: Network) {
        self.tool("Network.enable", json!({}));
        let conditions = json!({
            "offline": network == Network::Cut,
            "latency": 0,
            "downloadThroughput": -1,
            "uploadThroughput": -1,
        });
        self.tool("Network.emulateNetworkConditions", conditions);
        let online = match network {
            Network::There => "return navigator.onLine",
            Network::Cut => "return !navigator.onLine",
        };
        self.until("the page to hear of the network", online);
    }
}
