/** Checks a published copy: it has no personal data, and all rows of its tables and marts. */
import { openFile } from '../../src/warehouse/duckdb/ad-hoc/session.ts'
import type { Service } from './service.ts'

/** Names and email addresses of persons in the service. */
function personalTexts({ world }: Service): Set<string> {
  const texts = new Set<string>()
  for (const { email, name } of world.all('users')) for (const text of [email, name]) texts.add(String(text))
  for (const { worker } of world.all('timesheets'))
    texts.add(String((worker as { name?: string } | null)?.name))
  return texts
}

/** High enough to read all rows of the largest table at once. */
const bounds = { seconds: 600, memoryMegabytes: 1024, answerMegabytes: 1024, threads: 2 }

export interface TableRows {
  readonly name: string
  readonly rows: number
}

/** `written`: the tables and row counts that `muster publish` reported. */
export async function lawOfPublished(
  file: string,
  service: Service,
  written: readonly TableRows[],
): Promise<string[]> {
  const personal = personalTexts(service)
  const copy = await openFile({ file, bounds })
  const found: string[] = []
  try {
    const listed = await copy.query(
      `select table_schema || '.' || table_name from information_schema.tables where table_type = 'BASE TABLE'`,
      10_000,
    )
    const names = listed.rows.map(row => String(Object.values(row)[0]))
    if (names.some(name => name.startsWith('pii.'))) found.push('the published copy has tables of pii')
    for (const { name, rows } of written) {
      if (!names.includes(name)) found.push(`${name} is missing from the published copy`)
      else found.push(...(await checkTable({ name, rows }, personal, sql => copy.query(sql, 100_000))))
    }
  } finally {
    copy.close()
  }
  return found
}

async function checkTable(
  { name, rows }: TableRows,
  personal: ReadonlySet<string>,
  query: (sql: string) => Promise<{ readonly rows: readonly object[] }>,
): Promise<string[]> {
  const [schema, table] = name.split('.')
  const read = await query(`select * from "${schema}"."${table}"`)
  const found = read.rows.length === rows ? [] : [`${name} has ${read.rows.length} of ${rows} published rows`]
  for (const row of read.rows)
    for (const [column, value] of Object.entries(row))
      if (personal.has(String(value))) found.push(`${name}.${column} of the published copy names a person`)
  return found
}
