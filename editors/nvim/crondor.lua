-- Starts `crondor lsp` for HTCondor's files and for crontabs, in Neovim 0.7 and later:
--   vim.opt.runtimepath:append("/path/to/crondor/editors/vim")
--   dofile("/path/to/crondor/editors/nvim/crondor.lua")
local command = vim.g.crondor_command or { "crondor", "lsp" }
local languages = { "htcondor-submit", "htcondor-config", "htcondor-transform", "classad", "crontab", "htcondor-dag" }

if vim.lsp.config then -- 0.11
  vim.lsp.config("crondor", { cmd = command, filetypes = languages, root_markers = { "crondor.toml", ".git" } })
  vim.lsp.enable("crondor")
else
  local clients = {}
  vim.api.nvim_create_autocmd("FileType", {
    pattern = languages,
    callback = function(event)
      local file = vim.api.nvim_buf_get_name(event.buf)
      local folder = vim.fn.fnamemodify(file, ":p:h")
      local marker = vim.fn.findfile("crondor.toml", folder .. ";")
      local root = marker ~= "" and vim.fn.fnamemodify(marker, ":p:h") or folder
      if vim.lsp.start then -- 0.8
        vim.lsp.start({ name = "crondor", cmd = command, root_dir = root })
        return
      end
      clients[root] = clients[root] or vim.lsp.start_client({ name = "crondor", cmd = command, root_dir = root })
      vim.lsp.buf_attach_client(event.buf, clients[root])
    end,
  })
end

-- :CrondorFix makes all safe fixes of the text; with `vim.g.crondor_fix_on_save` they are made on each save.
local function fix(buffer)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 0 } },
    context = { diagnostics = {}, only = { "source.fixAll" } },
  }
  for id, answer in pairs(vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", params, 3000) or {}) do
    local client = vim.lsp.get_client_by_id(id)
    for _, action in ipairs(answer.result or {}) do
      if action.edit then
        vim.lsp.util.apply_workspace_edit(action.edit, client and client.offset_encoding or "utf-16")
      end
    end
  end
end

vim.api.nvim_create_user_command("CrondorFix", function()
  fix(vim.api.nvim_get_current_buf())
end, { desc = "Make all safe fixes of crondor check" })

vim.api.nvim_create_autocmd("BufWritePre", {
  callback = function(event)
    if vim.g.crondor_fix_on_save and vim.tbl_contains(languages, vim.bo[event.buf].filetype) then
      fix(event.buf)
    end
  end,
})
