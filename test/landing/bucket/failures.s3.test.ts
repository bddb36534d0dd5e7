/** A bucket that fails, and processes that are killed: one line each, nothing is lost, and nothing stays behind. */
import { expect, test } from 'vitest'
import { keptSandbox } from '../../sandbox/open-sandbox.ts'
import { type Ended, machine } from '../../support/machine.ts'
import { tables } from '../../support/warehouse-dump.ts'
import { useEngines, type Warehouse } from '../../support/warehouse-fixture.ts'
import { type Fault, type Seen, startS3, type TestBucket } from './s3-server.ts'

const s3 = await startS3()
const engines = useEngines()
const resources = 'timesheets sites users'

async function place(more: Readonly<Record<string, string>> = {}) {
  const bucket = await s3.bucket()
  const sandbox = await keptSandbox({ scale: 0.05, rateLimitPerMinute: 100_000 })
  const warehouse = await engines.duckdb()
  await warehouse.close()
  const env = {
    ...s3.env,
    MUSTER_BASE_URL: sandbox.url,
    MUSTER_LANDING: `s3://${bucket.name}`,
    MUSTER_WAREHOUSE: warehouse.address,
    ...more,
  }
  return { bucket, sandbox, warehouse, env, here: machine(env) }
}

type Place = Awaited<ReturnType<typeof place>>

const oneLine = ({ err }: Ended): string => {
  expect(err).toMatch(/^muster: [^\n]*\n$/)
  expect(err).not.toContain(s3.env.AWS_SECRET_ACCESS_KEY)
  return err
}

async function content(warehouse: Warehouse) {
  await warehouse.open()
  const dump = await tables(warehouse.engine)
  await warehouse.close()
  return dump
}

/** What a third machine makes of the bucket is what the warehouse has. */
async function requireWhole({ warehouse, env }: Place): Promise<void> {
  const other = await engines.duckdb()
  await other.close()
  const elsewhere = machine({ ...env, MUSTER_WAREHOUSE: other.address })
  expect(await elsewhere.run('replay --quiet')).toMatchObject({ code: 0, err: '' })
  expect(await content(other)).toEqual(await content(warehouse))
  expect(elsewhere.files().filter(name => name.includes('.muster'))).toEqual([])
}

const isPut = ({ method, path }: Seen): boolean => method === 'PUT' && !path.includes('.muster-try')

async function withFault<Result>(fault: (seen: Seen) => Fault, work: () => Promise<Result>): Promise<Result> {
  s3.onRequest = fault
  try {
    return await work()
  } finally {
    s3.onRequest = () => undefined
  }
}

test('reports an unusable bucket in one line before the first request, and doctor names it', async () => {
  const { here, sandbox, bucket } = await place()
  const before = sandbox.requests.length
  const wrong: readonly (readonly [Record<string, string>, number, RegExp])[] = [
    [{ MUSTER_LANDING: 's3://not-there' }, 78, /there is no such bucket \(s3:\/\/not-there\): create it/],
    [{ MUSTER_LANDING: 's3://' }, 78, /must be s3:\/\/BUCKET/],
    [{ AWS_REGION: '' }, 78, /the region of the bucket is not known .*set AWS_REGION/],
    [{ AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }, 78, /there are no credentials for the bucket/],
    [{ AWS_PROFILE: 'nobody', AWS_ACCESS_KEY_ID: '' }, 78, /./],
    [{ AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' }, 75, /the bucket cannot be reached \(ECONNREFUSED/],
    [
      { AWS_ENDPOINT_URL_S3: 'http://nobody.invalid' },
      75,
      /the bucket cannot be reached \((ENOTFOUND|EAI_AGAIN)/,
    ],
    [{ AWS_ENDPOINT_URL_S3: 'nonsense' }, 78, /./],
  ]
  for (const [env, code, says] of wrong) {
    const ended = await here.run(`sync --quiet ${resources}`, env)
    expect([env, ended.code, oneLine(ended)]).toEqual([env, code, expect.stringMatching(says)])
  }
  for (const status of [403, 500]) {
    const refused = await withFault(
      seen => (isPut(seen) || seen.path.includes('try') ? status : undefined),
      () => here.run(`sync --quiet ${resources}`),
    )
    expect([status, refused.code]).toEqual([status, status === 403 ? 78 : 75])
    oneLine(refused)
  }
  expect(sandbox.requests.length).toBe(before)
  const doctor = await here.run('doctor', { MUSTER_LANDING: 's3://not-there' })
  expect([doctor.code, doctor.out]).toEqual([
    78,
    expect.stringMatching(/fail +landing +there is no such bucket/),
  ])
  const well = await here.run('doctor')
  expect(well.out).toContain(`s3://${bucket.name} can be written, read and listed`)
  expect(await bucket.keys()).toEqual([])
})

test('503s, a slow server and answers that break off are got over', async () => {
  const here = await place()
  let count = 0
  const ended = await withFault(
    () => {
      count += 1
      const faults: Record<number, Fault> = { 0: 503, 3: 'slow', 7: 'away', 11: 429 }
      return faults[count % 13]
    },
    async () => {
      const first = await here.here.run(`sync --quiet ${resources}`)
      return [first, await here.here.run(`sync --quiet ${resources}`)]
    },
  )
  expect(ended.map(({ code, err }) => [code, err])).toEqual([
    [0, ''],
    [0, ''],
  ])
  const reads = await withFault(
    ({ method, path }) =>
      method === 'GET' && /parquet|json/.test(path) && Math.random() < 0.2 ? 'cut' : undefined,
    () => here.here.run('check landed_pages_readable'),
  )
  expect(reads).toMatchObject({ code: 0 })
  await requireWhole(here)
})

test('a server that stops in the middle ends the run with 75, and the next one goes on', async () => {
  const here = await place()
  let puts = 0
  const ended = await withFault(
    seen => {
      if (isPut(seen)) puts += 1
      return puts > 6 ? 'away' : undefined
    },
    () => here.here.run(`sync --quiet ${resources}`),
  )
  expect([ended.code, oneLine(ended)]).toEqual([75, expect.stringContaining('the bucket cannot be reached')])
  expect(await here.here.run(`sync --quiet ${resources}`)).toMatchObject({ code: 0 })
  await requireWhole(here)
})

test('SIGTERM ends a run that waits for the bucket', async () => {
  const { here } = await place()
  const running = here.start(`sync --quiet ${resources}`)
  let at = 0
  s3.onRequest = seen => {
    if (!isPut(seen)) return undefined
    // A second signal would end the process at once.
    if (at === 0) setTimeout(() => running.child.kill('SIGTERM'), 100)
    at ||= Date.now()
    return new Promise<Fault>(resolve => setTimeout(() => resolve(503), 20_000))
  }
  const ended = await running.ended
  s3.onRequest = () => undefined
  expect(ended.code).toBe(75)
  expect(Date.now() - at).toBeLessThan(8_000)
  expect(here.files().filter(name => name.includes('.muster-'))).toEqual([])
})

/** A sync that loads something archives what others have landed before. */
const lists = ['timesheets', 'sites', 'users', 'expenses', 'companies', 'invoices', 'projects']

/** Each is met by the sync of a list of its own; the first request that removes is that of the attempt before a run. */
const moments: readonly (readonly [string, (seen: Seen, puts: number, removals: number) => boolean])[] = [
  ['before its manifest is put', (seen, puts) => isPut(seen) && puts === 1],
  ['before a page is put', (seen, puts) => isPut(seen) && puts === 4],
  ['before it is complete', (seen, puts) => isPut(seen) && seen.path.includes('/manifests/') && puts > 4],
  ['before its archive is put', ({ method, path }) => method === 'PUT' && path.includes('/archives/')],
  ['before its archive is named', isNaming()],
  ['before its pages go', ({ method }, _, removals) => method === 'POST' && removals === 2],
]

/** The manifest that is put after the files of an archive. */
function isNaming(): (seen: Seen) => boolean {
  let hasArchive = false
  return ({ method, path }) => {
    const isManifest = hasArchive && method === 'PUT' && path.includes('/manifests/')
    hasArchive ||= method === 'PUT' && path.includes('/archives/')
    return isManifest
  }
}

test('a process killed at any point loses no page', async () => {
  const here = await place()
  const { bucket } = here
  expect(await here.here.run('sync --quiet access-rules')).toMatchObject({ code: 0 })
  for (const [index, [name, isNow]] of moments.entries()) {
    const running = here.here.start(`sync --quiet ${lists[index]}`)
    let [puts, removals, killed] = [0, 0, false]
    s3.onRequest = seen => {
      if (isPut(seen)) puts += 1
      if (seen.method === 'POST') removals += 1
      if (!killed && !seen.path.includes('.muster-try') && isNow(seen, puts, removals)) {
        killed = true
        running.child.kill('SIGKILL')
        return 'away'
      }
      return undefined
    }
    const { code } = await running.ended
    s3.onRequest = () => undefined
    expect([name, killed, code]).toEqual([name, true, null])
    const checked = await here.here.run('check landed_pages_readable')
    expect([name, checked.code, checked.out]).toEqual([name, 0, expect.anything()])
  }
  for (const line of [lists.join(' '), 'access-rules'])
    expect(await here.here.run(`sync --quiet ${line}`)).toMatchObject({ code: 0 })
  await requireWhole(here)
  expect(here.here.files().filter(name => name.includes('.muster'))).toEqual([])
  await requireNoLeftovers(bucket)
})

/** Every file is named by the manifest of its scan. */
async function requireNoLeftovers(bucket: TestBucket): Promise<void> {
  const keys = await bucket.keys()
  for (const key of keys.filter(key => key.startsWith('manifests/'))) {
    const { scan, files } = JSON.parse((await bucket.read(key)).toString()) as {
      scan: string
      files: { name: string }[]
    }
    const own = keys.filter(one => one.includes(`/${scan}/`)).map(one => one.slice(one.lastIndexOf('/') + 1))
    expect(own).toEqual(files.map(({ name }) => name).sort())
  }
}
