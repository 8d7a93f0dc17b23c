-- KEYS[1]  the entry
-- ARGV[1]  the nonce
--
-- Returns 1, or 0 where the entry is gone or belongs to another nonce.

if redis.call('GETRANGE', KEYS[1], 0, 15) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
