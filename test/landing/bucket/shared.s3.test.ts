/** Landed pages in a bucket: whoever read them, a replay elsewhere finds them all. */
import { expect, test } from 'vitest'
import { keptSandbox } from '../../sandbox/open-sandbox.ts'
import { machine } from '../../support/machine.ts'
import { tables } from '../../support/warehouse-dump.ts'
import { useEngines } from '../../support/warehouse-fixture.ts'
import { startS3 } from './s3-server.ts'

const s3 = await startS3()
const engines = useEngines()

test('two machines read, a third one replays every page', async () => {
  const bucket = await s3.bucket()
  const sandbox = await keptSandbox({ scale: 0.1, rateLimitPerMinute: 100_000 })
  const [server, file] = [await engines.postgres(), await engines.duckdb()]
  await server.close()
  await file.close()
  const common = { ...s3.env, MUSTER_BASE_URL: sandbox.url, MUSTER_LANDING: `s3://${bucket.name}/landing` }
  const env = { ...common, MUSTER_WAREHOUSE: server.address }
  const [one, other] = [machine(env), machine(env)]
  const half = 'timesheets invoices companies users'
  const nights = await Promise.all([
    one.run(`sync --quiet ${half}`),
    other.run('sync --quiet projects sites expenses metric-rows'),
  ])
  expect(nights.map(({ code, err }) => [code, err])).toEqual([
    [0, ''],
    [0, ''],
  ])
  expect(await one.run('sync --quiet')).toMatchObject({ code: 0 })
  expect(await other.run('sync --quiet')).toMatchObject({ code: 0 })
  const keys = await bucket.keys()
  expect(keys.some(key => key.startsWith('landing/archives/'))).toBe(true)
  expect(keys.every(key => key.startsWith('landing/'))).toBe(true)
  const third = machine({ ...common, MUSTER_WAREHOUSE: file.address })
  const replayed = await third.run('replay --quiet --json')
  expect(replayed).toMatchObject({ code: 0, err: '' })
  await server.open()
  await file.open()
  expect(await tables(file.engine)).toEqual(await tables(server.engine))
  for (const { files } of [one, other, third]) expect(files().join()).not.toMatch(/pages|json|parquet/)
})
