/** Builds and checks every mart as the settings say, for commands that changed what the marts are made of. */
import type { StoredConnection } from '../config/connection.ts'
import { programVersion } from '../lib/package.ts'
import { type BuildEffects, type BuildRequest, buildMarts, type MartResult } from '../marts/build.ts'
import { everyCheck, martGate } from '../marts/checks/gate.ts'
import { readMarts } from '../marts/mart.ts'

/** What the settings say of marts. */
export const martSettings = ({
  fiscalYearStart: fiscalMonth,
  currencies,
  currency,
}: StoredConnection): Pick<BuildRequest, 'fiscalMonth' | 'currencies' | 'currency'> => ({
  fiscalMonth,
  ...(currencies && { currencies }),
  ...(currency !== undefined && { currency }),
})

export async function buildAllMarts(
  effects: Omit<BuildEffects, 'version' | 'gate'>,
  connection: StoredConnection,
): Promise<readonly MartResult[]> {
  const marts = readMarts()
  const built = await buildMarts(
    { ...effects, version: programVersion, gate: martGate(everyCheck(marts)) },
    { marts, names: [], all: true, ...martSettings(connection) },
  )
  return built.marts
}
