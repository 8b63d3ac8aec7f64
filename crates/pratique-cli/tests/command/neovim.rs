//! The language server in Neovim, a client that is none of ours; with the configuration of `docs/editors.md`, where the
//! Neovim is new enough for it.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::Directory;

const POLICY: &str = include_str!("../../../../testdata/editors/policy.yaml");
const BINDING: &str = include_str!("../../../../testdata/editors/binding.yaml");

/// Looks at what a user would see, and mends the mistake.
const SESSION: &str = "
if vim.lsp.config then
  dofile('config.lua')
  vim.cmd('doautocmd FileType')
else
  local client = vim.lsp.start_client({ name = 'pratique', cmd = { 'pratique', 'lsp' }, root_dir = vim.fn.getcwd() })
  vim.lsp.buf_attach_client(0, client)
end
local function wait(name, seen)
  if not vim.wait(120000, seen, 20) then
    print('never seen: ' .. name)
    vim.cmd('cquit')
  end
end
wait('a problem', function() return #vim.diagnostic.get(0) > 0 end)
local found = vim.diagnostic.get(0)[1]
print(string.format('%d:%d %d %s\\n', found.lnum, found.col, found.severity, found.message))
vim.api.nvim_win_set_cursor(0, { found.lnum + 1, found.col })
local params = vim.lsp.util.make_range_params(0, 'utf-16')
params.context = { diagnostics = {} }
for _, answer in pairs(vim.lsp.buf_request_sync(0, 'textDocument/codeAction', params, 120000)) do
  for _, action in ipairs(answer.result) do
    print(action.title .. '\\n')
    vim.lsp.util.apply_workspace_edit(action.edit, 'utf-16')
  end
end
wait('the end of the problem', function() return #vim.diagnostic.get(0) == 0 end)
print(vim.api.nvim_buf_get_lines(0, found.lnum, found.lnum + 1, true)[1] .. '\\n')
vim.cmd('qall!')
";

#[test]
fn neovim_shows_a_problem_and_mends_it() {
    if Command::new("nvim").arg("--version").output().is_err() {
        eprintln!("NOT TESTED: there is no Neovim");
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/editors.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, config) = page.split_once("```lua\n").unwrap();
    let (config, _) = config.split_once("```").unwrap();
    let misspelt = POLICY.replacen("object.spec.replicas", "objct.spec.replicas", 1);
    let directory = Directory::new()
        .with("policy.yaml", format!("{misspelt}---\n{BINDING}"))
        .with("pratique.yaml", "")
        .with("config.lua", config)
        .with("session.lua", SESSION);
    let program = Path::new(env!("CARGO_BIN_EXE_pratique"))
        .parent()
        .unwrap()
        .to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(std::iter::once(program).chain(env::split_paths(&others))).unwrap();
    let run = Command::new("nvim")
        .args([
            "--headless",
            "--clean",
            "-n",
            "policy.yaml",
            "-c",
            "luafile session.lua",
        ])
        .current_dir(directory.path())
        .env("PATH", path)
        .env("HOME", directory.path())
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&run.stderr).replace('\r', "");
    assert!(run.status.success(), "{messages}");
    for expected in [
        "12:16 1 ",
        "undeclared reference to 'objct'",
        "Replace it with `object`",
        "  - expression: object.spec.replicas <= variables.most",
    ] {
        assert!(messages.contains(expected), "{expected}: {messages}");
    }
}
