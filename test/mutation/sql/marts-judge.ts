/** Makes marts of altered statements over drawn and worn stars and over the worlds of the audit, and compares the rows with what is right. */

import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultDays } from '../../../src/lib/day-rule.ts'
import { type Check, writtenChecks } from '../../../src/marts/checks/check.ts'
import { readReportingTime } from '../../../src/marts/inputs.ts'
import { type Mart, readMarts } from '../../../src/marts/mart.ts'
import { openDuckdb } from '../../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { auditedService } from '../../marts/audit/audited.ts'
import { audits } from '../../marts/audit/audits.ts'
import { differences, type Expected } from '../../marts/audit/compare.ts'
import { drawnOf, drawnWorlds } from '../../marts/audit/drawn-worlds.ts'
import { auditWorlds } from '../../marts/audit/worlds.ts'
import { checkDigests, madeRows, martDigests, type Worn, wornOf } from '../../marts/audit/worn.ts'
import { statesForChecks } from '../../marts/audit/worn-marts.ts'
import { filledAt } from '../../support/filled-warehouse.ts'
import { templateFile } from '../../support/warehouse-fixture.ts'
import { inTime, measured } from './time-limits.ts'

interface World extends Worn {
  /** Rows of each mart; absent in worn and drawn worlds, where the unaltered statements say what is right. */
  readonly expected?: ReadonlyMap<string, readonly Expected[]>
  /** What a statement gave that was right, as text. */
  readonly right: Map<string, string>
}

export interface Judged {
  /** How many statements read the altered text. */
  readonly readers: number
  isNoticed(): Promise<boolean>
}

/** The data are few: more threads would only wait for each other. */
async function open(file: string, zone: string): Promise<Engine> {
  const engine = await openDuckdb(file, { days: { ...defaultDays, zone } })
  await engine.run('set threads = 1')
  return engine
}

async function auditedWorld(file: string, [seed, scale, zone]: (typeof auditWorlds)[number]): Promise<World> {
  copyFileSync(await templateFile(), file)
  const engine = await open(file, zone)
  const service = await auditedService({ engine, landing: `${file}.landing` }, { seed, scale })
  const expected = new Map(audits.map(audit => [audit.mart, audit.rows(service)]))
  await engine.run('checkpoint')
  const moment = { ...(await readReportingTime(engine, Date.parse(filledAt))), now: filledAt }
  return { engine, moment, expected, right: new Map() }
}

const digestsIn = async (world: Worn, one: Mart | Check): Promise<string> =>
  JSON.stringify(await ('columns' in one ? martDigests(world, one) : checkDigests(world, one)))

async function wornWorld(file: string): Promise<World> {
  const world = { ...(await wornOf(await open(file, auditWorlds[0][2]))), right: new Map<string, string>() }
  for (const check of writtenChecks())
    world.right.set(check.name, await measured(check.name, () => digestsIn(world, check)))
  return world
}

/** The worn world once more for each state in which checks find something else. */
async function worldsOfChecks(file: string, { moment }: World): Promise<World[]> {
  const worlds: World[] = []
  for (const [place, bring] of Object.values(statesForChecks).entries()) {
    const copy = `${file}-${place}`
    copyFileSync(file, copy)
    const engine = await open(copy, auditWorlds[0][2])
    await bring(engine)
    const world = { engine, moment, right: new Map<string, string>() }
    for (const one of writtenChecks())
      world.right.set(one.name, await measured(one.name, () => digestsIn(world, one)))
    worlds.push(world)
  }
  return worlds
}

/** Its statement, and those that its computed columns read. */
const textOf = ({ select, columns }: Mart): string => JSON.stringify([select, columns])

/** `original` is the unaltered mart. */
async function isOther(world: World, mart: Mart, original: Mart): Promise<boolean> {
  const right = world.right.get(mart.name) ?? (await measured(mart.name, () => digestsIn(world, original)))
  world.right.set(mart.name, right)
  return (await inTime(mart.name, () => digestsIn(world, mart))) !== right
}

async function isWrong(world: World, mart: Mart, original: Mart): Promise<boolean> {
  if (!world.expected) return isOther(world, mart, original)
  const audit = audits.find(one => one.mart === mart.name)
  const expected = world.expected.get(mart.name)
  if (!audit || !expected) return false
  const actual = await inTime(mart.name, () => madeRows(world, mart))
  const text = JSON.stringify(actual)
  if (world.right.get(mart.name) === text) return false
  const isRight = differences(mart, audit, { expected, actual }).lines.length === 0
  if (isRight) world.right.set(mart.name, text)
  return !isRight
}

export class MartsJudge {
  readonly #original = new Map(readMarts().map(mart => [mart.name, mart]))
  readonly #folder = mkdtempSync(join(tmpdir(), 'muster-mutants-'))
  readonly #drawn: World[] = []
  #worlds: readonly World[] = []
  #worldsOfChecks: readonly World[] = []

  /** For checks one world is enough. */
  async open({ isForMarts }: { readonly isForMarts: boolean }): Promise<void> {
    const files = auditWorlds.map(([seed]) => join(this.#folder, `${seed}.duckdb`))
    const audited: World[] = []
    for (const [place, world] of auditWorlds.slice(0, isForMarts ? undefined : 1).entries())
      audited.push(await auditedWorld(files[place] as string, world))
    const worn = join(this.#folder, 'worn.duckdb')
    copyFileSync(files[0] as string, worn)
    const world = await wornWorld(worn)
    await world.engine.run('checkpoint')
    this.#worlds = [world, ...audited]
    this.#worldsOfChecks = [world, ...(await worldsOfChecks(worn, world))]
  }

  /** Draws the worlds when the first mart is tried: a run over checks needs none of them. They come first, as they are small. */
  async #allWorlds(): Promise<readonly World[]> {
    if (this.#drawn.length === 0)
      for (const one of drawnWorlds) {
        const file = join(this.#folder, `drawn-${one.seed}.duckdb`)
        copyFileSync(join(this.#folder, `${auditWorlds[0][0]}.duckdb`), file)
        this.#drawn.push({ ...(await drawnOf(await open(file, auditWorlds[0][2]), one)), right: new Map() })
      }
    return [...this.#drawn, ...this.#worlds]
  }

  async close(): Promise<void> {
    for (const { engine } of new Set([...this.#drawn, ...this.#worlds, ...this.#worldsOfChecks]))
      await engine.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Whether the check finds something else in a worn world. */
  async isOtherCheck(check: Check): Promise<boolean> {
    for (const world of this.#worldsOfChecks)
      if ((await inTime(check.name, () => digestsIn(world, check))) !== world.right.get(check.name))
        return true
    return false
  }

  /** Reads the marts as they are now. A statement that fails is noticed. */
  judge(): Judged {
    const touched = readMarts().filter(mart => textOf(this.#original.get(mart.name) ?? mart) !== textOf(mart))
    const isNoticed = async () => {
      const worlds = await this.#allWorlds()
      for (const mart of touched) {
        const original = this.#original.get(mart.name) ?? mart
        for (const world of worlds) if (await isWrong(world, mart, original).catch(() => true)) return true
      }
      return false
    }
    return { readers: touched.length, isNoticed }
  }
}
