/** Makes marts of altered statements over a worn star and over the worlds of the audit, and compares the rows with what is right. */

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
import { auditWorlds } from '../../marts/audit/worlds.ts'
import { checkDigests, madeRows, martDigests, type Worn, wornOf } from '../../marts/audit/worn.ts'
import { statesForChecks } from '../../marts/audit/worn-marts.ts'
import { filledAt } from '../../support/filled-warehouse.ts'
import { templateFile } from '../../support/warehouse-fixture.ts'

interface World extends Worn {
  /** Rows of each mart; absent in the worn world, where the unaltered statements say what is right. */
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
  for (const one of [...readMarts(), ...writtenChecks()])
    world.right.set(one.name, await digestsIn(world, one))
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
    for (const one of writtenChecks()) world.right.set(one.name, await digestsIn(world, one))
    worlds.push(world)
  }
  return worlds
}

async function isWrong(world: World, mart: Mart): Promise<boolean> {
  if (!world.expected) return (await digestsIn(world, mart)) !== world.right.get(mart.name)
  const audit = audits.find(one => one.mart === mart.name)
  const expected = world.expected.get(mart.name)
  if (!audit || !expected) return false
  const actual = await madeRows(world, mart)
  const text = JSON.stringify(actual)
  if (world.right.get(mart.name) === text) return false
  const isRight = differences(mart, audit, { expected, actual }).lines.length === 0
  if (isRight) world.right.set(mart.name, text)
  return !isRight
}

export class MartsJudge {
  readonly #original = new Map(readMarts().map(mart => [mart.name, mart.select]))
  readonly #folder = mkdtempSync(join(tmpdir(), 'muster-mutants-'))
  #worlds: readonly World[] = []
  #worldsOfChecks: readonly World[] = []

  async open(): Promise<void> {
    const files = auditWorlds.map(([seed]) => join(this.#folder, `${seed}.duckdb`))
    const audited: World[] = []
    for (const [place, world] of auditWorlds.entries())
      audited.push(await auditedWorld(files[place] as string, world))
    const worn = join(this.#folder, 'worn.duckdb')
    copyFileSync(files[0] as string, worn)
    const world = await wornWorld(worn)
    await world.engine.run('checkpoint')
    this.#worlds = [world, ...audited]
    this.#worldsOfChecks = [world, ...(await worldsOfChecks(worn, world))]
  }

  async close(): Promise<void> {
    for (const { engine } of new Set([...this.#worlds, ...this.#worldsOfChecks])) await engine.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Whether the check finds something else in a worn world. */
  async isOtherCheck(check: Check): Promise<boolean> {
    for (const world of this.#worldsOfChecks)
      if ((await digestsIn(world, check)) !== world.right.get(check.name)) return true
    return false
  }

  /** Reads the marts as they are now. A statement that fails is noticed. */
  judge(): Judged {
    const touched = readMarts().filter(({ name, select }) => this.#original.get(name) !== select)
    const isNoticed = async () => {
      for (const mart of touched)
        for (const world of this.#worlds) if (await isWrong(world, mart).catch(() => true)) return true
      return false
    }
    return { readers: touched.length, isNoticed }
  }
}
