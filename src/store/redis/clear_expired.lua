#!lua
-- Clears the deadlines of games that have expired; answers those that stand, by their place.
-- KEYS: the shard's deadlines; then the games.
local shard_length = #KEYS[1] - 9 -- without 'deadlines'
local standing = {}
for i = 2, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then
    standing[#standing + 1] = i - 2
  else
    redis.call('ZREM', KEYS[1], string.sub(KEYS[i], shard_length + 6)) -- without 'game:'
  end
end
return standing
