-- A session of a user in Neovim; what was seen goes to the file named in $SEEN as JSON.
local seen = {}
vim.opt.runtimepath:append(vim.env.EDITORS .. "/vim")
vim.g.crondor_command = vim.fn.json_decode(vim.env.COMMAND)
dofile(vim.env.EDITORS .. "/nvim/crondor.lua")
vim.cmd("filetype plugin on | syntax on")

local function wait(what)
  assert(vim.wait(60000, what, 20), "nothing came")
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 120000)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
end

local ok, fault = pcall(function()
  vim.cmd("edit " .. vim.env.FILE)
  seen.filetype = vim.bo.filetype
  seen.syntax = vim.fn.synIDattr(vim.fn.synID(2, 1, 1), "name")
  wait(function() return #vim.diagnostic.get(0) > 0 end)
  seen.found = vim.tbl_map(function(each) return { each.code, each.lnum, each.col } end, vim.diagnostic.get(0))
  vim.api.nvim_win_set_cursor(0, { 3, 2 })
  local place = vim.lsp.util.make_position_params()
  seen.hover = ask("textDocument/hover", place).contents.value
  vim.api.nvim_win_set_cursor(0, { 4, 0 })
  seen.completion = #ask("textDocument/completion", vim.lsp.util.make_position_params()).items
  vim.cmd("CrondorFix")
  seen.text = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  wait(function()
    return #vim.tbl_filter(function(each) return each.code == "CRN501" end, vim.diagnostic.get(0)) == 0
  end)
  vim.g.crondor_fix_on_save = true
  vim.api.nvim_buf_set_lines(0, 1, 2, false, { "cron_minutes = 1" })
  vim.cmd("write")
  seen.saved = vim.fn.readfile(vim.env.FILE)
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { "# every 2 days at 06:00 from 2026-11-20" })
  vim.api.nvim_win_set_cursor(0, { 1, 4 })
  local range = vim.lsp.util.make_range_params()
  range.context = { diagnostics = {} }
  for _, action in ipairs(ask("textDocument/codeAction", range)) do
    if action.title == "Compile this schedule" then
      ask("workspace/executeCommand", { command = action.command.command, arguments = action.command.arguments })
    end
  end
  seen.compiled = vim.api.nvim_buf_get_lines(0, 0, -1, false)
end)
if not ok then
  seen.fault = fault
end
vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.SEEN)
vim.cmd("qall!")
