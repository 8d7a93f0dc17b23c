-- KEYS[1]  the entry
-- ARGV[1]  the nonce
-- ARGV[2]  the answer
--
-- Returns 1, or 0 if the entry is gone or belongs to another nonce.

local claim = redis.call('GETRANGE', KEYS[1], 0, 63)
if string.sub(claim, 1, 16) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], claim .. '+' .. ARGV[2], 'KEEPTTL')
return 1
