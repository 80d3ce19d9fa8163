-- Starts `ebb lsp` for YAML and JSON buffers: Neovim 0.7 or later.
--   require("ebb").setup({ cmd = { "ebb", "lsp" } })
local M = {}

local clients = {}

--- Attaches the language server to a buffer. Buffers of one folder share a server.
function M.attach(buffer, options)
  local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ":p:h")
  local client = clients[folder]
  if not client or not vim.lsp.get_client_by_id(client) then
    client = vim.lsp.start_client({
      name = "ebb",
      cmd = options.cmd or { "ebb", "lsp" },
      root_dir = folder,
    })
    clients[folder] = client
  end
  if client then
    vim.lsp.buf_attach_client(buffer, client)
  end
  return client
end

function M.setup(options)
  options = options or {}
  vim.api.nvim_create_autocmd("FileType", {
    pattern = { "yaml", "json" },
    callback = function(event)
      M.attach(event.buf, options)
    end,
  })
end

return M
