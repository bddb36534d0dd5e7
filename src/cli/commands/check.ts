/** `muster check`: checks the warehouse, and says what to do about each failure. */

import { openMade } from '../../app/connection/warehouse.ts'
import { nearest } from '../../config/nearest.ts'
import { type ExitStatus, UsageError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/program-version.ts'
import type { Check } from '../../marts/checks/check.ts'
import { everyCheck } from '../../marts/checks/gate.ts'
import { type CheckReport, reportChecks } from '../../marts/checks/report.ts'
import { failedRows } from '../../marts/checks/run.ts'
import { readMarts } from '../../marts/mart.ts'
import { type CommandModule, flagOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { failureLines, summaryLine } from '../reports/check-lines.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

function chosen(args: readonly string[], checks: readonly Check[]): readonly Check[] {
  const names = checks.map(({ name }) => name)
  for (const arg of args) {
    if (names.includes(arg)) continue
    const found = nearest(arg, names)
    throw new UsageError({
      what: `there is no check ${arg}`,
      next: `${found ? `did you mean ${found}? ` : ''}muster check --list shows all of them`,
    })
  }
  return args.length === 0 ? checks : checks.filter(({ name }) => args.includes(name))
}

function list(context: CommandContext, checks: readonly Check[]): ExitStatus {
  if (context.json)
    printJson(
      context,
      checks.map(({ parts: _, ...check }) => check),
    )
  else
    printTable(
      context,
      ['check', 'severity', 'what must hold'],
      checks.map(({ name, severity, summary }) => [name, severity, summary]),
    )
  return 0
}

function print(context: CommandContext, { results, skipped, milliseconds }: CheckReport): void {
  for (const line of failureLines(results)) printLine(context, line)
  printLine(context, summaryLine(results, { skipped: skipped.length, milliseconds }))
}

export const command: CommandModule = {
  name: 'check',
  summary: 'check the warehouse: keys, references, sums, totals, freshness, personal data',
  arguments: [{ name: '[checks...]', summary: 'only these; all when left out' }],
  options: [{ flags: '--list', summary: 'list the checks without running them' }],
  notes: ['Exit code 3 when a check of severity error fails; with warnings alone it is 0.'],
  examples: ['muster check', 'muster check keys_unique references_resolve', 'muster check --json'],
  async run(context, args, options) {
    const checks = chosen(args, everyCheck(readMarts()))
    if (flagOption(options, 'list')) return list(context, checks)
    const connection = context.connection()
    const engine = await openMade(connection)
    try {
      const { clock, rng, signal } = context
      const report = await reportChecks({ engine, clock, rng, signal, version: programVersion }, checks)
      if (context.json) printJson(context, report)
      else print(context, report)
      const isBroken = report.results.some(result => result.severity === 'error' && failedRows(result) > 0)
      return isBroken ? 3 : 0
    } finally {
      await engine.close()
    }
  },
}
