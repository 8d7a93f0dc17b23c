-- Ends the script where the store does not know what was redeemed.
--
-- KEYS[1]  the mark of the bucket
-- ARGV[1]  the limit, in milliseconds: the history must reach back to before it
--
-- Returns 'forgot' where the mark is missing or names another identity, after setting it anew, and
-- 'young' where the mark is not older than the limit.

-- The last 16 digits are the birth, in milliseconds. What is before them is the identity: nothing where
-- persistence is trusted, which says nothing of the time before it was.
local mark = redis.call('GET', KEYS[1])
if not mark or string.sub(mark, 1, -17) ~= identity then
  local evicting = evicts()
  if evicting then return evicting end
  redis.call('SET', KEYS[1], identity .. string.format('%016.0f', now))
  return 'forgot'
end
if tonumber(string.sub(mark, -16)) >= tonumber(ARGV[1]) then
  return 'young'
end
