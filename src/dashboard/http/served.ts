/** The dashboard over a warehouse, from opening its reader to closing it. */
import type { Clock } from '../../lib/clock.ts'
import { MartReader, type Source } from '../reader.ts'
import { type DashboardOptions, startDashboard } from './server.ts'

interface Parts {
  readonly source: Source
  readonly clock: Clock
  /** Whether a warehouse that cannot be read now is told at once, rather than by every page. */
  readonly isReadFirst: boolean
}

export interface ServedMarts {
  readonly url: string
  /** Of the token, which browsers do not send; empty without one. */
  readonly fragment: string
  /** Both together. */
  readonly address: string
  close(): Promise<void>
}

/** Throws MusterError or the failure to listen. */
export async function serveMarts(
  { source, clock, isReadFirst }: Parts,
  options: DashboardOptions,
): Promise<ServedMarts> {
  const reader = new MartReader(source, clock)
  try {
    if (isReadFirst) await reader.read(async () => undefined)
    const { url, close } = await startDashboard(reader, options)
    const fragment = options.token === undefined ? '' : `#token=${options.token}`
    return {
      url,
      fragment,
      address: url + fragment,
      close: async () => {
        await close()
        await reader.close()
      },
    }
  } catch (error) {
    await reader.close()
    throw error
  }
}
