-- Writes up to four games of one shard, if what stands of each is what was expected.
--
-- KEYS: the shard's clock, deadlines, feed and outbox; then the games; then, where that changes, the
--       list of the shard's games.
-- ARGV: the estimated present; the number of feed entries; the number of changes to the list; then
--       for each game
--         what must stand (revision and history, or empty: nothing),
--         the record (or empty: delete the game),
--         its deadline (or empty), its time to live (or empty), in milliseconds;
--       then the changes to the list: `+` or `-`, and the member; then the feed entries; then the
--       outbox entries.
-- Answers {0, now, what stands of each game}: something else stands than was expected;
--         {1, now}: written; {2, now}: the estimated present is off.
local deadlines, feed, outbox = KEYS[2], KEYS[3], KEYS[4]
local listed = tonumber(ARGV[3])
local games = #KEYS - 4
if listed > 0 then
  games = games - 1
end

for i = 1, games do
  local standing = redis.call('GETRANGE', KEYS[4 + i], 0, 16)
  local expected = ARGV[4 * i]
  if string.sub(standing, 2) ~= expected or (expected == '' and standing ~= '') then
    local reply = {0, now}
    for j = 1, games do
      reply[2 + j] = redis.call('GET', KEYS[4 + j])
    end
    return reply
  end
end

if math.abs(ARGV[1] - now) > 250 then
  return {2, now}
end

local shard = string.sub(KEYS[1], 1, -6) -- without 'clock'
for i = 1, games do
  local key = KEYS[4 + i]
  local game = string.sub(key, #shard + 6) -- without 'game:'
  local record, deadline, expiry = ARGV[4 * i + 1], ARGV[4 * i + 2], ARGV[4 * i + 3]
  if record == '' then
    redis.call('DEL', key)
  elseif expiry == '' then
    redis.call('SET', key, record)
  else
    redis.call('SET', key, record, 'PX', expiry)
  end
  if deadline == '' then
    redis.call('ZREM', deadlines, game)
  else
    redis.call('ZADD', deadlines, deadline, game)
  end
  redis.call('PUBLISH', shard .. 'watch:' .. game, '')
end

local first = 4 + 4 * games
for i = first, first + listed - 1 do
  local member = string.sub(ARGV[i], 2)
  if string.sub(ARGV[i], 1, 1) == '+' then
    redis.call('ZADD', KEYS[#KEYS], 0, member)
  else
    redis.call('ZREM', KEYS[#KEYS], member)
  end
end

first = first + listed
local last = first + ARGV[2] - 1
if first <= last then
  local oldest = string.format('%.0f', source - 604800000) -- seven days
  for i = first, last do
    redis.call('XADD', feed, 'MINID', '~', oldest, '*', 'e', ARGV[i])
  end
  -- A feed that nobody adds to is trimmed by nobody either.
  redis.call('PEXPIRE', feed, 604800000)
end
for i = last + 1, #ARGV do
  redis.call('XADD', outbox, '*', 'e', ARGV[i])
end
return {1, now}
