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
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { muster } from '../cli/captured-world.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { describeOnEngines, syncOnce } from '../warehouse/fixture.ts'

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

/** A file of each kind: of a list, a snapshot and records by id, as files and in archives. */
function kindsOf(root: string): string[] {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(name => statSync(join(root, name)).isFile())
    .sort()
  const kinds = new Map<string, string>()
  for (const name of files) {
    const kind = basename(name).replace(/^\d{6}_.*\.json$/, 'page')
    const resource = /-(timesheets|access-rules|trades)/.exec(name)?.[1] ?? ''
    if (resource === '' && dirname(name) !== '.') continue
    kinds.set(`${resource} ${dirname(name).endsWith('.archive')} ${kind}`, name)
  }
  return [...kinds.values()]
}

describeOnEngines(
  'every file of a landing',
  bench => {
    test('damaged in every way', async () => {
      const sandbox = await openSandbox({ scale: 0.004, rateLimitPerDay: 1_000_000 })
      const warehouse = await bench.warehouse()
      for (let night = 0; night < 2; night += 1) {
        const clock = { now: () => Date.UTC(2026, 10, 3 + night), sleep: systemClock.sleep }
        const { failure } = await syncOnce(sandbox, warehouse, { effects: { clock } })
        expect(failure).toBeUndefined()
      }
      await warehouse.close()
      const folder = mkdtempSync(join(tmpdir(), 'muster-every-file-'))
      const files = kindsOf(warehouse.landing)
      expect(files.length).toBeGreaterThan(12)
      const quiet: string[] = []
      for (const name of files)
        for (const [way, damage] of Object.entries(damages)) {
          const landing = join(folder, 'landing')
          rmSync(landing, { recursive: true, force: true })
          cpSync(warehouse.landing, landing, { recursive: true })
          const siblings = readdirSync(dirname(join(landing, name))).map(one =>
            join(landing, dirname(name), one),
          )
          damage(
            join(landing, name),
            siblings.filter(one => statSync(one).isFile()),
          )
          const env = {
            MUSTER_BASE_URL: sandbox.url,
            MUSTER_API_KEY: 'sandbox-company-key',
            MUSTER_WAREHOUSE: warehouse.address,
            MUSTER_LANDING: landing,
          }
          const { code, out, err } = await muster('replay', { env, clock: systemClock })
          const said = out + err
          const isNamed = said.includes(dirname(name) === '.' ? name : dirname(name).replace('.archive', ''))
          if (code !== 3 || /unexpected| {4}at /.test(said) || !isNamed)
            quiet.push(`${way}: ${name}: ${code} ${said}`)
        }
      expect(quiet).toEqual([])
      rmSync(folder, { recursive: true, force: true })
    }, 3_600_000)
  },
  'duckdb',
)
