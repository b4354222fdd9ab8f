-- One request after the other, each with the next of the keys.
-- Arguments: work, its path, file of keys, number of animals, first key.
local keys, count, firstKey, work, path, animals = {}, 0, 0, "list", "/", 1

function init(args)
  work, path, animals, firstKey = args[1], args[2], tonumber(args[4]), tonumber(args[5])
  for key in io.lines(args[3]) do keys[#keys + 1] = key end
end

function request()
  count = count + 1
  local headers = { ["Authorization"] = "Bearer " .. keys[(count + firstKey) % #keys + 1] }
  if work == "list" then return wrk.format("GET", path, headers) end
  if work == "get" then
    return wrk.format("GET", path .. (count * 7919 % animals + 1), headers)
  end
  headers["Content-Type"] = "application/json"
  local body = '{"name":"Rex ' .. count .. '","categoryId":7,"status":"available"}'
  return wrk.format("POST", path, headers, body)
end

function done(summary, latency)
  io.write(string.format('RESULT {"requests":%d,"seconds":%.6f,"p99Ms":%.3f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(99) / 1e3,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout))
end
