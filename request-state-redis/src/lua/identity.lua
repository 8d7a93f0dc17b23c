-- What every script starts with that reads or writes a mark. It defines:
--
-- evicts()  an error reply where the server may evict what is kept, and nil where it may not
-- identity  the replication ID of the primary: the one that a mark names has the whole history
--
-- A replication ID names one history of writes. A process draws a new one when it starts as a primary, and when
-- it becomes one. (So run_id would tell nothing more, and reading it takes as long again.)
--
-- A connection can outlive an identity: a node that becomes a replica and then a primary again keeps its
-- clients. So it is read here, for each call.
--
-- TRUST_PERSISTENCE and ASSUME_NOEVICTION are settings of the store.

local function info(...)
  local text = redis.pcall('INFO', ...)
  -- An error where the user may not run INFO.
  return type(text) == 'string' and text or ''
end

local function evicts()
  if ASSUME_NOEVICTION then return nil end
  local memory = info('memory')
  local limit = string.match(memory, '\nmaxmemory:(%d+)')
  local policy = string.match(memory, '\nmaxmemory_policy:([%w-]+)')
  if not limit or not policy then
    return redis.error_reply('NOPOLICY INFO memory does not show maxmemory_policy')
  end
  if limit ~= '0' and policy ~= 'noeviction' then
    return redis.error_reply('EVICTS ' .. policy)
  end
end

local identity = ''
if not TRUST_PERSISTENCE then
  local replication = info('replication')
  local _, id = string.find(replication, '\nmaster_replid:', 1, true)
  if not id then
    return redis.error_reply('NOIDENTITY INFO does not show master_replid')
  end
  -- A replica has the id of its primary, and not all of its history.
  if not string.find(replication, '\nrole:master', 1, true) then
    return redis.error_reply('READONLY this is a replica')
  end
  identity = string.sub(replication, id + 1, id + 40)
end
