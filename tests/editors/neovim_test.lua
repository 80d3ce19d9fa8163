-- A real editor drives `ebb lsp`: Neovim without a window, with the configuration that we ship.
-- Environment: EBB_COMMAND, EBB_SOURCE_DIR, EBB_WORK_DIR.
local source = os.getenv("EBB_SOURCE_DIR")
local folder = os.getenv("EBB_WORK_DIR")
package.path = source .. "/editors/neovim/?.lua;" .. package.path

-- Only a guard against hanging forever; nothing depends on how long anything takes.
local GUARD = 60000

local function fail(text)
  io.stderr:write("FAILED: " .. text .. "\n")
  vim.cmd("cquit 1")
end

local function expect(condition, text)
  if not condition then
    fail(text)
  end
end

local function wait_for(text, condition)
  expect(vim.wait(GUARD, condition, 10), "waited for " .. text)
end

local function ask(buffer, method, line, character, more)
  local params = vim.tbl_extend("force", {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = { line = line, character = character },
  }, more or {})
  local answers = vim.lsp.buf_request_sync(buffer, method, params, GUARD)
  for _, answer in pairs(answers or {}) do
    return answer.result
  end
end

local function main()
  vim.fn.mkdir(folder, "p")
  local path = folder .. "/order.yaml"
  vim.fn.writefile({
    "workflow: order",
    "deadline: 1h",
    "steps:",
    "  - step: reserve",
    "    timout: 5s",
    "  - step: charge",
    '    input: {id: "é😀 ${steps.reserve.output}"}',
  }, path)
  require("ebb").setup({ cmd = { os.getenv("EBB_COMMAND"), "lsp" } })
  vim.cmd("filetype on")
  vim.cmd("edit " .. path)
  local buffer = vim.api.nvim_get_current_buf()
  wait_for("a diagnostic", function()
    return #vim.diagnostic.get(buffer) == 1
  end)
  local problem = vim.diagnostic.get(buffer)[1]
  expect(problem.lnum == 4 and problem.col == 4 and problem.end_col == 10, vim.inspect(problem))
  expect(problem.message:find("timeout"), problem.message)

  local hover = ask(buffer, "textDocument/hover", 3, 10)
  expect(hover and hover.contents.value:find("reserve"), "hover: " .. vim.inspect(hover))
  local definition = ask(buffer, "textDocument/definition", 6, 30)
  expect(definition and definition.range.start.line == 3, "definition: " .. vim.inspect(definition))
  local completion = ask(buffer, "textDocument/completion", 4, 7)
  local labels = {}
  for _, item in ipairs(completion.items) do
    labels[item.label] = true
  end
  expect(labels.timeout and not labels.when, "completion: " .. vim.inspect(completion))

  vim.api.nvim_buf_set_text(buffer, 4, 4, 4, 10, { "timeout" })
  wait_for("no diagnostic", function()
    return #vim.diagnostic.get(buffer) == 0
  end)

  local edit = ask(buffer, "textDocument/rename", 3, 10, { newName = "hold" })
  vim.lsp.util.apply_workspace_edit(edit, "utf-16")
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
  expect(text:find("step: hold\n    handler: reserve\n", 1, true), text)
  expect(text:find("é😀 ${steps.hold.output}", 1, true), text)

  -- In place of a file of an earlier run.
  local picture = folder .. "/order.svg"
  vim.fn.delete(picture)
  vim.cmd("EbbDiagram " .. picture)
  wait_for("the picture", function()
    return vim.fn.filereadable(picture) == 1
  end)
  expect(table.concat(vim.fn.readfile(picture)):find("<svg", 1, true), "the picture is SVG")
  vim.cmd("EbbDiagram")
  wait_for("the window with the picture", function()
    return vim.bo.buftype == "nofile"
  end)
  expect(vim.fn.search("hold") > 0, "the picture as text")
  io.stdout:write("Neovim: diagnostics, hover, definition, completion, rename and the picture work.\n")
end

local ok, problem = xpcall(main, debug.traceback)
if not ok then
  fail(problem)
end
vim.cmd("qall!")
