/** The tables of README and docs that follow from the code: what stands between the markers of each page. */
import { catalogue } from '../../src/contract/catalogue.ts'
import { changeSignals } from '../../src/contract/derived/change-signals.ts'
import { operations } from '../../src/contract/operations.ts'
import { buildDictionary } from '../../src/dictionary/build.ts'
import { matrixMarkdown } from '../../src/dictionary/markdown.ts'
import { measuresOf } from '../../src/marts/additivity.ts'
import { everyCheck } from '../../src/marts/checks/gate.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { eventFaults } from '../../src/sandbox/events/event-faults.ts'
import { faultTable } from '../../src/sandbox/faults/faults.ts'
import { contractOptions } from '../../src/sandbox/options/contract-options.ts'
import type { Option } from '../../src/sandbox/options/option.ts'
import { quirkOptions } from '../../src/sandbox/quirks/quirk-options.ts'
import { violationKinds } from '../../src/sandbox/refusals/violations.ts'
import { ledgerTables } from '../../src/state/tables.ts'
import { everyFigure } from '../../src/telemetry/prometheus/exposition.ts'
import { failureLines } from '../../src/warehouse/postgres/failure.ts'
import { layers } from '../layers.ts'
import { coverageTables } from './coverage-tables.ts'
import { markdownTable } from './table.ts'

const code = (name: string): string => `\`${name}\``

const marts = readMarts()

const methodTable = (): string =>
  markdownTable(
    ['method', 'path', 'parameters'],
    Object.entries(operations).map(([name, { path, parameters }]) => [
      code(name),
      path,
      Object.keys(parameters).join(', ') || 'none',
    ]),
  )

const martTable = (): string =>
  markdownTable(
    ['mart', 'one row per', 'question'],
    marts.map(({ name, grain, question }) => [
      code(name),
      grain.replace(/^one row per /i, '').replace(/\.$/, ''),
      question,
    ]),
  )

/** A mart of a dimension describes its members: nothing in it is measured. */
const measureTable = (): string =>
  markdownTable(
    ['mart', 'measure', 'adds up as', 'what it is'],
    marts
      .filter(({ name }) => !name.startsWith('dim_'))
      .flatMap(mart =>
        measuresOf(mart).map(({ column, aggregation, numerator, denominator }) => [
          code(mart.name),
          code(column),
          aggregation === 'ratio' ? `${numerator} / ${denominator}` : aggregation,
          mart.columns.find(({ name }) => name === column)?.description ?? '',
        ]),
      ),
  )

const checkTable = (): string =>
  markdownTable(
    ['check', 'severity', 'what must hold', 'what to do'],
    everyCheck(marts).map(({ name, severity, summary, next }) => [code(name), severity, summary, next]),
  )

const optionTable = (title: string, table: Readonly<Record<string, Option<unknown>>>): string =>
  markdownTable(
    [title, 'values', 'default', 'what it decides'],
    Object.entries(table).map(([name, { values, fallback, meaning }]) => [
      code(name),
      values,
      String(fallback),
      meaning,
    ]),
  )

const faultRows = (): string =>
  markdownTable(
    ['fault', 'what arrives'],
    Object.entries(faultTable).map(([name, { meaning }]) => [code(name), meaning]),
  )

const eventFaultRows = (): string =>
  markdownTable(
    ['fault', 'what happens to the event'],
    Object.entries(eventFaults).map(([name, meaning]) => [code(name), meaning]),
  )

const violationTable = (): string =>
  markdownTable(
    ['violation', 'what was sent'],
    Object.entries(violationKinds).map(([name, meaning]) => [code(name), meaning]),
  )

const failureTable = (): string =>
  markdownTable(
    ['it says', 'what to do'],
    failureLines.map(({ what, next }) => [what, next]),
  )

const ledgerTable = (): string =>
  markdownTable(
    ['table', 'contents', 'in the published copy', 'rows'],
    ledgerTables.map(({ schema, name, description, isPublished, lifetime }) => [
      code(`${schema}.${name}`),
      description,
      isPublished ? 'yes' : '',
      lifetime,
    ]),
  )

const figureTable = (): string =>
  markdownTable(
    ['figure', 'labels', 'meaning'],
    everyFigure.map(({ name, labels, help }) => [code(name), labels.join(', '), help]),
  )

const signalTable = (): string =>
  markdownTable(
    ['a change of', 'signals one of', 'expected share'],
    changeSignals
      .toSorted((one, other) => other.share - one.share)
      .map(({ name, table, of, share }) => [
        `${code(table)}, by ${code(name.replace(/^star\./, ''))}`,
        of,
        String(share),
      ]),
  )

const keyTable = (): string =>
  markdownTable(
    ['resource', 'company keys', 'agency keys'],
    catalogue.map(({ name, keys }) => [name, keys.company, keys.agency]),
  )

const layerTable = (): string =>
  markdownTable(
    ['folder', 'holds', 'may import, besides `lib`'],
    Object.entries(layers)
      .toReversed()
      .map(([folder, { holds, imports }]) => [
        code(folder === 'main' ? 'src/main.ts' : `src/${folder}/`),
        holds,
        imports.join(', '),
      ]),
  )

/** Page -> name of the marker -> what stands there. */
export const generated: Readonly<Record<string, Readonly<Record<string, () => string | Promise<string>>>>> = {
  'docs/architecture.md': { layers: layerTable, ledger: ledgerTable },
  'docs/checks.md': { checks: checkTable },
  'docs/client.md': { methods: methodTable },
  'docs/contract-coverage.md': { rows: coverageTables },
  'docs/definitions.md': { measures: measureTable },
  'docs/marts.md': { marts: martTable },
  'docs/monitoring.md': { figures: figureTable },
  'docs/postgres-failures.md': { failures: failureTable },
  'docs/refresh.md': { keys: keyTable, 'change signals': signalTable },
  'docs/sandbox.md': {
    options: () => optionTable('option', contractOptions),
    quirks: () => optionTable('quirk', quirkOptions),
    faults: faultRows,
    violations: violationTable,
  },
  'docs/sandbox-events.md': { faults: eventFaultRows },
  'docs/warehouse.md': { 'bus matrix': async () => matrixMarkdown(await buildDictionary(marts)) },
}

/** The page with each marked part made anew. Throws an Error that names a marker that is not there exactly once. */
export async function regenerate(page: string, text: string): Promise<string> {
  let fresh = text
  for (const [name, make] of Object.entries(generated[page] ?? {})) {
    const parts = fresh.split(new RegExp(`(<!-- generated: ${name} -->)\\n[\\s\\S]*?(<!-- end: ${name} -->)`))
    if (parts.length !== 4) throw new Error(`${page} needs one part between the markers of "${name}"`)
    const [before, open, close, after] = parts
    fresh = `${before}${open}\n\n${await make()}\n\n${close}${after}`
  }
  return fresh
}
