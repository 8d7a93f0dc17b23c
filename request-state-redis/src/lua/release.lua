-- KEYS[1]  the entry
-- ARGV[1]  the nonce
--
-- Returns 1, or 0 if the entry is gone, belongs to another nonce, or has an answer.

-- An answer starts after byte 64.
local claim = redis.call('GETRANGE', KEYS[1], 0, 64)
if string.sub(claim, 1, 16) ~= ARGV[1] or #claim > 64 then return 0 end
return redis.call('DEL', KEYS[1])
