/** What a landing in a bucket costs: requests by method, as the bucket sees them. */
import { expect, test } from 'vitest'
import { keptSandbox } from '../../sandbox/open-sandbox.ts'
import { machine } from '../../support/machine.ts'
import { useEngines } from '../../support/warehouse-fixture.ts'
import { startS3 } from './s3-server.ts'

const s3 = await startS3()
const engines = useEngines()

/** What is put to try the bucket is removed, by a request whose path does not say so. */
const tries = 1

test('a page is one request, a scan seven with a batch, and its archive eight', async () => {
  const bucket = await s3.bucket()
  const sandbox = await keptSandbox({ scale: 0.1, rateLimitPerMinute: 100_000 })
  const warehouse = await engines.duckdb()
  await warehouse.close()
  const env = { ...s3.env, MUSTER_BASE_URL: sandbox.url, MUSTER_WAREHOUSE: warehouse.address }
  const here = machine({ ...env, MUSTER_LANDING: `s3://${bucket.name}` })
  const counted = async (line: string) => {
    const requests: Record<string, number> = {}
    s3.onRequest = ({ method, path }) => {
      if (!path.includes('.muster-try')) requests[method] = (requests[method] ?? 0) + 1
      return undefined
    }
    expect(await here.run(line)).toMatchObject({ code: 0, err: '' })
    s3.onRequest = () => undefined
    return requests
  }
  const first = await counted('sync --quiet timesheets')
  const scans = (await bucket.keys('manifests/')).length
  const pages = (await bucket.keys('pages/')).length
  expect(pages).toBeGreaterThan(scans)
  // A scan is begun, its only batch is noted as loaded, and it is completed; before the first and the last its manifest is read
  // and its pages are listed.
  expect(first).toEqual({ PUT: pages + 3 * scans, GET: expect.any(Number), POST: tries })
  expect(first.GET).toBeLessThanOrEqual(scans * 4 + 3)
  const before = pages
  const second = await counted('sync --quiet sites')
  const archives = (await bucket.keys('archives/')).length
  expect(archives).toBeGreaterThanOrEqual(scans)
  const made = (await bucket.keys('pages/')).length + (await bucket.keys('manifests/')).length * 3 - scans * 2
  expect(second.PUT).toBeLessThanOrEqual(made + archives)
  // Each page is read once, and each archived scan needs its manifest and two lists of what is left.
  expect(second.GET).toBeLessThanOrEqual(before + 4 * scans + 16)
  expect(second.POST).toBe(scans + tries)
})
