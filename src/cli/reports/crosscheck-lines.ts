/** Prints the output of `muster crosscheck`: calibration, comparison and differences. */
import type { Calibration } from '../../crosscheck/calibrate/calibrate.ts'
import { textOf } from '../../crosscheck/calibrate/definition-store.ts'
import type { CrosscheckResult } from '../../crosscheck/crosscheck.ts'
import { isExplanation } from '../../crosscheck/explain/finding.ts'
import type { DefinitionInForce } from '../../crosscheck/metrics/definition.ts'
import { counted } from '../../lib/counted.ts'
import type { CommandContext } from '../context.ts'
import { printLine, printTable } from '../terminal/output.ts'

const unexplained = ({ rows }: CrosscheckResult) => rows.filter(({ verdict }) => verdict === 'unexplained')

/** Agrees only if at least one figure was compared. */
export const isAgreed = (checked: CrosscheckResult): boolean =>
  unexplained(checked).length === 0 && checked.compared.length > 0

/** Why the metrics do not agree, in a few words. */
export const disagreement = (checked: CrosscheckResult): string =>
  checked.compared.length === 0
    ? 'no figure could be compared'
    : `${counted(unexplained(checked).length, 'figure')} differ from the service's without an explanation`

const shownText = (value: unknown): string => textOf(value).replace(/^,|,$/g, '') || 'none'

/** Readings shown as possible; the ledger has all of them. */
const maxPossible = 5

function possibleText(alive: readonly unknown[]): string {
  if (alive.length < 2) return ''
  const more = alive.length > maxPossible ? `; and ${alive.length - maxPossible} more` : ''
  return alive.slice(0, maxPossible).map(shownText).join('; ') + more
}

/** Lists the zones that the data cannot distinguish: `one of UTC; Europe/London`. */
function readingText(rule: string, value: unknown, alive: readonly unknown[]): string {
  if (rule === 'companies' && value === null) return 'all'
  return rule === 'zone' && alive.length > 1 ? `one of ${possibleText(alive)}` : shownText(value)
}

export function printCalibration(
  context: CommandContext,
  { definition, rules, requests, stopped }: Calibration,
): void {
  printTable(
    context,
    ['rule', 'reading', 'how sure', 'possible', 'figures that agree'],
    Object.entries(definition).map(([rule, value]) => {
      const state = rules.get(rule as keyof typeof definition)
      const score = state?.scores[JSON.stringify(value)]
      return [
        rule,
        readingText(rule, value, state?.alive ?? []),
        state?.state ?? 'untested',
        possibleText(state?.alive ?? []),
        score ? `${score.agree} of ${score.of}` : '',
      ]
    }),
  )
  printLine(context, `calibrated with ${counted(requests, 'request')}${stopped ? `; ${stopped}` : ''}`)
}

export function printCrosscheck(
  context: CommandContext,
  checked: CrosscheckResult,
  { id }: DefinitionInForce,
): void {
  const { compared, rows, findings, requests, stopped } = checked
  printTable(
    context,
    ['metric', 'group by', 'groups', 'figures', 'explained', 'uncovered', 'unexplained'],
    compared.map(({ metric, groupBy, groups }) => {
      const own = rows.filter(row => row.metric === metric && row.group_by === groupBy)
      const count = (verdict: string): number => own.filter(row => row.verdict === verdict).length
      return [
        metric,
        groupBy,
        groups,
        own.length,
        count('explained'),
        count('uncovered'),
        count('unexplained'),
      ]
    }),
  )
  const found = distinct(findings)
  for (const { metric, sentence } of found.slice(0, maxFindings)) printLine(context, `${metric}: ${sentence}`)
  if (found.length > maxFindings)
    printLine(context, `and ${found.length - maxFindings} more: select * from mart.crosscheck, or --json`)
  for (const row of unexplained(checked).slice(0, 5)) {
    const where = `${row.metric} by ${row.group_by}, ${row.group_label}`
    printLine(context, `unexplained: ${where}: ${row.figure} ${row.ours} here, ${row.theirs} there`)
  }
  const open = unexplained(checked).length
  if (!checked.isComplete) printLine(context, 'not all differences were looked into: raise --max-requests')
  const losses = found.filter(({ loss }) => loss !== undefined).length
  if (losses > 0) printLine(context, `${counted(losses, 'record')} noted: the next sync reads them again`)
  printLine(
    context,
    `${counted(rows.length, 'figure')} compared under definition ${id}, ${open} unexplained; spent ${counted(requests, 'request')}${stopped ? `; ${stopped}` : ''}`,
  )
}

/** Findings shown; mart.crosscheck has all of them. */
const maxFindings = 20

/** Removes repeated findings; those that explain nothing come first. */
const distinct = (findings: CrosscheckResult['findings']): CrosscheckResult['findings'] => {
  const once = [...new Map(findings.map(finding => [finding.sentence, finding])).values()]
  return once.sort((left, right) => Number(isExplanation(left)) - Number(isExplanation(right)))
}

export function crosscheckAsJson(
  { rows, findings, compared, requests, stopped, isComplete }: CrosscheckResult,
  { definition, id }: DefinitionInForce,
  calibration: Calibration | undefined,
): object {
  const count = (verdict: string): number => rows.filter(row => row.verdict === verdict).length
  return {
    definitionId: id,
    definition,
    calibration: calibration
      ? {
          requests: calibration.requests,
          stopped: calibration.stopped ?? null,
          rules: Object.fromEntries(calibration.rules),
        }
      : null,
    compared,
    figures: rows.length,
    equal: count('equal'),
    explained: count('explained'),
    uncovered: count('uncovered'),
    unexplained: count('unexplained'),
    findings: distinct(findings),
    allLookedInto: isComplete,
    differences: rows.filter(({ verdict }) => verdict !== 'equal'),
    requests,
    stopped: stopped ?? null,
  }
}
