-- One query an event: the load of bench/system/run.py, for sysbench.
--   --kind=point      SELECT c FROM point WHERE id=?          one row of 120 bytes by its key
--   --kind=rows       SELECT id,seq,c FROM many WHERE id=?    100 rows of one key
--   --kind=insert     INSERT of one row with its key
--   --kind=generated  INSERT of one row without a key
--   --prepared=1      as server-side prepared statements
sysbench.cmdline.options = {
  kind = {"point, rows, insert or generated", "point"},
  prepared = {"1: server-side prepared statements", 0},
  points = {"rows of table point", 100000},
  keys = {"keys of table many", 1000},
  run = {"number of this run: keys of inserts differ between runs", 1},
}

local filler = string.rep("evenkeel", 15)
local note = string.rep("note", 15)

local text = {
  point = "SELECT c FROM point WHERE id=%d",
  rows = "SELECT id,seq,c FROM many WHERE id=%d",
  insert = "INSERT INTO added (id,k,c,pad) VALUES (%d,%d,'" .. filler .. "','" .. note .. "')",
  generated = "INSERT INTO added (k,c,pad) VALUES (%d,'" .. filler .. "','" .. note .. "')",
}
local marks = {
  point = "SELECT c FROM point WHERE id=?",
  rows = "SELECT id,seq,c FROM many WHERE id=?",
  insert = "INSERT INTO added (id,k,c,pad) VALUES (?,?,?,?)",
  generated = "INSERT INTO added (k,c,pad) VALUES (?,?,?)",
}

local connection, kind, statement, first, second, count, base
-- Bound values must outlive the statement: sysbench keeps only their addresses.
local kept, driver

local function prepare()
  local types = sysbench.sql.type
  statement = connection:prepare(marks[kind])
  first = statement:bind_create(types.BIGINT)
  if kind == "insert" then
    second = statement:bind_create(types.INT)
    local c, pad = statement:bind_create(types.CHAR, 128), statement:bind_create(types.CHAR, 64)
    c:set(filler)
    pad:set(note)
    kept = {c, pad}
    statement:bind_param(first, second, c, pad)
  elseif kind == "generated" then
    local c, pad = statement:bind_create(types.CHAR, 128), statement:bind_create(types.CHAR, 64)
    c:set(filler)
    pad:set(note)
    kept = {c, pad}
    statement:bind_param(first, c, pad)
  else
    statement:bind_param(first)
  end
end

function thread_init()
  driver = sysbench.sql.driver()
  connection = driver:connect()
  kind = sysbench.opt.kind
  -- Keys of one thread of one run: no two threads or runs meet, and every slot gets its share.
  base = sysbench.opt.run * 8589934592 + sysbench.tid * 16777216
  count = 0
  if sysbench.opt.prepared == 1 then prepare() end
end

function thread_done()
  if statement then statement:close() end
  connection:disconnect()
end

function event()
  count = count + 1
  local key, extra
  if kind == "point" then key = sysbench.rand.uniform(1, sysbench.opt.points)
  elseif kind == "rows" then key = sysbench.rand.uniform(1, sysbench.opt.keys)
  elseif kind == "insert" then key, extra = base + count, count % 1000
  else key = count % 1000 end
  if statement then
    first:set(key)
    if second then second:set(extra) end
    local result = statement:execute()
    -- An INSERT's result is no result set; freeing it ends sysbench.
    if result and (kind == "point" or kind == "rows") then result:free() end
  elseif kind == "insert" then
    connection:query(string.format(text.insert, key, extra))
  else
    connection:query(string.format(text[kind], key))
  end
end
