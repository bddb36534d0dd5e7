/**
 * Runs altered checks over a worn warehouse, a sound one, one with each error that is planted for them, and one with small
 * errors in its star or in one column of a mart.
 */
import { copyFileSync } from 'node:fs'
import { type Check, writtenChecks } from '../../../src/marts/checks/check.ts'
import { failedRows, runCheck } from '../../../src/marts/checks/run.ts'
import { openDuckdb } from '../../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { checkMoment, isFound, planted } from '../../marts/planted.ts'
import { foundIn, foundInMart, plantSmallErrors } from '../../marts/small-errors.ts'
import { buildAll } from '../../support/built-marts.ts'
import { useFilled } from '../../support/filled-warehouse.ts'
import type { Judged, MartsJudge } from './marts-judge.ts'
import { inTime, measured } from './time-limits.ts'

const textOf = ({ parts }: Check): string => parts.map(({ select }) => select).join('\n')

/** Its statements take their own time. */
const inMart = (name: string): string => `${name} in its mart`

/** A sound warehouse, and a copy of it whose star has small errors. */
interface Warehouses {
  readonly sound: Engine
  readonly faulty: Engine
}

export class ChecksJudge {
  readonly #original = new Map(writtenChecks().map(check => [check.name, textOf(check)]))
  readonly #filled = useFilled()
  readonly #marts: MartsJudge
  /** What the unaltered checks find with small errors. */
  readonly #rightInStar = new Map<string, string>()
  readonly #rightInMart = new Map<string, readonly string[]>()
  #warehouses: Warehouses | undefined

  constructor(marts: MartsJudge) {
    this.#marts = marts
  }

  async open(): Promise<void> {
    const sound = (await this.#filled.duckdb()).engine
    await buildAll(sound)
    await sound.run('set threads = 1; checkpoint')
    const copy = `${sound.location}-faulty`
    copyFileSync(sound.location, copy)
    const faulty = await openDuckdb(copy, { threads: 1 })
    await plantSmallErrors(faulty)
    this.#warehouses = { sound, faulty }
    for (const check of writtenChecks()) {
      const found = await measured(check.name, () => foundIn(faulty, check))
      this.#rightInStar.set(check.name, JSON.stringify(found))
    }
  }

  async close(): Promise<void> {
    await this.#warehouses?.faulty.close()
  }

  /** Reads the checks as they are now. A statement that fails is noticed. */
  judge(): Judged {
    const touched = writtenChecks().filter(check => this.#original.get(check.name) !== textOf(check))
    const isNoticed = async () => {
      for (const check of touched) if (await this.#isWrong(check).catch(() => true)) return true
      return false
    }
    return { readers: touched.length, isNoticed }
  }

  async #isWrong(check: Check): Promise<boolean> {
    const { sound, faulty } = this.#warehouses as Warehouses
    if (await this.#marts.isOtherCheck(check)) return true
    const isSound = async () => failedRows(await runCheck(sound, check, checkMoment)) === 0
    if (!(await inTime(check.name, isSound))) return true
    const inStar = await inTime(check.name, () => foundIn(faulty, check))
    if (JSON.stringify(inStar) !== this.#rightInStar.get(check.name)) return true
    for (const error of planted('duckdb').filter(one => one.check === check.name))
      if (!(await inTime(check.name, () => isFound(sound, check, error)))) return true
    return this.#isOtherInMart(check)
  }

  async #isOtherInMart(check: Check): Promise<boolean> {
    const { sound } = this.#warehouses as Warehouses
    const right = await this.#inMart(check.name)
    const isSame = (found: string, place: number): boolean => found === right[place]
    const all = await inTime(inMart(check.name), () => foundInMart(sound, check, isSame))
    return all.length !== right.length || !all.every(isSame)
  }

  /** Asked for when it is needed first: few mutants get so far. */
  async #inMart(name: string): Promise<readonly string[]> {
    const known = this.#rightInMart.get(name)
    if (known) return known
    const { sound } = this.#warehouses as Warehouses
    const check = writtenChecks().find(one => one.name === name) as Check
    const all = await measured(inMart(name), () => foundInMart(sound, check))
    this.#rightInMart.set(name, all)
    return all
  }
}
