/** Reads the identifying values of the PII tables into a sorted list of hashes, 8 bytes for each value. */
import { createHash } from 'node:crypto'
import type { DescribedColumn, Engine } from '../warehouse/engine.ts'
import { memberTables } from '../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { type Identifier, identifierOf, identifiersIn } from './identifiers.ts'

/** 52 bits of a hash: two of a million values collide once in 4,500 audits. */
const numberOf = (normal: string): number =>
  Number.parseInt(createHash('md5').update(normal).digest('hex').slice(0, 13), 16)

/** Maximum rows in memory at once. */
const chunkRows = 20_000

export const isText = ({ type }: DescribedColumn): boolean => /^(varchar|text|character varying)/i.test(type)

/** The distinct texts of a column, a chunk at a time. */
export async function* textsOf(engine: Engine, table: string, column: string): AsyncGenerator<string[]> {
  const at = quoteName(column)
  for (let last: string | undefined; ; ) {
    const beyond = last === undefined ? '' : `and ${at} > ${quoteText(last)}`
    const rows = await engine.rows<{ text: string }>(
      `select ${at} as text from ${table} where ${at} is not null ${beyond} group by 1 order by 1 limit ${chunkRows}`,
    )
    if (rows.length === 0) return
    yield rows.map(({ text }) => text)
    last = rows.at(-1)?.text
  }
}

/** Every text within a JSON value, or the value itself if it is not JSON. */
function parts(text: string): string[] {
  if (!/^\s*[[{"]/.test(text)) return [text]
  try {
    const found: string[] = []
    JSON.stringify(JSON.parse(text), (_, value: unknown) => {
      if (typeof value === 'string') found.push(value)
      return value
    })
    return found
  } catch (error) {
    if (error instanceof SyntaxError) return [text]
    throw error
  }
}

class Numbers {
  #values = new Float64Array(1024)
  #count = 0

  add(value: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#count] = value
    this.#count += 1
  }

  /** Sorted, without duplicates. */
  done(): Float64Array {
    return this.#values
      .subarray(0, this.#count)
      .sort()
      .filter((value, at, all) => value !== all[at - 1])
  }
}

export interface PiiValues {
  readonly count: number
  has(normal: string): boolean
  /** PII columns with values that the audit does not search for, and why. */
  readonly leftOut: readonly { readonly column: string; readonly values: number; readonly why: string }[]
}

function lookupIn(sorted: Float64Array): (value: number) => boolean {
  return value => {
    let [from, to] = [0, sorted.length - 1]
    while (from <= to) {
      const middle = (from + to) >> 1
      const found = sorted[middle] ?? 0
      if (found === value) return true
      if (found < value) from = middle + 1
      else to = middle - 1
    }
    return false
  }
}

/** Ids, keys and hashes name no person. */
const isOwn = (name: string): boolean => /(_id|_key|_hash)$/.test(name)

/** Free text, settings and subjects of activities: most of these values name no person. */
const mixed: readonly string[] = [
  'pii.text.',
  'pii.company_setting.',
  '.subject_name',
  '.file_name',
  '.path',
  '.entity',
]

const people = new Set(
  [...memberTables.values()].flatMap(one => (one.isOfPeople ? [one.piiTable, one.name] : [])),
)

const organisations = new Set(
  [...memberTables.values()].flatMap(one => (one.isOfOrganisations ? [one.name] : [])),
)

/** Words, or a number shorter than a telephone number, such as a company's registration number. */
const isName = (text: string, { kind }: Identifier): boolean =>
  kind === 'words' || /^\d{1,8}$/.test(text.trim())

interface PublicNames {
  /** Names of organisations, places and things, which records repeat beside persons. */
  readonly isPublic: (value: number) => boolean
  /** Names of organisations only, which records give as the acting user. */
  readonly isOrganisation: (value: number) => boolean
}

/**
 * Every text of a dimension, and in facts the names of what was not read: metric rows name projects and agencies whose
 * lists the key may not have.
 */
const isPublicColumn = (table: string, column: string): boolean =>
  !isOwn(column) && !people.has(table) && (table.startsWith('dim_') || column.endsWith('_name'))

async function publicNames(engine: Engine): Promise<PublicNames> {
  const [numbers, named] = [new Numbers(), new Numbers()]
  for (const described of await engine.describedColumns([engine.schema('star')])) {
    const { table, column } = described
    if (!isText(described) || !isPublicColumn(table, column)) continue
    for await (const texts of textsOf(engine, `star.${quoteName(table)}`, column))
      for (const text of texts) {
        const value = identifierOf(text)
        if (!value || !isName(text, value)) continue
        // A name contains others: an address that a project is named after is part of a public name.
        for (const normal of value.kind === 'words' ? identifiersIn(text) : []) numbers.add(numberOf(normal))
        numbers.add(numberOf(value.normal))
        if (organisations.has(table) && column === 'name') named.add(numberOf(value.normal))
      }
  }
  return { isPublic: lookupIn(numbers.done()), isOrganisation: lookupIn(named.done()) }
}

interface ValuesReading extends PublicNames {
  readonly ofPeople: Numbers
  readonly others: Numbers
}

/**
 * Adds the identifying values and returns how many other texts there were. In columns that mostly name no person, only e-mail
 * addresses and telephone numbers count.
 */
function addValues(texts: readonly string[], { table, name }: PiiColumn, reading: ValuesReading): number {
  const { ofPeople, others, isPublic, isOrganisation } = reading
  const isOfPeople = people.has(table)
  let left = 0
  for (const part of texts.flatMap(parts)) {
    const value = identifierOf(part)
    const number = value ? numberOf(value.normal) : 0
    const isNotPersonal = isOfPeople ? isOrganisation(number) : isMixed(name) || isPublic(number)
    if (value && !(isName(part, value) && isNotPersonal)) (isOfPeople ? ofPeople : others).add(number)
    else left += 1
  }
  return left
}

interface PiiColumn {
  /** Without `_history`: the same rules apply to older versions. */
  readonly table: string
  readonly name: string
}

const isMixed = (name: string): boolean => mixed.some(one => name.includes(one))

export async function readPiiValues(engine: Engine): Promise<PiiValues> {
  const reading = { ofPeople: new Numbers(), others: new Numbers(), ...(await publicNames(engine)) }
  const leftOut: { column: string; values: number; why: string }[] = []
  for (const described of await engine.describedColumns([engine.schema('pii')])) {
    const { table, column } = described
    if (!isText(described) || isOwn(column)) continue
    const plain = table.replace(/_history$/, '')
    const judged = { table: plain, name: `pii.${plain}.${column}` }
    let left = 0
    for await (const texts of textsOf(engine, `pii.${quoteName(table)}`, column))
      left += addValues(texts, judged, reading)
    const why = isMixed(judged.name) ? 'words that are not a name' : 'too short, or not the name of a person'
    if (left > 0) leftOut.push({ column: `pii.${table}.${column}`, values: left, why })
  }
  const [ofPeople, others] = [reading.ofPeople.done(), reading.others.done()]
  const [isPerson, isOther] = [lookupIn(ofPeople), lookupIn(others)]
  return {
    count: ofPeople.length + others.length,
    has: normal => isPerson(numberOf(normal)) || isOther(numberOf(normal)),
    leftOut,
  }
}
