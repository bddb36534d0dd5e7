/** Events of lineage: to a file and over a socket, valid by OpenLineage's schemas, on both engines; never a failed run. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { muster, stillClock, temporaryFolder } from '../support/captured-world.ts'
import { atEndOfTest } from '../support/ends.ts'
import { database } from '../support/postgres-database.ts'
import { templateFile } from '../support/warehouse-fixture.ts'

interface Field {
  readonly namespace: string
  readonly name: string
  readonly field: string
}

interface Dataset {
  readonly namespace: string
  readonly name: string
  readonly facets: {
    readonly schema?: { readonly fields: readonly { readonly name: string; readonly type: string }[] }
    readonly columnLineage?: { readonly fields: Readonly<Record<string, { inputFields: readonly Field[] }>> }
  }
}

interface Event {
  readonly eventType: string
  readonly eventTime: string
  readonly run: {
    readonly runId: string
    readonly facets: {
      readonly parent?: { run: { runId: string } }
      readonly errorMessage?: { message: string }
    }
  }
  readonly job: { readonly namespace: string; readonly name: string }
  readonly inputs: readonly Dataset[]
  readonly outputs: readonly Dataset[]
}

const schemas = [
  'OpenLineage',
  'SchemaDatasetFacet',
  'ColumnLineageDatasetFacet',
  'ParentRunFacet',
  'ErrorMessageRunFacet',
]

/** What is wrong with an event by the published schemas, its facets included. */
const problemsOf = (() => {
  const ajv = new Ajv2020({ allErrors: true, strict: false })
  addFormats.default(ajv)
  for (const name of schemas)
    ajv.addSchema(JSON.parse(readFileSync(new URL(`openlineage/${name}.json`, import.meta.url), 'utf8')))
  const wrongIn = (schema: string, value: unknown): string[] => {
    const validate = ajv.getSchema(schema)
    if (!validate) return [`no schema ${schema}`]
    return validate(value) ? [] : [ajv.errorsText(validate.errors)]
  }
  const facetsIn = (value: object): object[] =>
    Object.values(value).flatMap(one =>
      typeof one !== 'object' || one === null ? [] : '_schemaURL' in one ? [one] : facetsIn(one),
    )
  return (event: object): string[] => [
    ...wrongIn((event as { schemaURL: string }).schemaURL, event),
    ...facetsIn(event).flatMap(one => wrongIn((one as { _schemaURL: string })._schemaURL, one)),
  ]
})()

interface Setting {
  readonly warehouse?: string
  readonly baseUrl?: string
  readonly task?: string
}

async function place(lineage: string, { warehouse, baseUrl, task = 'build' }: Setting = {}) {
  const cwd = temporaryFolder()
  for (const folder of ['config', 'dags']) mkdirSync(join(cwd, folder))
  writeFileSync(
    join(cwd, 'config/muster.yaml'),
    `connections:\n  acme:\n    warehouse: ${warehouse ?? 'duckdb:w.duckdb'}\n    apiKey: \${KEY}\n    baseUrl: ${baseUrl ?? 'http://127.0.0.1:1/api'}\n    lineage: ${lineage}\n`,
  )
  writeFileSync(
    join(cwd, 'dags/nightly.yaml'),
    `name: nightly\ndescription: d\nschedule: "30 2 * * *"\ntasks:\n  one: { run: ${task} }\n`,
  )
  if (warehouse === undefined) copyFileSync(await templateFile(), join(cwd, 'w.duckdb'))
  const env = { PATH: '/usr/bin:/bin', KEY: sandboxKeys.company, LINEAGE: '', TOKEN: 'planted-token-9' }
  return {
    cwd,
    run: (line: string, more: object = {}, signal?: AbortSignal) =>
      muster(line, {
        cwd,
        clock: stillClock(),
        rng: Math.random,
        env: { ...env, ...more },
        ...(signal && { signal }),
      }),
    events: (): Event[] =>
      readFileSync(join(cwd, 'out/events.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
  }
}

type Answer = 'taken' | 'never'

async function endpoint(answer: Answer = 'taken') {
  const posted: { event: Event; authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', part => {
      body += part
    })
    request.on('end', () => {
      posted.push({ event: JSON.parse(body), authorization: request.headers.authorization })
      if (answer === 'taken') response.writeHead(201).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEndOfTest(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { posted, url: `http://127.0.0.1:${port}/api/v1/lineage/s3cret-path` }
}

const typesOf = (events: readonly Event[]) => events.map(({ eventType, job }) => [job.name, eventType])

/** Every column that is named was read from a dataset that is known, and belongs to a dataset with that column. */
function columnsNamed({ inputs, outputs }: Event): number {
  const columns = new Map(
    [...inputs, ...outputs].map(({ namespace, name, facets }) => [
      `${namespace} ${name}`,
      facets.schema?.fields.map(field => field.name) ?? [],
    ]),
  )
  let named = 0
  for (const { namespace, name, facets } of outputs)
    for (const [column, { inputFields }] of Object.entries(facets.columnLineage?.fields ?? {})) {
      expect(columns.get(`${namespace} ${name}`)).toContain(column)
      for (const from of inputFields) {
        named += 1
        const known = columns.get(`${from.namespace} ${from.name}`)
        expect(known, `${from.namespace} ${from.name}`).toBeDefined()
        // Of the records of the service the resource is named, and no schema.
        if (known && known.length > 0) expect(known).toContain(from.field)
      }
    }
  return named
}

test.each(['duckdb', 'postgres'] as const)('reports a DAG run and its tasks, on %s', async engine => {
  const { posted, url } = await endpoint()
  const server = engine === 'postgres' ? (await database()).url : undefined
  const at = await place(
    `{ url: "\${LINEAGE}", token: "\${TOKEN}", file: out/events.jsonl, seconds: 60 }`,
    server === undefined ? {} : { warehouse: server },
  )
  const { err, code } = await at.run('dag run nightly', { LINEAGE: url })
  expect([code, err]).toEqual([0, expect.not.stringContaining('warning: a lineage event')])
  const events = at.events()
  expect(posted.map(({ event }) => event)).toEqual(events)
  expect(posted.every(({ authorization }) => authorization === 'Bearer planted-token-9')).toBe(true)
  expect(typesOf(events)).toEqual([
    ['acme.dag.run.nightly', 'START'],
    ['acme.build', 'START'],
    ['acme.build', 'COMPLETE'],
    ['acme.dag.run.nightly', 'COMPLETE'],
  ])
  expect(events.flatMap(problemsOf)).toEqual([])
  const [dagRun, begun, built] = events
  expect(begun?.run.facets.parent?.run.runId).toBe(dagRun?.run.runId)
  expect(built?.run.runId).toBe(begun?.run.runId)
  expect(JSON.stringify(events)).not.toMatch(/planted|s3cret/)
  const outputs = built?.outputs ?? []
  expect(outputs.length).toBeGreaterThan(20)
  expect(built && columnsNamed(built)).toBeGreaterThan(200)
  const address = server === undefined ? undefined : new URL(server)
  expect(outputs.map(({ namespace, name }) => [namespace, name])).toContainEqual(
    address
      ? [`postgres://${address.hostname}:${address.port}`, `${address.pathname.slice(1)}.mart.worker_week`]
      : ['file', `${at.cwd}/w.duckdb/mart.worker_week`],
  )
})

test('a sync reports which fields of which resource became which column', async () => {
  const { url } = await keptSandbox({ records: {}, rateLimitPerMinute: 100_000 })
  const at = await place('{ file: out/events.jsonl }', { baseUrl: url })
  expect((await at.run('sync key timesheets --quiet')).code).toBe(0)
  const events = at.events()
  expect(typesOf(events)).toEqual([
    ['acme.sync', 'START'],
    ['acme.sync', 'COMPLETE'],
  ])
  expect(events.flatMap(problemsOf)).toEqual([])
  expect(events[1]?.inputs).toContainEqual({ namespace: url, name: 'timesheets', facets: {} })
  expect(events[1] && columnsNamed(events[1])).toBeGreaterThan(200)
})

test('a published copy reports the table and column that each was copied from, also for one company', async () => {
  const { url, world } = await keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })
  const [{ id } = { id: '' }] = world.all('companies')
  const at = await place('{ file: out/events.jsonl }', { baseUrl: url })
  const lines = ['sync key companies --quiet', 'publish', `publish --company ${id} --out shared.duckdb`]
  for (const line of lines) expect(await at.run(line)).toMatchObject({ code: 0 })
  const events = at.events()
  expect(events.flatMap(problemsOf)).toEqual([])
  const done = events.filter(({ eventType, job }) => eventType === 'COMPLETE' && /publish/.test(job.name))
  expect(done.map(({ outputs }) => outputs.every(({ namespace }) => namespace === 'file'))).toEqual([
    true,
    true,
  ])
  for (const [event, file] of [
    [done[0], 'w.published.duckdb'],
    [done[1], 'shared.duckdb'],
  ] as const) {
    const bills = event?.outputs.find(({ name }) => name === `${at.cwd}/${file}/star.fact_invoice`)
    expect(bills?.facets.columnLineage?.fields.status?.inputFields).toEqual([
      { namespace: 'file', name: `${at.cwd}/w.duckdb/star.fact_invoice`, field: 'status' },
    ])
    expect(event && columnsNamed(event)).toBeGreaterThan(500)
  }
})

test('warns about an endpoint that is down, and reports a failed run with its reason', async () => {
  const at = await place(`{ url: "\${LINEAGE}", seconds: 3, file: out/events.jsonl }`)
  const { code, err } = await at.run('sync timesheetz', { LINEAGE: 'http://127.0.0.1:9/s3cret-path' })
  expect(code).toBe(2)
  expect(err.match(/warning: a lineage event was not sent: lineage\.url/g)?.length).toBeLessThan(3)
  expect(err).toMatch(/lineage\.url: it could not be reached/)
  expect(err).not.toContain('s3cret')
  const events = at.events()
  expect(events.flatMap(problemsOf)).toEqual([])
  expect(events.map(({ eventType }) => eventType)).toEqual(['START', 'FAIL'])
  expect(events[1]?.run.facets.errorMessage?.message).toMatch(/^there is no resource timesheetz/)
})

test('an endpoint that never answers delays a DAG run by at most the configured seconds', async () => {
  const { posted, url } = await endpoint('never')
  const at = await place(`{ url: "\${LINEAGE}", seconds: 1 }`, { task: 'retention' })
  const quiet = await place('{ file: out/events.jsonl }', { task: 'retention' })
  const took = async (work: () => Promise<{ code: number }>) => {
    const begun = performance.now()
    const { code } = await work()
    return { code, ms: performance.now() - begun }
  }
  const usual = await took(() => quiet.run('dag run nightly'))
  const late = await took(() => at.run('dag run nightly', { LINEAGE: url }))
  expect([usual.code, late.code]).toEqual([0, 0])
  expect(late.ms - usual.ms).toBeLessThan(3_000)
  expect(posted.length).toBe(1)
})

test('a file that cannot be written, and a run that was stopped', async () => {
  const at = await place('{ file: w.duckdb/events.jsonl }', { task: 'retention' })
  const { code, err } = await at.run('dag run nightly')
  expect([code, err.match(/warning: a lineage event was not sent/g)?.length]).toEqual([0, 1])
  const stopped = await place('{ file: out/events.jsonl }')
  await stopped.run('sync timesheets --quiet', {}, AbortSignal.abort(new Error('stopped')))
  expect(stopped.events().map(({ eventType }) => eventType)).toEqual(['START', 'ABORT'])
  expect(stopped.events().flatMap(problemsOf)).toEqual([])
})

test('a run that is stopped does not wait for an endpoint that never answers', async () => {
  const { posted, url } = await endpoint('never')
  const at = await place(`{ url: "\${LINEAGE}", seconds: 300 }`)
  const stop = new AbortController()
  const begun = performance.now()
  const ended = at.run('build', { LINEAGE: url }, stop.signal)
  await expect.poll(() => posted.length, { timeout: 20_000 }).toBe(1)
  stop.abort(new Error('stopped'))
  expect((await ended).err).toContain('lineage.url: muster was stopped')
  expect(performance.now() - begun).toBeLessThan(20_000)
})

const foreign: Readonly<Record<string, (cwd: string) => unknown>> = {
  'the warehouse': () => undefined,
  'a link': cwd => symlinkSync('nowhere', join(cwd, 'lines')),
  'a pipe': cwd => spawnSync('mkfifo', [join(cwd, 'lines')]),
  'a file that holds something else': cwd => writeFileSync(join(cwd, 'lines'), 'precious'),
}

test.each(Object.entries(foreign))(
  '%s takes no events, and the run ends as it would have',
  async (name, make) => {
    const file = name === 'the warehouse' ? 'w.duckdb' : 'lines'
    const at = await place(`{ file: ${file} }`, { task: 'retention' })
    make(at.cwd)
    const before = name.startsWith('the') && readFileSync(join(at.cwd, file)).subarray(0, 16)
    const { code, err } = await at.run('dag run nightly')
    expect([code, err]).toEqual([0, expect.stringMatching(/not sent: lineage\.file: th(is|ere) /)])
    if (before) expect(readFileSync(join(at.cwd, file)).subarray(0, 16)).toEqual(before)
    expect(existsSync(join(at.cwd, 'nowhere'))).toBe(false)
  },
)

test.each([
  ['{}', /lineage needs url or file/],
  ['{ url: "nowhere" }', /lineage\.url must be an address/],
  ['{ file: "x", token: "plain" }', /lineage\.token holds the secret itself/],
])('settings %s are refused in one line', async (lineage, expected) => {
  const at = await place(lineage)
  const { code, err } = await at.run('build')
  expect([code, err]).toEqual([78, expect.stringMatching(expected)])
})
