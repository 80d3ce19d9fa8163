-- Starts `ebb lsp` for YAML and JSON buffers: Neovim 0.7 or later.
--   require("ebb").setup({ cmd = { "ebb", "lsp" } })
-- :EbbDiagram shows the picture of the workflow as text; :EbbDiagram FILE writes it as
-- .svg, .mmd, .dot, .puml or .txt.
local M = {}

local clients = {}

local formats = { svg = "svg", mmd = "mermaid", dot = "dot", gv = "dot", puml = "plantuml", txt = "text" }

--- Attaches the language server to a buffer. Buffers of one folder share a server.
function M.attach(buffer, options)
  local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ":p:h")
  local client = clients[folder]
  if not client or not vim.lsp.get_client_by_id(client) then
    client = vim.lsp.start_client({
      name = "ebb",
      cmd = options.cmd or { "ebb", "lsp" },
      root_dir = folder,
      handlers = { ["ebb/didChangeDiagram"] = function() end },
    })
    clients[folder] = client
  end
  if client then
    vim.lsp.buf_attach_client(buffer, client)
  end
  return client
end

local function show(text)
  vim.cmd("botright vnew")
  local buffer = vim.api.nvim_get_current_buf()
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, "\n"))
  for name, value in pairs({ buftype = "nofile", bufhidden = "wipe", swapfile = false, modifiable = false }) do
    vim.api.nvim_buf_set_option(buffer, name, value)
  end
end

--- Shows the picture of a buffer's workflow, or writes it to a file whose ending names the format.
function M.diagram(buffer, path)
  local format = path == "" and "text" or formats[path:match("%.(%w+)$")]
  if not format then
    vim.notify("The ending is none of .svg, .mmd, .dot, .gv, .puml and .txt.", vim.log.levels.ERROR)
    return
  end
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = { line = row - 1, character = column },
    format = format,
  }
  vim.lsp.buf_request(buffer, "ebb/diagram", params, function(problem, picture)
    if problem then
      vim.notify(problem.message, vim.log.levels.ERROR)
    elseif path == "" then
      show(picture.text)
    else
      vim.fn.writefile(vim.split(picture.text or picture.svg, "\n"), path, "b")
    end
  end)
end

function M.setup(options)
  options = options or {}
  vim.api.nvim_create_autocmd("FileType", {
    pattern = { "yaml", "json" },
    callback = function(event)
      M.attach(event.buf, options)
    end,
  })
  vim.api.nvim_create_user_command("EbbDiagram", function(command)
    M.diagram(vim.api.nvim_get_current_buf(), command.args)
  end, { nargs = "?", complete = "file" })
end

return M
