/** The built program as a child process that syncs from a sandbox here, and dies when it is told to. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { Sandbox } from '../../src/sandbox/server/sandbox.ts'
import type { WorldRecords } from '../../src/sandbox/world.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { type Dump, tables } from '../support/warehouse-dump.ts'
import type { Bench, Warehouse } from '../support/warehouse-fixture.ts'

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface Death {
  /** The request, counted from 1, that sets it off; later than the last one lets the sync end by itself. */
  readonly atRequest: number
  /** How long after that request arrived; its answer is held back when this is 0. */
  readonly afterMs: number
}

export interface Setting {
  readonly records: WorldRecords
  readonly resources: readonly string[]
}

interface Ended {
  readonly code: number | null
  readonly err: string
}

/** Its own sandbox: requests are counted per process. */
export class Stage {
  readonly #setting: Setting
  readonly #sandbox: Sandbox
  #seen = 0
  #onRequest: (count: number) => Promise<void> | void = () => undefined

  private constructor(setting: Setting, sandbox: Sandbox) {
    this.#setting = setting
    this.#sandbox = sandbox
  }

  static async open(setting: Setting): Promise<Stage> {
    let stage: Stage | undefined
    const onRequest = async () => {
      if (!stage) return
      stage.#seen += 1
      await stage.#onRequest(stage.#seen)
    }
    const sandbox = await keptSandbox({
      records: setting.records,
      rateLimitPerMinute: 100_000,
      rateLimitPerDay: 10_000_000,
      onRequest,
    })
    stage = new Stage(setting, sandbox)
    return stage
  }

  close(): Promise<void> {
    return this.#sandbox.close()
  }

  get requests(): number {
    return this.#seen
  }

  /** One process over a closed warehouse; its exit code is null when it was killed. */
  async run(warehouse: Warehouse, death?: Death): Promise<Ended> {
    if (!existsSync(program)) throw new Error(`${program} is missing: npm run build makes it`)
    const env = {
      ...process.env,
      MUSTER_BASE_URL: this.#sandbox.url,
      MUSTER_API_KEY: sandboxKeys.company,
      MUSTER_WAREHOUSE: warehouse.address,
      MUSTER_LANDING: warehouse.landing,
    }
    const child = spawn(process.execPath, [program, 'sync', ...this.#setting.resources], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let err = ''
    child.stderr.on('data', data => {
      err += data
    })
    const dies = once(child, 'exit')
    this.#seen = 0
    this.#onRequest = async count => {
      if (count !== death?.atRequest) return
      if (death.afterMs > 0) {
        setTimeout(() => child.kill('SIGKILL'), death.afterMs)
        return
      }
      child.kill('SIGKILL')
      await dies
    }
    const [code] = (await dies) as [number | null]
    this.#onRequest = () => undefined
    await wait(0)
    return { code, err }
  }

  /** What an undisturbed sync makes of the setting, and how many requests it takes. */
  async undisturbed(bench: Bench): Promise<{ readonly dump: Dump; readonly requests: number }> {
    const warehouse = await bench.warehouse()
    await warehouse.close()
    expect(await this.run(warehouse)).toMatchObject({ code: 0 })
    const requests = this.#seen
    await warehouse.open()
    return { dump: await tables(warehouse.engine), requests }
  }

  /** Dies at each of these moments in turn, then syncs once more: says what differs from `expected`, which is nothing. */
  async survives(bench: Bench, deaths: readonly Death[], expected: Dump): Promise<{ killed: number }> {
    const warehouse = await bench.warehouse()
    await warehouse.close()
    let killed = 0
    for (const death of deaths) if ((await this.run(warehouse, death)).code === null) killed += 1
    expect(await this.run(warehouse)).toMatchObject({ code: 0 })
    await warehouse.open()
    const dump = await tables(warehouse.engine)
    for (const name of new Set([...Object.keys(expected), ...Object.keys(dump)]))
      expect({ deaths, name, rows: dump[name] }).toEqual({ deaths, name, rows: expected[name] })
    return { killed }
  }
}
