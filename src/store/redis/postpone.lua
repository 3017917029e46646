#!lua
-- Lets a game be due at another time, unless a write has changed that meanwhile.
-- KEYS: the shard's deadlines. ARGV: the game; when it is due; when it shall be due, or empty: never.
local due = redis.call('ZSCORE', KEYS[1], ARGV[1])
if due and tonumber(due) == tonumber(ARGV[2]) then
  if ARGV[3] == '' then
    redis.call('ZREM', KEYS[1], ARGV[1])
  else
    redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
  end
end
return redis.status_reply('OK')
