/** Command lines on a warehouse of any engine, at the real time, with a service at some address. */
import { systemClock } from '../../src/lib/clock.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { muster, temporaryFolder } from './captured-world.ts'
import type { Warehouse } from './warehouse-fixture.ts'

/** Closes the warehouse: commands open it for themselves. */
export async function commandsOn(warehouse: Warehouse, { url }: { readonly url: string }) {
  await warehouse.close()
  const env = {
    MUSTER_BASE_URL: url,
    MUSTER_API_KEY: sandboxKeys.company,
    MUSTER_WAREHOUSE: warehouse.address,
    MUSTER_LANDING: warehouse.landing,
  }
  const cwd = temporaryFolder()
  const command = (line: string, more: Readonly<Record<string, string>> = {}) =>
    muster(line, { env: { ...env, ...more }, cwd, clock: systemClock })
  return { command, cwd }
}
