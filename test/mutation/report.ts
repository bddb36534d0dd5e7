/** What Stryker's report says, by folder, with the mutants that no test killed, and the table of all folders. */
import { readFileSync } from 'node:fs'
import { folderOf, folders } from './folders.ts'
import { knownOf } from './known/index.ts'
import type { Equivalent } from './known.ts'

interface ReportedMutant {
  readonly status: string
  readonly mutatorName: string
  readonly replacement?: string
  readonly location: { readonly start: { readonly line: number } }
}

interface Report {
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>
  >
}

export interface Survivor {
  readonly file: string
  readonly lineNumber: number
  readonly line: string
  readonly replacement: string
  /** Whether a test runs the line at all. */
  readonly isCovered: boolean
  readonly reason: string | undefined
}

export interface FolderResult {
  readonly folder: string
  readonly mutants: number
  readonly killed: number
  readonly survivors: readonly Survivor[]
}

const isKilled = ({ status }: ReportedMutant): boolean => status === 'Killed' || status === 'Timeout'
const isAlive = ({ status }: ReportedMutant): boolean => status === 'Survived' || status === 'NoCoverage'

export const explains = (known: Equivalent, survivor: Omit<Survivor, 'reason'>): boolean =>
  known.file === survivor.file &&
  known.line === survivor.line &&
  (known.replacement === undefined || known.replacement === survivor.replacement)

export function readReport(file: string, mutated: ReadonlySet<string>): readonly FolderResult[] {
  const { files } = JSON.parse(readFileSync(file, 'utf8')) as Report
  const results = folders.map(folder => {
    const all = Object.entries(files).filter(([name]) => mutated.has(name) && folderOf(name) === folder)
    const survivors = all.flatMap(([name, { source, mutants }]) => {
      const lines = source.split('\n')
      return mutants.filter(isAlive).map(mutant => {
        const lineNumber = mutant.location.start.line
        const found = {
          file: name,
          lineNumber,
          line: (lines[lineNumber - 1] ?? '').trim(),
          replacement: mutant.replacement ?? '',
          isCovered: mutant.status === 'Survived',
        }
        return { ...found, reason: knownOf[folder].equivalents?.find(one => explains(one, found))?.reason }
      })
    })
    const killed = all.reduce((sum, [, { mutants }]) => sum + mutants.filter(isKilled).length, 0)
    return { folder, mutants: killed + survivors.length, killed, survivors }
  })
  return results.filter(({ mutants }) => mutants > 0)
}

const percent = (part: number, all: number): string => `${((100 * part) / all).toFixed(1)}%`

const row = (...cells: readonly [string, ...(string | number)[]]): string =>
  [cells[0].padEnd(22), ...cells.slice(1).map(cell => String(cell).padStart(11))].join('')

const sum = (results: readonly FolderResult[], count: (result: FolderResult) => number): number =>
  results.reduce((total, result) => total + count(result), 0)

const explained = ({ survivors }: FolderResult): number =>
  survivors.filter(({ reason }) => reason !== undefined).length

function resultRow(name: string, results: readonly FolderResult[]): string {
  const mutants = sum(results, result => result.mutants)
  const killed = sum(results, result => result.killed)
  const known = sum(results, explained)
  return row(name, mutants, killed, known, mutants - killed - known, percent(killed, mutants))
}

export function formatTable(results: readonly FolderResult[]): string {
  return [
    row('folder', 'mutants', 'killed', 'equivalent', 'survived', 'killed'),
    ...results.map(result => resultRow(result.folder, [result])),
    resultRow('in all', results),
  ].join('\n')
}

export const formatSurvivor = ({ file, lineNumber, line, replacement, isCovered }: Survivor): string =>
  `${file}:${lineNumber}${isCovered ? '' : ' (no test runs it)'}\n  - ${line}\n  + ${replacement.replaceAll(/\s+/g, ' ').slice(0, 160)}`
