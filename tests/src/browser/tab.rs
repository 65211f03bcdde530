//! A browser with one tab, used as a person would: elements are found by role and name, and waited
//! for.

use std::num::NonZero;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use thirtyfour::common::command::FormatRequestData;
use thirtyfour::prelude::*;
use thirtyfour::{RequestData, SessionId};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::driver::{DRIVER, capabilities};
use crate::harness::{TestDependency, or_skip, path_from_environment};

/// How long to wait on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(60);
const HEIGHT: u32 = 900;
const PAUSE: Duration = Duration::from_millis(50);

/// Opens a tab on a site, calls `act`, and closes the browser. The test fails if an error is
/// written to the console. Without a browser the test is skipped.
pub(crate) fn with_tab(origin: &str, act: impl FnOnce(&BrowserTab)) {
    let browser = path_from_environment("CHROMIUM").and(path_from_environment("CHROMEDRIVER"));
    if or_skip(browser, TestDependency::Browser, "no browser").is_none() {
        return;
    }
    let tab = BrowserTab::start(origin, Some(&TURNS));
    act(&tab);
    tab.expect_no_console_errors();
}

/// A browser with an empty profile.
pub(crate) struct BrowserTab {
    /// None once the browser is closed.
    driver: Option<WebDriver>,
    runtime: Runtime,
    origin: String,
    _profile: tempfile::TempDir,
    /// None for a second browser, which runs in the turn of the first.
    _turn: Option<SemaphorePermit<'static>>,
}

/// The role of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AriaRole {
    Button,
    Link,
    Radio,
    Checkbox,
    Textbox,
    Select,
}

impl AriaRole {
    fn selector(self) -> &'static str {
        match self {
            AriaRole::Button => "button, [role=button], summary",
            AriaRole::Link => "a[href]",
            AriaRole::Radio => "input[type=radio], [role=radio]",
            AriaRole::Checkbox => "input[type=checkbox]",
            AriaRole::Textbox => {
                "textarea, [contenteditable], input:not([type]), input[type=text], \
                 input[type=search], input[type=number], input[type=password]"
            }
            AriaRole::Select => "select",
        }
    }
}

/// Finds an element by selector and the beginning of its name. For a radio button or checkbox that
/// is drawn by its label, this is the label.
const FIND: &str = r#"
    const [selector, name] = arguments;
    const plain = text => (text || '').replace(/\s+/g, ' ').trim();
    const shown = it => it.getClientRects().length > 0;
    const nameOf = it => {
        if (it.getAttribute('aria-label')) return plain(it.getAttribute('aria-label'));
        const by = it.getAttribute('aria-labelledby');
        const text = id => document.getElementById(id)?.textContent;
        if (by) return plain(by.split(' ').map(text).join(' '));
        if (it.labels && it.labels.length) return plain(it.labels[0].textContent);
        return plain(it.textContent) || plain(it.title);
    };
    const drawn = it => ['radio', 'checkbox'].includes(it.type) && it.labels?.length;
    const target = it => drawn(it) ? it.labels[0] : it;
    const found = [...document.querySelectorAll(selector)].filter(it => shown(target(it)));
    const exact = found.find(it => nameOf(it) === name);
    const first = exact || found.find(it => nameOf(it).startsWith(name));
    return first ? target(first) : null;
"#;

impl BrowserTab {
    fn start(origin: &str, turns: Option<&'static Semaphore>) -> BrowserTab {
        /// How often a browser is started: on a busy machine one ends now and then at once.
        const STARTS: usize = 3;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.unwrap();
        let turn = turns.map(|it| runtime.block_on(it.acquire()).unwrap());
        let start = || {
            let profile = tempfile::tempdir_in(&DRIVER.scratch).unwrap();
            let capabilities = capabilities(profile.path()).unwrap();
            let driver = runtime.block_on(WebDriver::new(&*DRIVER.origin, capabilities));
            driver.map(|it| (profile, it))
        };
        let mut started = start();
        for _ in 1..STARTS {
            started = started.or_else(|_| start());
        }
        let (profile, driver) = started.expect("chromium starts");
        let tab = BrowserTab {
            driver: Some(driver),
            runtime,
            origin: origin.to_owned(),
            _profile: profile,
            _turn: turn,
        };
        tab.runtime
            .block_on(tab.driver().set_script_timeout(Duration::from_secs(300)))
            .unwrap();
        tab
    }

    /// Opens the browser of another person on the same site. It must be idle while the first one is
    /// used.
    pub(crate) fn second_browser(&self) -> BrowserTab {
        BrowserTab::start(&self.origin, None)
    }

    fn driver(&self) -> &WebDriver {
        self.driver.as_ref().unwrap()
    }

    /// Loads a path of the site.
    pub(crate) fn open(&self, path: &str) {
        self.visit(&format!("{}{path}", self.origin));
        let drawn = "body:not(:has(> #first-paint)) main :is(h1, .failure)";
        self.wait_for_element("the page is drawn", drawn);
    }

    /// Loads an address of any site.
    pub(super) fn visit(&self, address: &str) {
        let gone = self.runtime.block_on(self.driver().goto(address));
        gone.unwrap_or_else(|it| panic!("opening {address}: {it}"));
    }

    /// Runs a script with `arguments` and returns its value.
    pub(crate) fn js(&self, script: &str, arguments: &[Value]) -> Value {
        let ran = self
            .runtime
            .block_on(self.driver().execute(script, arguments));
        ran.unwrap_or_else(|it| panic!("script failed: {it}\n{script}"))
            .json()
            .clone()
    }

    /// Runs the body of an async function with `arguments` and waits for its value.
    pub(crate) fn js_async(&self, body: &str, arguments: &[Value]) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];
             const given = [...arguments].slice(0, -1);
             (async (...arguments) => {{ {body} }})(...given)
                 .then(it => done([it ?? null, null]), why => done([null, String(why)]));"
        );
        let ran = self
            .runtime
            .block_on(self.driver().execute_async(script, arguments));
        let ran = ran
            .unwrap_or_else(|it| panic!("script failed: {it}\n{body}"))
            .json()
            .clone();
        assert_eq!(ran[1], Value::Null, "script failed:\n{body}");
        ran[0].clone()
    }

    /// Waits until a script returns a truthy value, and returns it.
    pub(crate) fn wait_until(&self, what: &str, script: &str) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            let found = self.js(script, &[]);
            if !matches!(found, Value::Null | Value::Bool(false)) && found != json!("") {
                return found;
            }
            if Instant::now() > end {
                self.give_up(what);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Checks that each of these headings occurs once on the page.
    pub(crate) fn expect_headings(&self, ids: &[&str]) {
        for id in ids {
            assert_eq!(self.count(&format!("h2#{id}")), 1, "{id}");
        }
    }

    /// Waits until an element exists.
    pub(crate) fn wait_for_element(&self, what: &str, selector: &str) {
        let script = format!("return !!document.querySelector({})", json!(selector));
        self.wait_until(what, &script);
    }

    /// Waits until the number of elements satisfies a bound such as `>= 2`.
    pub(crate) fn wait_for_count(&self, what: &str, selector: &str, bound: &str) {
        let all = format!("document.querySelectorAll({})", json!(selector));
        self.wait_until(what, &format!("return {all}.length {bound}"));
    }

    /// Waits until the page shows a text.
    pub(crate) fn wait_for_text(&self, text: &str) {
        let script = format!(
            "return document.body.innerText.replace(/\\s+/g, ' ').includes({})",
            json!(text)
        );
        self.wait_until(&format!("to see `{text}`"), &script);
    }

    /// Waits for an exact address: path, query string and fragment.
    pub(crate) fn at_exactly(&self, address: &str) {
        let script = format!(
            "return location.pathname + location.search + location.hash === {}",
            json!(address)
        );
        self.wait_until(&format!("to be at {address} exactly"), &script);
    }

    /// Waits for what a script returns, and again after the page is reloaded.
    pub(crate) fn wait_until_before_and_after_reload(&self, what: &str, script: &str) {
        self.wait_until(what, script);
        self.reload();
        self.wait_until(what, script);
    }

    /// Clicks on a link and waits for an address with this beginning.
    pub(crate) fn follow_link(&self, name: &str, address: &str) {
        self.click(AriaRole::Link, name);
        self.wait_for_address(address);
    }

    /// Waits for an address with this beginning: path, query string and fragment.
    pub(crate) fn wait_for_address(&self, address: &str) {
        assert_ne!(address, "/", "every address begins so: take `at_exactly`");
        let script = format!(
            "return (location.pathname + location.search + location.hash).startsWith({})",
            json!(address)
        );
        self.wait_until(&format!("to be at {address}"), &script);
    }

    /// Returns the path, query string and fragment of the address.
    pub(crate) fn address(&self) -> String {
        let address = self.js(
            "return location.pathname + location.search + location.hash",
            &[],
        );
        address.as_str().unwrap_or_default().to_owned()
    }

    /// Waits for the first element of a selector, and returns its text.
    pub(crate) fn text(&self, selector: &str) -> String {
        let script = format!(
            "return document.querySelector({})?.innerText",
            json!(selector)
        );
        let text = self.wait_until(&format!("a text in {selector}"), &script);
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits for an element in the section of a heading, and returns its text.
    pub(crate) fn text_of(&self, heading: &str, selector: &str) -> String {
        let script = format!(
            "return document.querySelector({})?.closest('section')
                .querySelector({})?.textContent",
            json!(heading),
            json!(selector)
        );
        let text = self.wait_until(&format!("a text in {selector} below {heading}"), &script);
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Returns how many elements match a selector now.
    pub(crate) fn count(&self, selector: &str) -> u64 {
        let script = "return document.querySelectorAll(arguments[0]).length";
        self.js(script, &[json!(selector)])
            .as_u64()
            .unwrap_or_default()
    }

    /// Clicks an element by its role and the beginning of its name.
    pub(crate) fn click(&self, role: AriaRole, name: &str) {
        self.click_on(
            FIND,
            &[json!(role.selector()), json!(name)],
            &format!("{role:?} `{name}`"),
        );
    }

    /// Clicks the first element of a selector.
    pub(crate) fn click_at(&self, selector: &str) {
        self.click_on(
            "return document.querySelector(arguments[0])",
            &[json!(selector)],
            selector,
        );
    }

    fn click_on(&self, script: &str, arguments: &[Value], what: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(element) = self.query_element(script, arguments)
                && self.runtime.block_on(element.click()).is_ok()
            {
                return;
            }
            if Instant::now() > end {
                self.give_up(&format!("to click on {what}"));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits for an element with this role and this beginning of its name.
    pub(crate) fn find(&self, role: AriaRole, name: &str) -> WebElement {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(element) = self.query_element(FIND, &[json!(role.selector()), json!(name)])
            {
                return element;
            }
            if Instant::now() > end {
                self.give_up(&format!("to find {role:?} `{name}`"));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Returns whether an element with this role and name exists now.
    pub(crate) fn has(&self, role: AriaRole, name: &str) -> bool {
        self.query_element(FIND, &[json!(role.selector()), json!(name)])
            .is_some()
    }

    /// Replaces the text of a field.
    pub(crate) fn fill(&self, name: &str, text: &str) {
        let field = self.find(AriaRole::Textbox, name);
        self.runtime.block_on(async {
            // `clear` sends no input event to the page; a person selects the text and types over
            // it.
            field.send_keys(Key::Control + "a").await.unwrap();
            field.send_keys(Key::Delete + text).await.unwrap();
        });
    }

    /// Selects an option of a drop-down list by its label.
    pub(crate) fn choose(&self, name: &str, option: &str) {
        let select = self.find(AriaRole::Select, name);
        let chosen = self.runtime.block_on(async {
            let by = By::XPath(format!("./option[normalize-space()='{option}']"));
            select.find(by).await?.click().await
        });
        chosen.unwrap_or_else(|it| panic!("choosing {option} in {name}: {it}"));
    }

    /// Presses keys, one after the other, on the focused element.
    pub(crate) fn press(&self, keys: impl Into<TypingData>) {
        let keys = self.driver().action_chain().send_keys(keys);
        self.runtime.block_on(keys.perform()).unwrap();
    }

    /// Goes back to the previous page.
    pub(crate) fn back(&self) {
        self.runtime.block_on(self.driver().back()).unwrap();
    }

    /// Loads the current page again.
    pub(crate) fn reload(&self) {
        self.runtime.block_on(self.driver().refresh()).unwrap();
    }

    /// Selects files in a file input.
    pub(crate) fn upload(&self, selector: &str, files: &[&Path]) {
        let files: Vec<String> = files.iter().map(|it| it.display().to_string()).collect();
        let script = "return document.querySelector(arguments[0])";
        let end = Instant::now() + PATIENCE;
        let input = loop {
            match self.query_element(script, &[json!(selector)]) {
                Some(input) => break input,
                None if Instant::now() > end => self.give_up(&format!("to find {selector}")),
                None => std::thread::sleep(PAUSE),
            }
        };
        let given = self.runtime.block_on(input.send_keys(files.join("\n")));
        given.unwrap_or_else(|it| panic!("bringing {files:?}: {it}"));
    }

    /// Presses a button that downloads a file into a folder, and returns the file's text.
    pub(crate) fn download(&self, folder: &Path, button: &str, name: &str) -> String {
        let way = json!({"behavior": "allow", "downloadPath": folder.display().to_string()});
        self.devtools("Browser.setDownloadBehavior", way);
        self.click(AriaRole::Button, button);
        let end = Instant::now() + PATIENCE;
        loop {
            // The browser gives the file its name when it is complete.
            if let Ok(text) = std::fs::read_to_string(folder.join(name))
                && !text.is_empty()
            {
                return text;
            }
            assert!(Instant::now() < end, "{name} was not downloaded");
            std::thread::sleep(PAUSE);
        }
    }

    /// Sets the width and the color scheme of the page.
    pub(crate) fn set_viewport(&self, width: u32, scheme: ColorScheme) {
        self.look(width, HEIGHT, scheme);
    }

    /// Sets the size and the color scheme of the page.
    pub(crate) fn look(&self, width: u32, height: u32, scheme: ColorScheme) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", size);
        let scheme = json!({"name": "prefers-color-scheme", "value": scheme.name()});
        self.devtools("Emulation.setEmulatedMedia", json!({"features": [scheme]}));
    }

    /// Runs a script in every page before its own scripts.
    pub(crate) fn before_pages(&self, script: &str) {
        self.devtools(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({"source": script}),
        );
    }

    /// Saves a screenshot of the whole page at a width.
    pub(crate) fn screenshot(&self, width: u32, scheme: ColorScheme, file: &Path) {
        let height = self.js("return document.documentElement.scrollHeight", &[]);
        self.look(
            width,
            height.as_u64().map_or(900, |it| it.min(5000) as u32),
            scheme,
        );
        std::thread::sleep(Duration::from_millis(300));
        self.runtime
            .block_on(self.driver().screenshot(file))
            .unwrap();
        self.look(width, HEIGHT, scheme);
    }

    /// Sends a command to the developer tools of the browser.
    pub(super) fn devtools(&self, command: &str, parameters: Value) -> Value {
        let asked = Tool {
            command: command.to_owned(),
            parameters,
        };
        let told = self.runtime.block_on(self.driver().cmd(asked));
        let told = told.and_then(|it| it.value_json());
        told.unwrap_or_else(|it| panic!("{command}: {it}"))
    }

    fn query_element(&self, script: &str, arguments: &[Value]) -> Option<WebElement> {
        let found = self
            .runtime
            .block_on(self.driver().execute(script, arguments))
            .ok()?;
        if found.json().is_null() {
            None
        } else {
            found.element().ok()
        }
    }

    /// Returns what was written to the console since the last call.
    fn console(&self) -> Vec<String> {
        let log = self
            .runtime
            .block_on(self.driver().browser_log())
            .unwrap_or_default();
        log.into_iter()
            .map(|it| format!("{}: {}", it.level, it.message))
            .collect()
    }

    /// Checks that all errors in the console so far contain a text; they are about requests that
    /// had to be refused.
    pub(crate) fn expect_in_console(&self, said: &str) {
        for it in self.console() {
            assert!(!it.starts_with("SEVERE") || it.contains(said), "{it}");
        }
    }

    /// Checks that no error was written to the console.
    pub(super) fn expect_no_console_errors(&self) {
        let errors: Vec<String> = self
            .console()
            .into_iter()
            .filter(|it| it.starts_with("SEVERE"))
            .collect();
        assert!(
            errors.is_empty(),
            "errors in the console:\n{}",
            errors.join("\n")
        );
    }

    fn give_up(&self, what: &str) -> ! {
        let address = self.address();
        let text = self.js("return document.body.innerText.slice(0, 3000)", &[]);
        let console = self.console().join("\n");
        panic!(
            "waited in vain: {what}\nat {address}\n--- page\n{}\n--- console\n{console}",
            text.as_str().unwrap_or_default()
        );
    }
}

impl Drop for BrowserTab {
    fn drop(&mut self) {
        if let Some(driver) = self.driver.take()
            && let Err(error) = self.runtime.block_on(driver.quit())
        {
            eprintln!("the browser did not end: {error}");
        }
    }
}

/// The color scheme of a page: light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColorScheme {
    Light,
    Dark,
}

impl ColorScheme {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ColorScheme::Light => "light",
            ColorScheme::Dark => "dark",
        }
    }
}

/// A command for the developer tools, which chromedriver forwards.
#[derive(Debug)]
struct Tool {
    command: String,
    parameters: Value,
}

impl FormatRequestData for Tool {
    fn format_request(&self, session: &SessionId) -> RequestData {
        RequestData::new(
            reqwest::Method::POST,
            format!("session/{session}/goog/cdp/execute"),
        )
        .add_body(json!({"cmd": self.command, "params": self.parameters}))
    }
}

/// One browser per processor runs at a time: more would take each other's time and time out.
static TURNS: LazyLock<Semaphore> = LazyLock::new(|| {
    let n_processors = std::thread::available_parallelism();
    Semaphore::new(n_processors.map_or(1, NonZero::get))
});
