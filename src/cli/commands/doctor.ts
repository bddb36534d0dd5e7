/** `muster doctor`: checks everything that a sync needs, and says what to do about each problem. */

import { alertFindings } from '../../app/checkup/alerts.ts'
import { type CheckupFinding, failed, ok, warn } from '../../app/checkup/finding.ts'
import { keyFindings, resourceFindings } from '../../app/checkup/key.ts'
import { encryption, lake, landing } from '../../app/checkup/landing.ts'
import {
  clockFinding,
  diskSpace,
  networkFindings,
  nodeVersion,
  pauseFinding,
} from '../../app/checkup/machine.ts'
import {
  checkFile,
  checkServer,
  defaultFindings,
  inboxFindings,
  readerFindings,
  webhookFindings,
} from '../../app/checkup/warehouse.ts'
import { openAdHocClient } from '../../app/connection/ad-hoc-client.ts'
import { duckdbFile, inboxBounds, inboxFolder, reserveOf } from '../../app/connection/storage.ts'
import { openUnchanged } from '../../app/connection/warehouse.ts'
import type { Connection } from '../../config/connection.ts'
import { loggedBytes } from '../../events/event-log.ts'
import { counted } from '../../lib/counted.ts'
import type { ExitStatus } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { withPlaceOfKey } from '../failure.ts'
import { retentionText } from '../reports/status-lines.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

export const command: CommandModule = {
  examples: ['muster doctor', 'muster doctor --connection acme --json'],
  run: async context => {
    const { findings, requests } = await examine(context)
    context.signal.throwIfAborted()
    print(
      context,
      findings.map(one => placed(one, context)),
      requests,
    )
    return statusOf(findings)
  },
}

interface Examination {
  readonly findings: readonly CheckupFinding[]
  readonly requests: number
}

async function examine(context: CommandContext): Promise<Examination> {
  const findings: CheckupFinding[] = [nodeVersion(process.version)]
  let connection: Connection
  try {
    connection = context.connection()
  } catch (error) {
    return { findings: [...findings, failed('settings', error)], requests: 0 }
  }
  findings.push(...settingsFindings(context))
  const file = duckdbFile(connection)
  const open = (): Promise<Engine> => openUnchanged(connection)
  const { finding, engine } = file === undefined ? await checkServer(open) : await checkFile(file, open)
  try {
    findings.push(
      finding,
      ...(await defaultFindings(engine)),
      await landing(connection, context.signal),
      ...(await lake(connection, context.signal)),
      diskSpace(file ?? connection.landing, reserveOf(connection)),
      encryption(connection),
      ok('retention', retentionText(connection)),
      ...(await alertFindings(connection.alerts, engine)),
    )
    if (file === undefined) findings.push(...(await readerFindings(engine)))
    const room = {
      bounds: inboxBounds(connection),
      logged: file === undefined ? 0 : loggedBytes(inboxFolder(file)),
    }
    findings.push(...(await webhookFindings(connection, engine)), ...(await inboxFindings(engine, room)))
    findings.push(...networkFindings(connection, context.env))
    const asked = await askService(connection, context, engine)
    return { findings: [...findings, ...asked.findings], requests: asked.requests }
  } finally {
    await engine?.close()
  }
}

function settingsFindings(context: CommandContext): CheckupFinding[] {
  const { source, warnings, remarks, connections } = context.settings()
  const names = [...connections.keys()].join(', ')
  return [
    ok('settings', `${source}: ${names}`),
    ...[...warnings, ...remarks].map(warning => warn('settings', warning, 'correct it there')),
  ]
}

async function askService(
  connection: Connection,
  context: CommandContext,
  engine: Engine | undefined,
): Promise<Examination> {
  const findings: CheckupFinding[] = []
  try {
    const { client, clock, close, pausedForMs } = await openAdHocClient(connection, context, engine)
    try {
      findings.push(...[pauseFinding(pausedForMs, context.clock.now())].filter(found => found !== undefined))
      const key = await client.getMe()
      findings.push(
        clockFinding(clock),
        ...keyFindings(key, clock.now()),
        ...(await resourceFindings(client, key)),
      )
    } catch (error) {
      context.signal.throwIfAborted()
      findings.push(failed('key', error))
    }
    const requests = client.usage().requestsThisRun
    await close()
    return { findings, requests }
  } catch (error) {
    // The address or key is invalid, so nothing was sent.
    return { findings: [failed('key', error)], requests: 0 }
  }
}

/** Adds where the key is set: checks of the key do not know the settings. */
const placed = (finding: CheckupFinding, { keyPlace }: CommandContext): CheckupFinding =>
  finding.advice === undefined ? finding : { ...finding, advice: withPlaceOfKey(finding.advice, keyPlace) }

function statusOf(findings: readonly CheckupFinding[]): ExitStatus {
  const failures = findings.filter(({ state }) => state === 'fail')
  if (failures.some(({ isConfiguration }) => isConfiguration)) return 78
  if (failures.length === 0) return 0
  return failures.every(({ isPassing }) => isPassing) ? 75 : 1
}

function print(context: CommandContext, findings: readonly CheckupFinding[], requests: number): void {
  const count = (state: CheckupFinding['state']): number =>
    findings.filter(finding => finding.state === state).length
  if (context.json) {
    printJson(context, { ok: count('fail') === 0, requests, findings })
    return
  }
  printTable(
    context,
    ['', 'check', { title: 'found', breaks: true }],
    findings.map(({ state, check, found }) => [state, check, found]),
  )
  for (const advice of new Set(findings.flatMap(one => one.advice ?? []))) {
    const checks = findings.filter(one => one.advice === advice).map(({ check }) => check)
    printLine(context, `${checks.join(', ')}: ${advice}`)
  }
  const trouble = `${count('fail')} failed, ${counted(count('warn'), 'warning')}`
  printLine(context, `${count('ok')} ok, ${trouble}; spent ${counted(requests, 'request')}`)
}
