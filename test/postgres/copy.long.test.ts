/** A warehouse moved from one engine to the other: nothing is lost, and the next sync reads only what changed. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { muster, temporaryFolder } from '../cli/captured-world.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { expectSameRows, syncBoth } from '../warehouse/compared.ts'
import { rowsTouched, syncOnce, useEngines } from '../warehouse/fixture.ts'

const engines = useEngines()

test('from a file to a server, on to a file again, and each goes on without a backfill', async () => {
  const sandbox = await openSandbox({ scale: 0.01, rateLimitPerDay: 1_000_000 })
  const [first, server, last] = [await engines.duckdb(), await engines.postgres(), await engines.duckdb()]
  await syncBoth(sandbox, [first], 40)
  await first.close()
  const move = (from: string, to: string) =>
    muster(`copy --from ${from} --to ${to}`, { clock: systemClock, cwd: temporaryFolder() })
  const moved = await move(first.address, server.address)
  expect(moved).toMatchObject({ code: 0, out: expect.stringMatching(/counted alike; the landed pages stay/) })
  expect(moved.out + moved.err).not.toContain('only%20for')
  await last.close()
  expect(await move(server.address, last.address)).toMatchObject({ code: 0 })
  expect(await move(first.address, server.address)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/target already holds rows.*nothing was changed/),
  })
  await first.open()
  await last.open()
  expect(await expectSameRows(first.engine, server.engine)).toBeGreaterThan(1_000)
  await expectSameRows(first.engine, last.engine)
  const { failure, requests, ...outcome } = await syncOnce(sandbox, server)
  expect(failure).toBeUndefined()
  expect(rowsTouched({ ...outcome, requests })).toBe(0)
  expect(requests).toBeLessThan(60)
}, 90_000)
