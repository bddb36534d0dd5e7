/** Checks that the alerts of the settings can be evaluated: measures that exist, of marts that are built. */
import type { AlertSettings } from '../../config/alerts.ts'
import { readMarts } from '../../marts/mart.ts'
import { tablesIn } from '../../warehouse/catalogue.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { alertQueries } from '../notify/evaluate-alerts.ts'
import { type CheckupFinding, failed, ok, warn } from './finding.ts'

/** Empty without alerts. */
export async function alertFindings(
  alerts: readonly AlertSettings[],
  engine: Engine | undefined,
): Promise<CheckupFinding[]> {
  if (alerts.length === 0) return []
  try {
    alertQueries(alerts, readMarts())
  } catch (error) {
    return [failed('alerts', error)]
  }
  const built = new Set((engine ? await tablesIn(engine, ['mart']) : []).map(({ name }) => name))
  const waiting = alerts.filter(({ mart }) => !built.has(mart))
  if (engine && waiting.length > 0) {
    const marts = [...new Set(waiting.map(({ mart }) => mart))].join(', ')
    return [warn('alerts', `not built: ${marts}`, 'run muster build, which evaluates the alerts')]
  }
  return [ok('alerts', alerts.map(({ name }) => name).join(', '))]
}
