/** Makes marts of altered statements over a worn star and over the worlds of the audit, and compares them with what was there. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Check, writtenChecks } from '../../../src/marts/checks/check.ts'
import type { CheckMoment } from '../../../src/marts/checks/run.ts'
import { momentAt } from '../../../src/marts/inputs.ts'
import { type Mart, readMarts } from '../../../src/marts/mart.ts'
import { openDuckdb } from '../../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { auditedService } from '../../marts/audit/audited.ts'
import { audits } from '../../marts/audit/audits.ts'
import { differences, type Expected } from '../../marts/audit/compare.ts'
import { countDaysIn } from '../../marts/audit/words.ts'
import { quickWorlds } from '../../marts/audit/worlds.ts'
import { checkDigests, madeRows, martDigests, type Worn, wornOf } from '../../marts/audit/worn.ts'
import { filledAt } from '../../marts/filled-warehouse.ts'
import { templateFile } from '../../warehouse/fixture.ts'

interface World {
  readonly engine: Engine
  readonly moment: CheckMoment
  /** Absent in the worn one, where the unaltered statement says what is right. */
  readonly expected?: ReadonlyMap<string, readonly Expected[]>
  /** What a statement gave that was right, as text. */
  readonly right: Map<string, string>
}

const dev = process.env.MUSTER_WORLDS

async function open(folder: string, [seed, scale, zone]: (typeof quickWorlds)[number]): Promise<World> {
  const file = join(folder, `${seed}.duckdb`)
  const kept = dev && join(dev, `${seed}.duckdb`)
  if (kept && existsSync(kept)) {
    copyFileSync(kept, file)
    const engine = await openDuckdb(file, { reportingZone: zone })
    await engine.run('set threads = 1')
    return {
      engine,
      moment: { ...(await momentAt(engine, Date.parse(filledAt))), now: filledAt },
      right: new Map(),
      expected: new Map(JSON.parse(readFileSync(join(dev as string, `${seed}.json`), 'utf8'))),
    }
  }
  copyFileSync(await templateFile(), file)
  const engine = await openDuckdb(file, { reportingZone: zone })
  const service = await auditedService({ engine, landing: join(folder, `landing-${seed}`) }, { seed, scale })
  countDaysIn(zone)
  const expected = new Map(audits.map(audit => [audit.mart, audit.rows(service)]))
  if (kept) {
    await engine.close()
    copyFileSync(file, kept)
    writeFileSync(join(dev as string, `${seed}.json`), JSON.stringify([...expected]))
    return open(folder, [seed, scale, zone] as never)
  }
  await engine.run('set threads = 1')
  return {
    engine,
    moment: { ...(await momentAt(engine, Date.parse(filledAt))), now: filledAt },
    expected,
    right: new Map(),
  }
}

async function worn(folder: string, seed: number): Promise<World> {
  const file = join(folder, `worn-${seed}.duckdb`)
  copyFileSync(join(folder, `${seed}.duckdb`), file)
  const engine = await openDuckdb(file, { reportingZone: quickWorlds[0][2] })
  await engine.run('set threads = 1')
  const world = { ...(await wornOf(engine)), right: new Map<string, string>() }
  for (const mart of readMarts()) world.right.set(mart.name, await digestsIn(world, mart))
  for (const check of writtenChecks()) world.right.set(check.name, await digestsIn(world, check))
  return world
}

const digestsIn = async (world: Worn, one: Mart | Check): Promise<string> =>
  JSON.stringify(await ('columns' in one ? martDigests(world, one) : checkDigests(world, one)))

export class MartsJudge {
  readonly #original = new Map(readMarts().map(mart => [mart.name, mart.select]))
  readonly #folder = mkdtempSync(join(tmpdir(), 'muster-mutants-'))
  readonly #worlds: World[] = []

  async open(): Promise<void> {
    if (process.env.MUSTER_JUDGE !== 'worn')
      for (const world of quickWorlds) this.#worlds.push(await open(this.#folder, world))
    else (await open(this.#folder, quickWorlds[0])).engine.close()
    if (process.env.MUSTER_JUDGE !== 'audit') this.#worlds.unshift(await worn(this.#folder, 1))
  }

  async close(): Promise<void> {
    for (const { engine } of this.#worlds) await engine.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Whether a check says something else in the worn world. */
  async isOtherCheck(check: Check): Promise<boolean> {
    const [world] = this.#worlds
    if (!world || world.expected) return false
    return (await digestsIn(world, check).catch(() => undefined)) !== world.right.get(check.name)
  }

  /** Reads the marts as they are now, at once; the function then says whether one of them has other rows. */
  judge(): { readonly readers: number; isNoticed(): Promise<boolean> } {
    const touched = readMarts().filter(({ name, select }) => this.#original.get(name) !== select)
    return {
      readers: touched.length,
      isNoticed: async () => {
        for (const mart of touched)
          for (const world of this.#worlds) if (await isWrong(world, mart)) return true
        return false
      },
    }
  }
}

async function isWrong(world: World, mart: Mart): Promise<boolean> {
  if (!world.expected)
    return (await digestsIn(world, mart).catch(() => undefined)) !== world.right.get(mart.name)
  const audit = audits.find(one => one.mart === mart.name)
  const expected = world.expected.get(mart.name)
  if (!audit || !expected) return false
  const actual = await madeRows(world, mart).catch(() => undefined)
  if (actual === undefined) return true
  const text = JSON.stringify(actual)
  if (world.right.get(mart.name) === text) return false
  const isRight = differences(mart, audit, { expected, actual }).lines.length === 0
  if (isRight) world.right.set(mart.name, text)
  return !isRight
}
