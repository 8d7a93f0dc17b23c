-- KEYS[2]  the entry
--
-- Returns 'none', or the entry and the time.

local entry = redis.call('GET', KEYS[2])
if not entry then return 'none' end
return {entry, now}
