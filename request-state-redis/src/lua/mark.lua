-- Sets the mark if it is missing or names another identity.
--
-- KEYS[1]  the mark of the bucket
-- ARGV[1]  a limit beyond every birth

return evicts() or 'marked'
