//! A browser without a window, driven over WebDriver.

use std::path::{Path, PathBuf};
use std::process::Command;

use pratique_harness::{Error, Process, free_port};
use serde_json::{Value, json};

use super::served::curl;

/// A session of a browser. It is ended when this goes.
pub(super) struct Browser {
    session: String,
    _driver: Process,
}

/// The driver of Chromium, where it is installed.
pub(super) fn driver() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join("chromedriver"))
        .find(|file| file.is_file())
}

impl Browser {
    /// Starts one, with its state in a folder.
    pub(super) fn start(driver: &Path, state: &Path) -> Result<Self, Error> {
        let port = free_port()?;
        let mut command = Command::new(driver);
        command.arg(format!("--port={port}"));
        let mut driver = Process::start(command, &state.join("driver.log"))?;
        let url = format!("http://127.0.0.1:{port}");
        driver.wait_until("ready", |_| Ok(curl(&format!("{url}/status"), None).is_ok()))?;
        let profile = format!("--user-data-dir={}", state.join("profile").display());
        // What runs in the browser is our own page; the sandbox needs rights that containers lack.
        let options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            &profile,
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "acceptInsecureCerts": true,
            "goog:chromeOptions": {"args": options},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let begun = value(&curl(&format!("{url}/session"), Some(&wanted))?)?;
        let id = at(&begun, "/sessionId")
            .as_str()
            .ok_or("the driver gives no session")?;
        Ok(Browser {
            session: format!("{url}/session/{id}"),
            _driver: driver,
        })
    }

    /// Opens a page and waits until it is there.
    pub(super) fn open(&self, url: &str) -> Result<(), Error> {
        self.post("url", &json!({"url": url})).map(drop)
    }

    /// What a script returns, run in the page but not under its rules.
    pub(super) fn ask(&self, script: &str) -> Result<Value, Error> {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    /// What the browser has complained of since the last time.
    pub(super) fn complaints(&self) -> Result<Vec<String>, Error> {
        let log = self.post("se/log", &json!({"type": "browser"}))?;
        let entries = log.as_array().into_iter().flatten();
        Ok(entries.map(|entry| at(entry, "/message").to_string()).collect())
    }

    /// How wide the screen is that pages are shown on, which may be less than a window can be; `None` is the window.
    pub(super) fn screen(&self, pixels: Option<u32>) -> Result<(), Error> {
        let command = match pixels {
            Some(pixels) => json!({"cmd": "Emulation.setDeviceMetricsOverride",
                "params": {"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": false}}),
            None => json!({"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}}),
        };
        self.post("goog/cdp/execute", &command).map(drop)
    }

    /// Whether pages are to be dark.
    pub(super) fn dark(&self, dark: bool) -> Result<(), Error> {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        let command = json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}});
        self.post("goog/cdp/execute", &command).map(drop)
    }

    /// What the page looks like: a PNG, in base64.
    pub(super) fn picture(&self) -> Result<String, Error> {
        let command = json!({"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": true}});
        let picture = self.post("goog/cdp/execute", &command)?;
        Ok(at(&picture, "/data").as_str().unwrap_or_default().to_owned())
    }

    fn post(&self, command: &str, body: &Value) -> Result<Value, Error> {
        value(&curl(&format!("{}/{command}", self.session), Some(body))?)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser only if told to; nothing can be done where that fails.
        let _ = Command::new("curl")
            .args(["--silent", "--request", "DELETE", &self.session])
            .output();
    }
}

fn value(answer: &str) -> Result<Value, Error> {
    let mut answer: Value = serde_json::from_str(answer).map_err(|error| format!("{error}: {answer}"))?;
    answer
        .get_mut("value")
        .map(Value::take)
        .ok_or_else(|| Error::from(format!("the driver answers {answer}")))
}

/// What is at a place; null where nothing is.
pub(super) fn at<'v>(value: &'v Value, place: &str) -> &'v Value {
    value.pointer(place).unwrap_or(&Value::Null)
}
