/** Runs altered checks over a worn warehouse, a sound one, and one with each error that is planted for them. */
import { type Check, writtenChecks } from '../../../src/marts/checks/check.ts'
import { failedRows, runCheck } from '../../../src/marts/checks/run.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { checkMoment, isFound, planted } from '../../marts/planted.ts'
import { buildAll } from '../../support/built-marts.ts'
import { useFilled } from '../../support/filled-warehouse.ts'
import type { Judged, MartsJudge } from './marts-judge.ts'
import { inTime } from './time-limits.ts'

const textOf = ({ parts }: Check): string => parts.map(({ select }) => select).join('\n')

export class ChecksJudge {
  readonly #original = new Map(writtenChecks().map(check => [check.name, textOf(check)]))
  readonly #filled = useFilled()
  readonly #marts: MartsJudge
  #engine: Engine | undefined

  constructor(marts: MartsJudge) {
    this.#marts = marts
  }

  async open(): Promise<void> {
    this.#engine = (await this.#filled.duckdb()).engine
    await buildAll(this.#engine)
    await this.#engine.run('set threads = 1')
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
    const engine = this.#engine as Engine
    if (await this.#marts.isOtherCheck(check)) return true
    const isSound = async () => failedRows(await runCheck(engine, check, checkMoment)) === 0
    if (!(await inTime(check.name, isSound))) return true
    for (const error of planted('duckdb').filter(one => one.check === check.name))
      if (!(await inTime(check.name, () => isFound(engine, check, error)))) return true
    return false
  }
}
