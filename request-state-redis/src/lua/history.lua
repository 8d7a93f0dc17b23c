-- Ends the script if the store cannot know which tokens were redeemed.
--
-- KEYS[1]  the mark of the bucket
-- ARGV[1]  the limit, in milliseconds: the history must reach back to before it
--
-- Returns 'forgot' if the mark is missing or names another identity, after setting a new one. Returns
-- 'young' if the mark is not older than the limit.

-- The last 16 digits are the birth, in milliseconds. The identity comes before them. It is empty if persistence
-- is trusted, so a mark from the time before names another identity.
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
