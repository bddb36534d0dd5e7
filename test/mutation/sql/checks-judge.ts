/** Runs altered checks over a sound warehouse, an empty one, and one with each error that is planted for them. */

import { type Check, writtenChecks } from '../../../src/marts/checks/check.ts'
import { failedRows, runCheck } from '../../../src/marts/checks/run.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { buildAll } from '../../marts/build-all.ts'
import { useFilled } from '../../marts/filled-warehouse.ts'
import { checkMoment, isFound, planted } from '../../marts/planted.ts'
import type { MartsJudge } from './marts-judge.ts'

const selects = ({ parts }: Check): string => parts.map(({ select }) => select).join('\n')

export class ChecksJudge {
  readonly #original = new Map(writtenChecks().map(check => [check.name, selects(check)]))
  readonly #filled = useFilled()
  #engine: Engine | undefined

  readonly #marts: MartsJudge

  constructor(marts: MartsJudge) {
    this.#marts = marts
  }

  async open(): Promise<void> {
    this.#engine = (await this.#filled.duckdb()).engine
    await buildAll(this.#engine)
    await this.#engine.run('set threads = 1')
  }

  judge(): { readonly readers: number; isNoticed(): Promise<boolean> } {
    const touched = writtenChecks().filter(check => this.#original.get(check.name) !== selects(check))
    return {
      readers: touched.length,
      isNoticed: async () => {
        for (const check of touched) if (await this.#isWrong(check).catch(() => true)) return true
        return false
      },
    }
  }

  async #isWrong(check: Check): Promise<boolean> {
    if (await this.#marts.isOtherCheck(check)) return true
    const engine = this.#engine as Engine
    if (failedRows(await runCheck(engine, check, checkMoment)) > 0) return true
    for (const error of planted('duckdb'))
      if (error.check === check.name && !(await isFound(engine, check, error))) return true
    return false
  }
}
