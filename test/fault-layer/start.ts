/** A sandbox behind the layer of faults. */
import { systemClock } from '../../src/lib/clock.ts'
import { defaultKeys } from '../../src/sandbox/keys/default-keys.ts'
import type { ApiKey } from '../../src/sandbox/keys/keys.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server/sandbox.ts'
import type { SandboxOptions } from '../../src/sandbox/server/settings.ts'
import type { WorldRecords } from '../../src/sandbox/world.ts'
import { type Layer, type LayerOptions, startLayer } from './layer.ts'

/** The layer itself asks with this key; the sandbox counts those requests apart. */
const ownKey: ApiKey = {
  key: 'key-of-the-fault-layer',
  kind: 'company',
  rateLimitPerMinute: 1e9,
  rateLimitPerDay: 1e9,
}

/** A caller's own records name their agencies only by reference: without a list of them, the references make one. */
function withAgencies(records: WorldRecords): WorldRecords {
  if (records.agencies) return records
  const agencies = new Map<string, { readonly id: string; readonly name: string }>()
  for (const { agency } of Object.values(records).flat() as {
    agency?: { id?: string; name?: string } | null
  }[]) {
    const { id, name } = agency ?? {}
    if (id !== undefined && name !== undefined && !agencies.has(id)) agencies.set(id, { id, name })
  }
  return { ...records, agencies: [...agencies.values()] }
}

export const startHonestSandbox = ({ records, ...options }: SandboxOptions): Promise<Sandbox> =>
  startSandbox({ ...options, ...(records && { records: withAgencies(records) }) })

export interface FaultySandbox
  extends Omit<Sandbox, 'requests'>,
    Pick<Layer, 'setQuirks' | 'faults' | 'requests'> {}

export interface FaultyOptions extends SandboxOptions, LayerOptions {}

export async function startFaultySandbox(options: FaultyOptions = {}): Promise<FaultySandbox> {
  const { quirks, faults, faultSeed, intercept, onRequest, ...rest } = options
  const { keys = defaultKeys, clock = systemClock, seed = 1, dateHeader } = rest
  const sandbox = await startHonestSandbox({ ...rest, keys: [...keys, ownKey] })
  const layer = await startLayer({
    ...{ service: sandbox.url, world: sandbox.world, ownKey: ownKey.key, seed, clock, onRequest },
    dateHeader: dateHeader ?? (() => new Date(clock.now()).toUTCString()),
    ...(quirks && { quirks }),
    ...(faults && { faults }),
    ...(faultSeed !== undefined && { faultSeed }),
    ...(intercept && { intercept }),
  })
  const { url, requests, setQuirks } = layer
  return {
    ...sandbox,
    ...{ url, requests, setQuirks, faults: layer.faults },
    violations: () => [...sandbox.violations(), ...layer.violations()],
    close: async () => {
      await layer.close()
      await sandbox.close()
    },
  }
}
