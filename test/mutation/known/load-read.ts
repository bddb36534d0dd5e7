import type { Equivalent, Known } from '../known.ts'

const inFile =
  (file: string) =>
  (line: string, reason: string, ...replacements: readonly string[]): Equivalent[] =>
    replacements.map(replacement => ({ file: `src/load/read/${file}.ts`, line, replacement, reason }))

const batch = inFile('batch')
const pageRepair = inFile('page-repair')
const lists = inFile('lists')
const leaves = inFile('attribute-leaves')
const plan = inFile('plan')

const wholeFile = 'A regular file is read at once; only network file systems return less than was asked for.'

export const known: Known = {
  stories: [],
  slips: [],
  equivalents: [
    ...plan(
      "origin?.child.shape !== 'leaves' &&",
      'The document of such a list has no declared type, so that its record is read as JSON already.',
      'true',
    ),
    ...inFile('root')("ordinal: () => 'null',", 'A record has no position in a list.', '() => undefined'),
    ...batch('return Number(row?.Count)', 'The statement always gives one row.', 'row.Count'),
    ...pageRepair(
      'if (room.length < bytes) room = Buffer.allocUnsafeSlow(bytes)',
      'A new buffer for each page holds the same bytes.',
      ...['true', 'room.length <= bytes'],
    ),
    ...pageRepair(
      'const isReadable = bytes === received && (isPlainFile(page) || this.#joined?.isComplete)',
      'A page inside another file is copied at the end all the same, and read a second time for it.',
      'true',
    ),
    ...pageRepair(
      'while (end < bytes) {',
      `${wholeFile} Nothing is left to read at its end.`,
      'end <= bytes',
    ),
    ...pageRepair(
      'const more = readSync(opened, room, end, bytes - end, within ? within.start + end : null)',
      wholeFile,
      ...['bytes + end', 'within.start - end'],
    ),
    ...pageRepair(
      'if (this.#pause.isDue) await this.#pause.take()',
      'Signals and timers wait longer, or less; the page is the same.',
      ...['true', 'false'],
    ),
    ...lists(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the source
      "if (kind === 'typed') return `coalesce(len(${at}) > 0, false)`",
      'The text of a typed list says the same, at a higher cost.',
      'false',
    ),
    ...leaves(
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in the source
      'const elsewhere = declared.map(({ path }) => path).filter(path => path.startsWith(`${document.path}.`))',
      'No leaf of a document is at the path of a field elsewhere.',
      'declared.map(({ path }) => path)',
    ),
  ],
}
