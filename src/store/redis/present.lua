#!lua flags=no-writes
-- Answers for each game its slots that are present, each followed by for how many milliseconds.
-- KEYS: who is present at each game, see `presence.lua`.
local server_time = redis.call('TIME')
local now = server_time[1] * 1000 + math.floor(server_time[2] / 1000)
local answer = {}
for i, key in ipairs(KEYS) do
  local streams =
    redis.call('ZRANGE', key, string.format('(%.0f', now), '+inf', 'BYSCORE', 'WITHSCORES')
  local slots = {}
  for j = 1, #streams, 2 do
    slots[j] = tonumber(string.match(streams[j], '^%d+'))
    slots[j + 1] = streams[j + 1] - now
  end
  answer[i] = slots
end
return answer
