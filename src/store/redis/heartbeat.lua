#!lua
-- Notes a replica's heartbeat, if there is one, and answers the replicas that are alive.
-- KEYS: the replicas. ARGV: for how long a heartbeat counts, in milliseconds; the replica, or empty.
local server_time = redis.call('TIME')
local now = server_time[1] * 1000 + math.floor(server_time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', now - ARGV[1]))
-- Where the server's clock has jumped back, those who live will say so again.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. string.format('%.0f', now + ARGV[1]), '+inf')
if ARGV[2] ~= '' then
  redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[2])
end
return redis.call('ZRANGE', KEYS[1], 0, -1)
