/** SIGKILL in a build: each mart is as before or as the build makes it, and the next build keeps no mart that is not up to date. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { inQuick } from '../support/long-suite.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { build, marts, rowsOf, wholeRows } from './complete-rows.ts'
import { aSheet, type Happening, LivingStar } from './living-star.ts'

const script = fileURLToPath(new URL('dying-statement.ts', import.meta.url))

/** Whether it was killed: its build had so many statements. */
async function dies(address: string, now: number, statement: number): Promise<boolean> {
  const args = ['--import', 'tsx', script, address, String(now), String(statement)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code, signal] = await once(child, 'exit')
  if (signal === null) expect(code).toBe(0)
  return signal === 'SIGKILL'
}

const sheet = (worker: number): Happening => ({
  kind: 'sheets',
  sheets: [{ ...aSheet, id: 1, worker, hours: 40 + worker, costCode: worker % 3 }],
})

/** A build has some fifteen. */
const statements = Array.from({ length: 16 }, (_, index) => index + 1)

describeOnEngines('a build that is killed', bench => {
  test('leaves marts as they were or as they are to be, and the next one builds those that are behind', async () => {
    const warehouse = await bench.warehouse()
    const star = new LivingStar()
    let killed = 0
    const states = new Set<string>()
    try {
      const others = [2, 3, 4].map(id => ({ ...aSheet, id, worker: id % 4 }))
      await star.happen(warehouse.engine, { kind: 'sheets', sheets: others })
      await star.happen(warehouse.engine, sheet(0))
      await build(warehouse.engine, star.now)
      for (const [turn, statement] of inQuick(statements, 2, 6, 10).entries()) {
        await star.happen(warehouse.engine, sheet((turn + 1) % 4))
        const before = new Map<string, readonly string[]>()
        for (const mart of marts) before.set(mart.name, await rowsOf(warehouse.engine, mart))
        await warehouse.close()
        if (await dies(warehouse.address, star.now, statement)) killed += 1
        await warehouse.open()
        for (const mart of marts) {
          const whole = await wholeRows(warehouse.engine, mart, star.now)
          const rows = await rowsOf(warehouse.engine, mart)
          expect([mart.name, statement, [before.get(mart.name), whole]]).toEqual([
            mart.name,
            statement,
            expect.arrayContaining([rows]),
          ])
        }
        const next = await build(warehouse.engine, star.now)
        for (const { state } of next.marts) states.add(state)
        for (const mart of marts)
          expect([mart.name, statement, await rowsOf(warehouse.engine, mart)]).toEqual([
            mart.name,
            statement,
            await wholeRows(warehouse.engine, mart, star.now),
          ])
      }
      expect(killed).toBeGreaterThan(1)
      expect([...states].sort()).toEqual(['built', 'unchanged'])
    } finally {
      star.close()
    }
  }, 900_000)
})
