/** `muster check`: checks the warehouse, and says what to do about each failure. */
import { checkLandedPages, landedPagesCheck } from '../../app/checkup/landed-pages.ts'
import { withLanding } from '../../app/connection/storage.ts'
import { openMade, toleranceOf } from '../../app/connection/warehouse.ts'
import { counted } from '../../lib/counted.ts'
import { CheckFailed, type ExitStatus, UsageError } from '../../lib/errors.ts'
import { programVersion } from '../../lib/package.ts'
import { nearest } from '../../lib/text/nearest.ts'
import type { Check } from '../../marts/checks/check.ts'
import { everyCheck } from '../../marts/checks/gate.ts'
import { type CheckReport, type CheckResult, failedRows, reportChecks } from '../../marts/checks/run.ts'
import { readMarts } from '../../marts/mart.ts'
import { anyText, type CommandModule, flagOption, listOption, repeated } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { formatSeconds, printJson, printLine, printTable } from '../terminal/output.ts'

function chosen(
  args: readonly string[],
  checks: readonly Check[],
  except: readonly string[],
): readonly Check[] {
  const names = checks.map(({ name }) => name)
  for (const arg of [...args, ...except]) {
    if (names.includes(arg)) continue
    const found = nearest(arg, names)
    throw new UsageError({
      what: `there is no check ${arg}`,
      next: `${found ? `did you mean ${found}? ` : ''}muster check --list shows all of them`,
    })
  }
  const isChosen = (name: string): boolean => args.length === 0 || args.includes(name)
  return checks.filter(({ name }) => isChosen(name) && !except.includes(name))
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
      ['check', 'severity', { title: 'what must hold', breaks: true }],
      checks.map(({ name, severity, summary }) => [name, severity, summary]),
    )
  return 0
}

function print(context: CommandContext, { results, skipped, milliseconds }: CheckReport): void {
  for (const line of failureLines(results)) printLine(context, line)
  printLine(context, summaryLine(results, { skipped: skipped.length, milliseconds }))
}

export const command: CommandModule = {
  arguments: [{ name: '[checks...]', summary: 'only these checks; default: all', completes: 'check' }],
  options: [
    { flags: '--list', summary: 'list the checks without running them' },
    {
      flags: '--except <check>',
      summary: 'skip this check; may be repeated',
      completes: 'check',
      parse: repeated(anyText),
    },
  ],
  notes: ['Exit code 3 when a check of severity error fails; with warnings alone it is 0.'],
  takesAll: true,
  lineage: 'none',
  examples: [
    'muster check',
    'muster check keys_unique references_resolve',
    'muster check --except resources_complete',
    'muster check --json',
  ],
  async run(context, args, options) {
    const except = listOption<string>(options, 'except')
    const checks = chosen(args, [...everyCheck(readMarts()), landedPagesCheck], except)
    if (flagOption(options, 'list')) return list(context, checks)
    const connection = context.stored()
    const engine = await openMade(connection)
    try {
      const { clock, rng, signal } = context
      const tolerance = toleranceOf(connection)
      const isAsked = checks.includes(landedPagesCheck)
      const landed = () =>
        withLanding(connection, signal, landing => checkLandedPages(engine, { landing, clock }))
      const others = isAsked ? [landed] : []
      const given = [...args, ...except.map(name => `--except ${name}`)].join(' ')
      const effects = { engine, clock, rng, signal, given, version: programVersion, tolerance, others }
      const tables = checks.filter(check => check !== landedPagesCheck)
      const report = await reportChecks(effects, tables)
      if (context.json) printJson(context, report)
      else print(context, report)
      const broken = report.results.filter(result => isError(result) && failedRows(result) > 0)
      if (broken.length > 0) throw failureOf(broken)
      return 0
    } finally {
      await engine.close()
    }
  },
}

const isError = ({ severity }: CheckResult): boolean => severity === 'error'

const failureOf = (broken: readonly CheckResult[]): CheckFailed =>
  new CheckFailed({
    what: `${counted(broken.length, 'check')} failed: ${broken.map(({ name, failures }) => `${name} (${failures.map(({ subject }) => subject).join(', ')})`).join(', ')}`,
    next: 'the output says what to do about each',
  })

/** Errors before warnings, each with what to do. */
function failureLines(results: readonly CheckResult[]): string[] {
  const worstFirst = [...results].sort((one, other) => Number(isError(other)) - Number(isError(one)))
  return worstFirst.flatMap(({ name, severity, summary, next, failures }) =>
    failures.map(({ subject, rows, samples }) => {
      const more = rows > samples.length ? ', ...' : ''
      const found = `${counted(rows, 'row')} of ${subject} (${samples.join('; ')}${more})`
      return `${severity} ${name}: ${found}. ${summary} Next: ${next}`
    }),
  )
}

/** `skipped` counts checks of marts that were never built. */
function summaryLine(
  results: readonly CheckResult[],
  { skipped, milliseconds }: { skipped: number; milliseconds: number },
): string {
  const failing = results.filter(result => failedRows(result) > 0)
  const errors = failing.filter(isError).length
  const asked = `${counted(results.length, 'check')} in ${formatSeconds(milliseconds)}`
  const left = skipped > 0 ? `; ${skipped} wait for marts that were not built yet` : ''
  if (failing.length === 0) return `all pass: ${asked}${left}`
  const bad = [
    errors > 0 && counted(errors, 'error'),
    failing.length > errors && counted(failing.length - errors, 'warning'),
  ].filter(Boolean)
  return `${bad.join(', ')}: ${results.length - failing.length} of ${asked} pass${left}`
}
