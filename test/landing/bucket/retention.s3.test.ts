/** What is done with pages in a bucket: checked, retained, encrypted by it, and cleared of a person, as in a folder. */
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { keptSandbox } from '../../sandbox/open-sandbox.ts'
import { machine } from '../../support/machine.ts'
import { useEngines } from '../../support/warehouse-fixture.ts'
import { startS3, type TestBucket } from './s3-server.ts'

const s3 = await startS3()
const engines = useEngines()
const resources = 'timesheets sites users'

async function synced(more: Readonly<Record<string, string>> = {}) {
  const bucket = await s3.bucket()
  const sandbox = await keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })
  const warehouse = await engines.duckdb()
  await warehouse.close()
  const env = {
    ...s3.env,
    MUSTER_BASE_URL: sandbox.url,
    MUSTER_LANDING: `s3://${bucket.name}/p`,
    MUSTER_WAREHOUSE: warehouse.address,
    ...more,
  }
  const here = machine(env)
  // The pages of the first one are archives after the second, whose own are pages.
  for (const line of [`sync --quiet ${resources}`, 'sync --quiet expenses companies'])
    expect(await here.run(line)).toMatchObject({ code: 0, err: '' })
  const keys = await bucket.keys()
  const archives = keys.filter(key => key.startsWith('p/archives/'))
  expect(archives.length).toBeGreaterThanOrEqual(3)
  return { bucket, warehouse, env, here, keys }
}

const matching = (keys: readonly string[], pattern: RegExp): string => {
  const found = keys.find(key => pattern.test(key))
  if (found === undefined) throw new Error(`no key is like ${pattern}`)
  return found
}

const isPage = /pages\/[^/]*expenses[^/]*\/[^/]+\.json$/

type Damage = readonly [
  string,
  RegExp,
  (bucket: TestBucket, keys: readonly string[]) => Promise<string>,
  string,
]

async function gone(bucket: TestBucket, keys: readonly string[], pattern: RegExp): Promise<string> {
  const key = matching(keys, pattern)
  await bucket.remove(key)
  return key
}

async function changed(bucket: TestBucket, key: string): Promise<string> {
  const bytes = await bucket.read(key)
  bytes[Math.floor(bytes.length / 2)]! ^= 1
  await bucket.put(key, bytes)
  return key
}

const archived = /archives\/[^/]*timesheets[^/]*\/[^/]+\.parquet$/

const damages: readonly Damage[] = [
  ['a page that is gone', isPage, (bucket, keys) => gone(bucket, keys, isPage), 'is missing'],
  [
    'a page that was changed',
    isPage,
    (bucket, keys) => changed(bucket, matching(keys, isPage)),
    'has changed since it was written',
  ],
  ['an archive without its file', archived, (bucket, keys) => gone(bucket, keys, archived), 'is missing'],
  [
    'an archive that was changed',
    archived,
    (bucket, keys) => changed(bucket, matching(keys, archived)),
    'has changed since it was written',
  ],
  [
    'an archive without its manifest',
    archived,
    (bucket, keys) => gone(bucket, keys, /manifests\/[^/]*timesheets[^/]*$/),
    'its manifest is missing',
  ],
  [
    'an archive that is gone',
    archived,
    async (bucket, keys) => {
      const key = matching(keys, archived)
      const folder = key.slice(0, key.lastIndexOf('/') + 1)
      await bucket.remove(...keys.filter(one => one.startsWith(folder)))
      return key
    },
    'is missing',
  ],
]

test('what is damaged or gone is named by the check and the replay, and the rest is loaded', async () => {
  const { bucket, here, keys } = await synced()
  const kept = new Map<string, Buffer>()
  for (const key of keys) kept.set(key, await bucket.read(key))
  expect(await here.run('check landed_pages_readable')).toMatchObject({ code: 0 })
  for (const [name, , damage, says] of damages) {
    await damage(bucket, keys)
    const checked = await here.run('check landed_pages_readable')
    expect([name, checked.code, checked.out]).toEqual([name, 3, expect.stringContaining(says)])
    const left = new Set(await bucket.keys())
    for (const [key, bytes] of kept)
      if (!left.has(key) || name.includes('changed')) await bucket.put(key, bytes)
  }
  expect(await here.run('check landed_pages_readable')).toMatchObject({ code: 0 })
  await damages[2]![2](bucket, keys)
  const replayed = await here.run('replay --quiet')
  expect([replayed.code, replayed.err]).toEqual([3, expect.stringContaining('is missing')])
  const accepted = await here.run('replay --quiet --accept-loss --json')
  expect([accepted.code, JSON.parse(accepted.out).damaged]).toEqual([0, [expect.anything()]])
})

test('every object is put with the key of KMS that the settings name', async () => {
  const kmsKey = `arn:aws:kms:eu-central-1:123456789012:key/${randomUUID()}`
  const { bucket, here, keys } = await synced({ MUSTER_LANDING_KMS_KEY: kmsKey })
  for (const key of keys) expect([key, await bucket.kmsKey(key)]).toEqual([key, kmsKey])
  expect(await here.run('replay --quiet')).toMatchObject({ code: 0 })
})

test('a person who is forgotten is in no page, archive, copy or publication', async () => {
  const { bucket, here, warehouse } = await synced()
  await warehouse.open()
  const [worker] = await warehouse.engine.rows<{ id: string; name: string }>(
    'select worker_id as id, name from pii.worker where name is not null order by 1 limit 1',
  )
  await warehouse.close()
  const { id = '', name = '' } = worker ?? {}
  expect(await here.run('publish')).toMatchObject({ code: 0 })
  expect(await here.run(`copy --from ${warehouse.address} --to duckdb:copy.duckdb`)).toMatchObject({
    code: 0,
  })
  const query = `select name from pii.worker where worker_id = '${id}'`
  const nameIn = async (file: string) =>
    (await here.run(['sql', '--json', query], { MUSTER_WAREHOUSE: `duckdb:${file}` })).out
  expect(await nameIn('copy.duckdb')).toContain(name)
  const forgotten = await here.run(`forget worker ${id} --yes`)
  expect([forgotten.code, forgotten.out]).toEqual([0, expect.stringContaining('page')])
  expect(forgotten.out).toMatch(/rewritten: .*copy\.duckdb/)
  expect(await here.run('check landed_pages_readable')).toMatchObject({ code: 0 })
  expect(await here.run('replay --quiet')).toMatchObject({ code: 0 })
  for (const key of await bucket.keys())
    expect([key, (await bucket.read(key)).includes(name)]).toEqual([key, false])
  for (const file of ['copy.duckdb', warehouse.address.slice('duckdb:'.length)]) {
    expect([file, await nameIn(file)]).toEqual([file, expect.not.stringContaining(name)])
    expect(readFileSync(resolve(here.home, file)).includes(name)).toBe(false)
  }
  expect(await here.run('publish')).toMatchObject({ code: 0 })
  const audited = await here.run('audit-pii')
  expect([audited.code, audited.err]).toEqual([0, ''])
})

test('scans older than retentionDays go, archived or not, and the check accepts that', async () => {
  const { bucket, here, env } = await synced()
  const scans = async () => (await bucket.keys()).filter(key => key.startsWith('p/manifests/'))
  const old = await scans()
  const settings = [
    'connections:',
    '  default:',
    `    baseUrl: ${env.MUSTER_BASE_URL}`,
    `    apiKey: ${sandboxKeys.company}`,
    `    warehouse: ${env.MUSTER_WAREHOUSE}`,
    `    landing: ${env.MUSTER_LANDING}`,
    '    retentionDays: 0',
  ]
  writeFileSync(join(here.home, 'none.yaml'), settings.join('\n'))
  const { code, out } = await here.run('retention --config none.yaml')
  expect([code, out]).toEqual([0, expect.stringContaining(`${old.length} landed scans removed`)])
  expect(await bucket.keys()).toEqual([])
  expect(await here.run('check landed_pages_readable')).toMatchObject({ code: 0 })
})
