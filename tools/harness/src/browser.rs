//! A browser without a window, driven over WebDriver.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{RunningProcess, ToolError, free_port};

/// A session of a browser. It is ended when this goes.
pub struct BrowserSession {
    session: String,
    _driver: RunningProcess,
}

/// The driver of Chromium, where it is installed.
pub fn driver() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join("chromedriver"))
        .find(|file| file.is_file())
}

impl BrowserSession {
    /// Starts one, with its state in a folder.
    pub fn start(driver: &Path, state: &Path) -> Result<Self, ToolError> {
        let port = free_port()?;
        let mut command = Command::new(driver);
        command.arg(format!("--port={port}"));
        let mut driver = RunningProcess::start(command, &state.join("driver.log"))?;
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
        Ok(BrowserSession {
            session: format!("{url}/session/{id}"),
            _driver: driver,
        })
    }

    /// Opens a page and waits until it is there.
    pub fn open(&self, url: &str) -> Result<(), ToolError> {
        self.post("url", &json!({"url": url})).map(drop)
    }

    /// Runs a script in the page, outside of its content security policy, and returns the result.
    pub fn ask(&self, script: &str) -> Result<Value, ToolError> {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    /// The errors that the browser has logged since the last call.
    pub fn complaints(&self) -> Result<Vec<String>, ToolError> {
        let log = self.post("se/log", &json!({"type": "browser"}))?;
        let entries = log.as_array().into_iter().flatten();
        Ok(entries.map(|entry| at(entry, "/message").to_string()).collect())
    }

    /// Checks that the browser has logged no error since the last call.
    pub fn quiet(&self) -> Result<String, ToolError> {
        let complaints = self.complaints()?;
        if complaints.is_empty() {
            Ok("no complaints in the console".to_owned())
        } else {
            Err(complaints.join("\n").into())
        }
    }

    /// How wide the screen is that pages are shown on, which may be less than a window can be; `None` is the window.
    pub fn screen(&self, pixels: Option<u32>) -> Result<(), ToolError> {
        let command = match pixels {
            Some(pixels) => json!({"cmd": "Emulation.setDeviceMetricsOverride",
                "params": {"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": false}}),
            None => json!({"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}}),
        };
        self.post("goog/cdp/execute", &command).map(drop)
    }

    /// Whether pages are to be dark.
    pub fn dark(&self, dark: bool) -> Result<(), ToolError> {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        let command = json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}});
        self.post("goog/cdp/execute", &command).map(drop)
    }

    /// A picture of the page: a PNG, in base64.
    pub fn picture(&self) -> Result<String, ToolError> {
        self.screenshot(&json!({"captureBeyondViewport": true}))
    }

    /// A picture of the visible part of the page: a WebP, which is small, in base64.
    pub fn view(&self) -> Result<String, ToolError> {
        self.screenshot(&json!({"format": "webp", "quality": 80}))
    }

    fn screenshot(&self, params: &Value) -> Result<String, ToolError> {
        let command = json!({"cmd": "Page.captureScreenshot", "params": params});
        let picture = self.post("goog/cdp/execute", &command)?;
        Ok(at(&picture, "/data").as_str().unwrap_or_default().to_owned())
    }

    /// Types a text into what has the focus.
    ///
    /// # Errors
    /// When the driver does not answer.
    pub fn insert(&self, text: &str) -> Result<(), ToolError> {
        let command = json!({"cmd": "Input.insertText", "params": {"text": text}});
        self.post("goog/cdp/execute", &command).map(drop)
    }

    /// Presses a key by its name, such as `Tab` or `ArrowRight`.
    ///
    /// # Errors
    /// When the driver does not answer.
    pub fn press(&self, key: &str) -> Result<(), ToolError> {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            _ => 0,
        };
        for event in ["rawKeyDown", "keyUp"] {
            let params = json!({"type": event, "key": key, "code": key, "windowsVirtualKeyCode": code});
            let command = json!({"cmd": "Input.dispatchKeyEvent", "params": params});
            self.post("goog/cdp/execute", &command)?;
        }
        Ok(())
    }

    fn post(&self, command: &str, body: &Value) -> Result<Value, ToolError> {
        value(&curl(&format!("{}/{command}", self.session), Some(body))?)
    }
}

impl Drop for BrowserSession {
    fn drop(&mut self) {
        // The driver ends its browser only on request; failures cannot be handled.
        let _ = Command::new("curl")
            .args(["--silent", "--request", "DELETE", &self.session])
            .output();
    }
}

fn value(answer: &str) -> Result<Value, ToolError> {
    let mut answer: Value = serde_json::from_str(answer).map_err(|error| format!("{error}: {answer}"))?;
    answer
        .get_mut("value")
        .map(Value::take)
        .ok_or_else(|| ToolError::from(format!("the driver answers {answer}")))
}

/// The value at a JSON pointer; null if there is none.
pub fn at<'v>(value: &'v Value, place: &str) -> &'v Value {
    value.pointer(place).unwrap_or(&Value::Null)
}

/// Checks that an observed value is the expected one.
pub fn equal(actual: &Value, expected: &Value) -> Result<(), ToolError> {
    if actual == expected {
        Ok(())
    } else {
        Err(format!("{actual} is seen, {expected} expected").into())
    }
}

/// Gets a URL, or posts to it, whatever its certificate.
pub fn curl(url: &str, body: Option<&Value>) -> Result<String, ToolError> {
    let failed = |error: std::io::Error| format!("curl: {error}");
    let mut command = Command::new("curl");
    command.args(["--silent", "--show-error", "--fail-with-body", "--insecure", url]);
    if body.is_some() {
        command.args([
            "--header",
            "Content-Type: application/json",
            "--data-binary",
            "@-",
        ]);
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let (Some(mut input), Some(body)) = (child.stdin.take(), body) {
        input.write_all(body.to_string().as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        Err(format!("{url}: {}{text}", String::from_utf8_lossy(&output.stderr)).into())
    }
}
