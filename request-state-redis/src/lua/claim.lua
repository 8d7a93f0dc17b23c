-- KEYS[2]  the entry: nonce (16 bytes), presentation (32), time of the claim (16), then any answer
-- ARGV[2]  the nonce and the presentation
-- ARGV[3]  the lifetime, in milliseconds
-- ARGV[4]  'check' if the eviction policy must be read again
--
-- Returns 'first', or the existing entry and the time.

if ARGV[4] == 'check' then
  local evicting = evicts()
  if evicting then return evicting end
end
local was = redis.pcall(
  'SET', KEYS[2], ARGV[2] .. string.format('%016.0f', now), 'NX', 'GET', 'PX', ARGV[3])
if type(was) == 'table' then
  -- The server is out of memory. Existing entries can still be read.
  local failed = was
  was = redis.call('GET', KEYS[2])
  if not was then return failed end
end
if not was or string.sub(was, 1, 16) == string.sub(ARGV[2], 1, 16) then
  return 'first'
end
return {was, now}
