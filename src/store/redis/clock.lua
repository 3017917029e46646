#!lua
-- The shard's clock, advanced to the present; comes before every script that needs it.
-- KEYS[1] is the clock: the server's time last seen and the shard's time then, in milliseconds,
-- with a blank between them. KEYS[2] is the shard's deadlines: where there are none, no clock of a
-- game runs, and the shard's time is the server's.
local server_time = redis.call('TIME')
local source = server_time[1] * 1000 + math.floor(server_time[2] / 1000)
local now = source
local clock = redis.call('GET', KEYS[1])
if clock and redis.call('EXISTS', KEYS[2]) == 1 then
  local seen, shard_time = string.match(clock, '^(%d+) (%d+)$')
  if not seen then
    return redis.error_reply('CORRUPT the clock ' .. KEYS[1] .. ' must be two numbers')
  end
  now = shard_time + math.min(math.max(source - seen, 0), 3000)
end
redis.call('SET', KEYS[1], string.format('%.0f %.0f', source, now))
