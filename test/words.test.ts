/** One word for one thing: words that the project gave up for the field's own, wherever they might come back. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../', import.meta.url))

/** What is said today -> the words it took the place of. Plurals are added; verbs are written out. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  watermark: ['mark'],
  scan: ['walk', 'walking', 'walked', 'course'],
  'stored, never fetched, fetch failed': ['unseen', 'misses'],
  'evidence, candidate': ['witness', 'witnesses', 'suspect'],
  'change signal': ['hint', 'hinted'],
  'inferred member': ['stub', 'mention'],
  'PII table': ['twin'],
  'shared columns': ['phrase'],
  'transfer, temporary table, send, receive': ['parcel', 'freight', 'lend', 'lends', 'lent'],
  'connection, priority': ['lane', 'haste'],
  'inbox worker, poll interval, engine handle': ['upkeep', 'pace', 'rhythm', 'door'],
  counters: ['tally', 'tallies'],
  'PII scan': ['canary', 'canaries'],
  'cast check': ['suspicion'],
  'option, contract checker, violation, variation, seed data': [
    'knob',
    'referee',
    'breach',
    'breaches',
    'disguise',
    'scene',
  ],
  'retry later': ['postponed', 'postpone'],
}

/** Where an old word stays, because a user of the warehouse meets it or it is another word. */
const STAYS: readonly RegExp[] = [
  /\bwalkMinutes\b/g,
  // An option of Node's streams.
  /\bhighWaterMark\b/g,
  /\bmarkInvoicePaid\b/g,
  /\bMaria Mark Megan\b/g,
  /'Work postponed'/g,
  // An option of Observable Plot.
  /\bmarks: /g,
  // A file of folders that an earlier release landed.
  /'walk\.json'/g,
  // Fields of the tool protocol.
  /\b(readOnly|openWorld)Hint\b/g,
  /--knob\b/g,
  /\boptions\.knob\b/g,
  /\bis_stub\b/g,
  /\bstub_rows\b/g,
  // Minutes on foot.
  /\blodge_walk_minutes\b.*minutes\('walk'\)/g,
  /\bof course\b/gi,
  /\bin the course of\b/gi,
]

const OLD = new Map(
  Object.entries(SAID).flatMap(([now, olds]) =>
    olds.flatMap((old): [string, string][] => [
      [old, now],
      [`${old}s`, now],
    ]),
  ),
)

/** Identifiers fall into their words: `walkOnce`, `walk_once` and `walk-once` all hold `walk`. */
const wordsOf = (line: string): string[] =>
  STAYS.reduce((text, stays) => text.replace(stays, ''), line)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)

function oldWords(file: string, text: string): string[] {
  const found = (line: string, at: string): string[] =>
    wordsOf(line).flatMap(word => (OLD.has(word) ? [`${at}: "${word}", say ${OLD.get(word)}`] : []))
  return [
    ...found(file, file),
    ...text.split('\n').flatMap((line, index) => found(line, `${file}:${index + 1}`)),
  ]
}

/** Files about the earlier words themselves: this test, and the upgrade of warehouses whose tables had them. */
const aboutOldWords = [
  'test/words.test.ts',
  'src/state/upgrades.ts',
  'test/state/upgrade.test.ts',
  'test/state/scan-upgrade.test.ts',
  'test/state/schema-versions.test.ts',
  'test/state/version-0.sql',
]

/** Where the words are kept. `MUSTER_WORDS=src/load,docs` looks at less. */
const kept = ['src', 'sql', 'test', 'docs', 'config', 'dags', 'README.md', 'CHANGELOG.md']

const chosen = process.env.MUSTER_WORDS?.split(',') ?? kept

const files = (path: string): string[] => {
  const full = join(root, path)
  if (/\.\w+$/.test(path)) return [full]
  return readdirSync(full, { recursive: true, encoding: 'utf8' })
    .filter(name => /\.(ts|sql|md|yaml|css|js)$/.test(name))
    .map(name => join(full, name))
}

describe('words', () => {
  test.each([
    ['src/a.ts', 'const walkOnce = 1', 1],
    ['src/lanes.ts', '', 1],
    ['sql/a.sql', 'select mark, is_stub from ops.hint', 2],
    ['docs/a.md', 'Of course a benchmark, marked as such, has a watermark.', 0],
  ])('of %s: %s', (file, text, count) => expect(oldWords(file, text)).toHaveLength(count))

  test('no old word came back', () => {
    const found = chosen.flatMap(files).flatMap(file => {
      const path = relative(root, file)
      return aboutOldWords.includes(path) ? [] : oldWords(path, readFileSync(file, 'utf8'))
    })
    expect(found.join('\n')).toBe('')
  })
})
