/** `muster alerts`: lists the alerts of the settings as of the last build, and when they fired. */
import { openToRead } from '../../app/connection/warehouse.ts'
import { alertQueries } from '../../app/notify/evaluate-alerts.ts'
import type { AlertSettings } from '../../config/alerts.ts'
import { clockTime } from '../../lib/dates.ts'
import { readMarts } from '../../marts/mart.ts'
import { firedAlerts, openAlerts } from '../../state/notifications/alerts.ts'
import type { AlertRow } from '../../state/notifications/tables.ts'
import { type CommandModule, integerBetween, numberOf } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

export const command: CommandModule = {
  options: [
    {
      flags: '--limit <number>',
      summary: 'number of times fired to show',
      parse: integerBetween(1),
      fallback: 20,
    },
  ],
  notes: ['Each build evaluates the alerts, on settled weeks and months only.'],
  examples: ['muster alerts', 'muster alerts --limit 5', 'muster alerts --json'],
  run: async (context, _, options) => {
    const connection = context.stored()
    // Throws for an alert of a measure that does not exist.
    alertQueries(connection.alerts, readMarts())
    const { handle: engine } = await openToRead(connection, context, { threads: 1 })
    try {
      const current = await openAlerts(engine)
      const fired = await firedAlerts(engine, numberOf(options, 'limit'))
      if (context.json) printJson(context, { alerts: current, fired })
      else print(context, connection.alerts, { current, fired })
      return 0
    } finally {
      await engine.close()
    }
  },
}

const rounded = (value: number | null): string => {
  if (value === null) return ''
  const digits = { minimumFractionDigits: Number.isInteger(value) ? 0 : 2, maximumFractionDigits: 2 }
  return new Intl.NumberFormat('en-GB', digits).format(value)
}

const conditionOf = ({ condition, low, high }: AlertRow): string =>
  low === null ? condition : `${condition}: ${rounded(low)} to ${rounded(high)}`

interface ShownAlerts {
  readonly current: readonly AlertRow[]
  readonly fired: readonly AlertRow[]
}

function print(
  context: CommandContext,
  alerts: readonly AlertSettings[],
  { current, fired }: ShownAlerts,
): void {
  const waiting = alerts.filter(({ name }) => current.every(({ alert }) => alert !== name))
  if (current.length > 0) printCurrent(context, current)
  if (waiting.length > 0) {
    const names = waiting.map(({ name }) => name).join(', ')
    printLine(context, `not evaluated yet: ${names}; muster build evaluates them`)
  }
  if (fired.length > 0) printFired(context, fired)
  else printLine(context, alerts.length === 0 ? 'the settings have no alerts' : 'none has fired')
}

function printCurrent(context: CommandContext, current: readonly AlertRow[]): void {
  printTable(
    context,
    ['alert', 'state', 'value', 'of', 'condition', 'period', 'since', { title: 'note', breaks: true }],
    current.map(row => [
      ...[row.alert, row.state, rounded(row.value), row.group_key, conditionOf(row)],
      ...[row.period, clockTime(row.began_at), row.note],
    ]),
  )
  for (const { state, query, alert } of current)
    if (state === 'fires' && query !== null)
      printLine(context, `rows of ${alert}: muster sql "${query.replaceAll('"', '\\"')}"`)
}

function printFired(context: CommandContext, fired: readonly AlertRow[]): void {
  printTable(
    context,
    ['fired', 'from', 'until', 'value', 'of', 'period'],
    fired.map(row => [
      ...[row.alert, clockTime(row.began_at), row.ended_at === null ? 'now' : clockTime(row.ended_at)],
      ...[rounded(row.value), row.group_key, row.period],
    ]),
  )
}
