-- Each request uses another key. All keys are used in turn, in an order without locality.
-- Arguments: kind of request, path, file of keys, number of animals, first key.
local keys, count, firstKey, work, path, animals = {}, 0, 0, "list", "/", 1
-- A prime, so that it has no common divisor with the number of keys or animals.
local STEP = 7919
-- Requests so many before the current one have been answered: 64 are in progress at once.
local LONG_AGO = 645
-- A unique name of this run.
local run = os.time() .. tostring({}):gsub("%W", "")

local function keyOf(number)
  return keys[(number + firstKey) * STEP % #keys + 1]
end

function init(args)
  work, path, animals, firstKey = args[1], args[2], tonumber(args[4]), tonumber(args[5])
  for key in io.lines(args[3]) do keys[#keys + 1] = key end
end

function request()
  count = count + 1
  local headers = { ["Authorization"] = "Bearer " .. keyOf(count) }
  if work == "list" then return wrk.format("GET", path, headers) end
  if work == "get" then
    return wrk.format("GET", path .. (count * STEP % animals + 1), headers)
  end
  headers["Content-Type"] = "application/json"
  local body = '{"name":"Rex ' .. count .. '","categoryId":7,"status":"available"}'
  if work == "keyed" then
    -- One in ten has the key of an earlier request with another body: 422.
    local number = count
    if count % 10 == 0 and count > LONG_AGO then number = count - LONG_AGO end
    headers["Authorization"] = "Bearer " .. keyOf(number)
    headers["Idempotency-Key"] = run .. "-" .. number
  end
  return wrk.format("POST", path, headers, body)
end

function done(summary, latency)
  io.write(string.format('RESULT {"requests":%d,"seconds":%.6f,"p50Ms":%.3f,"p99Ms":%.3f,"errors":%d,"refused":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    summary.errors.connect + summary.errors.read + summary.errors.timeout, summary.errors.status))
end
