#!lua
-- Marks slots of games as present for a while, or takes that back, and publishes where a slot was
-- absent or has become so.
-- KEYS: for each stream who is present at its game: a sorted set of streams by when they end.
-- ARGV: the lifetime in milliseconds, 0 to take back; then for each stream its member: the slot, a
--       colon and the stream's id.
local server_time = redis.call('TIME')
local now = server_time[1] * 1000 + math.floor(server_time[2] / 1000)
local lifetime = tonumber(ARGV[1])

-- Whether another stream keeps the slot present.
local function kept(key, member)
  local slot = string.match(member, '^%d+:')
  for _, other in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    if other ~= member and string.sub(other, 1, #slot) == slot then
      return true
    end
  end
  return false
end

for i, key in ipairs(KEYS) do
  local member, changed = ARGV[i + 1], 0
  redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now))
  if lifetime > 0 then
    -- Where the server's clock has jumped back, those who live will say so again.
    redis.call('ZREMRANGEBYSCORE', key, string.format('(%.0f', now + 2 * lifetime), '+inf')
    changed = redis.call('ZADD', key, string.format('%.0f', now + lifetime), member)
    redis.call('PEXPIRE', key, ARGV[1])
  else
    changed = redis.call('ZREM', key, member)
  end
  if changed == 1 and not kept(key, member) then
    -- Neither a namespace nor a game's id has colons, so this is the only such part.
    redis.call('SPUBLISH', (string.gsub(key, ':presence:', ':watch:')), 'p')
  end
end
