/** Each file that a landing holds, damaged in each way: the replay names it, loads the rest, and never ends unexpectedly. */
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { muster } from '../support/captured-world.ts'
import { type Dump, tables } from '../support/warehouse-dump.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'

type Damage = (file: string, others: readonly string[]) => void

const damages: Readonly<Record<string, Damage>> = {
  gone: file => rmSync(file),
  empty: file => truncateSync(file, 0),
  'half of it': file => truncateSync(file, Math.floor(statSync(file).size / 2)),
  garbage: file => writeFileSync(file, Buffer.from([0, 255, 123, 10, 34, 0, 92])),
  'other JSON': file => writeFileSync(file, '{"resource":"nonsense","files":[{}],"data":[]}'),
  'a flipped bit': file => {
    const bytes = readFileSync(file)
    bytes[Math.floor(bytes.length / 2)]! ^= 4
    writeFileSync(file, bytes)
  },
  'the content of another': (file, others) => {
    const other = others.find(one => one !== file && !readFileSync(one).equals(readFileSync(file)))
    if (other) writeFileSync(file, readFileSync(other))
    else rmSync(file)
  },
}

/** What stays as it is in every replay, and must be there after it. */
const untouched = 'companies'
const touched = ['timesheets', 'access-rules', 'trades']

interface Case {
  readonly name: string
  readonly way: string
  readonly damage: Damage
}

/** A manifest and a file of each scan of a list, a snapshot or records by id, as files and in archives; in each way. */
function casesOf(root: string): Case[][] {
  const kinds = new Map<string, string>()
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.startsWith('.') || !statSync(join(root, name)).isFile() || name.includes(`-${untouched}`))
      continue
    kinds.set(scanOf(name) + dirname(name), name)
  }
  const byScan = new Map<string, Case[]>()
  for (const name of kinds.values())
    for (const [way, damage] of Object.entries(damages)) {
      byScan.set(scanOf(name), [...(byScan.get(scanOf(name)) ?? []), { name, way, damage }])
    }
  return [...byScan.values()]
}

/** A file is named by its scan: `manifests/SCAN.json`, `pages/SCAN/…` or `archives/SCAN/…`. */
const scanOf = (name: string): string => (name.split('/')[1] ?? '').replace(/\.json$/, '')

/** One case of each scan a replay, so that all are told apart. */
function* together(scans: readonly Case[][]): Generator<Case[]> {
  const most = Math.max(...scans.map(({ length }) => length))
  for (let turn = 0; turn < most; turn += 1) yield scans.flatMap(cases => cases.slice(turn, turn + 1))
}

function inflict(landing: string, { name, damage }: Case): void {
  const folder = join(landing, dirname(name))
  const others = readdirSync(folder).map(one => join(folder, one))
  damage(
    join(landing, name),
    others.filter(one => statSync(one).isFile()),
  )
}

async function rowsOf(warehouse: Warehouse): Promise<Dump> {
  await warehouse.open()
  const dump = await tables(warehouse.engine)
  await warehouse.close()
  return dump
}

describeOnEngines(
  'every file of a landing',
  bench => {
    test('damaged in every way', async () => {
      const sandbox = await openSandbox({ scale: 0.004, rateLimitPerDay: 1_000_000 })
      const warehouse = await bench.warehouse()
      const request = { resources: [...touched, untouched] }
      for (let night = 0; night < 2; night += 1) {
        const clock = { now: () => Date.UTC(2026, 10, 3 + night), sleep: systemClock.sleep }
        const { failure } = await syncOnce(sandbox, warehouse, { request, effects: { clock } })
        expect(failure).toBeUndefined()
      }
      const undamaged = await rowsOf(warehouse)
      const folder = mkdtempSync(join(tmpdir(), 'muster-every-file-'))
      const folders = casesOf(warehouse.landing)
      expect(folders.length).toBeGreaterThan(3)
      const wrong: string[] = []
      for (const cases of together(folders)) {
        const landing = join(folder, 'landing')
        rmSync(landing, { recursive: true, force: true })
        cpSync(warehouse.landing, landing, { recursive: true })
        for (const one of cases) inflict(landing, one)
        const env = {
          MUSTER_BASE_URL: sandbox.url,
          MUSTER_API_KEY: 'sandbox-company-key',
          MUSTER_WAREHOUSE: warehouse.address,
          MUSTER_LANDING: landing,
        }
        const { code, out, err } = await muster('replay', { env, clock: systemClock })
        const said = out + err
        if (/unexpected| {4}at /.test(said)) wrong.push(said)
        if (code !== 3) wrong.push(`${code} ${said}`)
        for (const { name, way } of cases)
          if (!said.includes(scanOf(name))) wrong.push(`not named: ${way}: ${name}: ${said}`)
      }
      expect(wrong).toEqual([])
      expect((await rowsOf(warehouse))['star.dim_company']).toEqual(undamaged['star.dim_company'])
      rmSync(folder, { recursive: true, force: true })
    }, 600_000)
  },
  'duckdb',
)
