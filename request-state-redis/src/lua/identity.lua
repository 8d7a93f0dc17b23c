-- The first part of every script that reads or writes a mark. It defines:
--
-- evicts()  returns an error reply if the server may evict entries, and nil if it may not. A server that may has
--           perhaps done so already, so its mark (KEYS[1]) is deleted first
-- identity  the process and its replication ID. A server whose identity is the one in the mark has the whole history
-- now       the time, in milliseconds
--
-- Neither is enough alone. A process that becomes a replica and then a primary again keeps its run_id. A replica
-- of a cluster that starts from its file and takes over before it knows its primary keeps the replication ID
-- that the file has.
--
-- A connection can outlive an identity: a node that becomes a replica and then a primary again keeps its
-- clients. So each call reads the identity anew.
--
-- The time is taken from what INFO returns anyway: each call of a command within a script costs a microsecond or two.
--
-- TRUST_PERSISTENCE and ASSUME_NOEVICTION are settings of the store.

local function info(...)
  local text = redis.pcall('INFO', ...)
  -- An error if the user may not run INFO.
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
    redis.call('DEL', KEYS[1])
    return redis.error_reply('EVICTS ' .. policy)
  end
end

local identity, now = '', nil
if TRUST_PERSISTENCE then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
else
  local server = info('server', 'replication')
  -- In the order of the text, so that each search goes on where the one before it ended.
  local _, run = string.find(server, '\nrun_id:', 1, true)
  local _, clock = string.find(server, '\nserver_time_usec:', run, true)
  local _, role = string.find(server, '\nrole:', clock, true)
  local _, replication = string.find(server, '\nmaster_replid:', role, true)
  local time = clock and string.match(server, '^%d+', clock + 1)
  if not run or not time or not role or not replication then
    return redis.error_reply(
      'NOIDENTITY INFO does not show run_id, server_time_usec, role and master_replid')
  end
  -- A replica has the ID of its primary, but not all of its history.
  if string.sub(server, role + 1, role + 6) ~= 'master' then
    return redis.error_reply('READONLY this is a replica')
  end
  identity = string.sub(server, run + 1, run + 40)
    .. string.sub(server, replication + 1, replication + 40)
  now = math.floor(time / 1000)
end
