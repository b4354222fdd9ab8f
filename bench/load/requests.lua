-- Each request uses another key. All keys are used in turn, in an order without locality.
-- Arguments: kind of request, path, file of keys, number of pets.
local keys, count, work, path, pets = {}, 0, "list", "/", 1
-- A prime, so that it has no common divisor with the number of keys or pets.
local STEP = 7919
local run = os.time() .. tostring({}):gsub("%W", "")

function init(args)
  work, path, pets = args[1], args[2], tonumber(args[4])
  for key in io.lines(args[3]) do keys[#keys + 1] = key end
end

function request()
  count = count + 1
  local headers = { ["Authorization"] = "Bearer " .. keys[count * STEP % #keys + 1] }
  if work == "list" then return wrk.format("GET", path, headers) end
  if work == "get" then return wrk.format("GET", path .. (count * STEP % pets + 1), headers) end
  if work == "keyed" then headers["Idempotency-Key"] = run .. "-" .. count end
  headers["Content-Type"] = "application/json"
  local body = '{"name":"Rex ' .. count .. '","categoryId":7,"status":"available"}'
  return wrk.format("POST", path, headers, body)
end

function done(summary)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.timeout + errors.status
  io.write(string.format('RESULT {"requests":%d,"seconds":%.6f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, failed))
end
