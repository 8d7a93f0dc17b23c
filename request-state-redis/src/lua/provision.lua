-- KEYS[1]  the mark of the bucket, which is set to a birth of 0: nothing was ever redeemed before

local evicting = evicts()
if evicting then return evicting end
redis.call('SET', KEYS[1], identity .. string.rep('0', 16), 'NX')
return 'marked'
