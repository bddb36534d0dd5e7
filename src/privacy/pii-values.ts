/** The values of the PII tables that tell who somebody is, as a sorted list of numbers: 8 bytes a value, whatever its length. */
import { createHash } from 'node:crypto'
import type { DescribedColumn, Engine } from '../warehouse/engine.ts'
import { memberTables } from '../warehouse/schema/physical.ts'
import { quoteName, quoteText } from '../warehouse/sql-text.ts'
import { type Telling, telling } from './telling.ts'

/** 52 bits of a hash: two of a million values are equal once in 4,500 audits. */
const numberOf = (normal: string): number =>
  Number.parseInt(createHash('md5').update(normal).digest('hex').slice(0, 13), 16)

/** Rows that are in memory at once. */
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

/** Every leaf of a value that is JSON, and the value itself otherwise. */
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
  #held = new Float64Array(1024)
  #count = 0

  add(value: number): void {
    if (this.#count === this.#held.length) {
      const larger = new Float64Array(this.#held.length * 2)
      larger.set(this.#held)
      this.#held = larger
    }
    this.#held[this.#count] = value
    this.#count += 1
  }

  /** Sorted, each once. */
  done(): Float64Array {
    return this.#held
      .subarray(0, this.#count)
      .sort()
      .filter((value, at, all) => value !== all[at - 1])
  }
}

export interface PiiValues {
  readonly count: number
  has(normal: string): boolean
  /** Columns of pii whose values are not looked for, and why. */
  readonly leftOut: readonly { readonly column: string; readonly values: number; readonly why: string }[]
}

function holder(sorted: Float64Array): (value: number) => boolean {
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

/** Texts of an id, a key or a hash name nobody. */
const isOwn = (name: string): boolean => /(_id|_key|_hash)$/.test(name)

/** Words that people typed, settings and things that an activity concerns: most of them name no person. */
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

/** Words, or a number shorter than a telephone number, such as that of a company in its register. */
const isName = (text: string, { kind }: Telling): boolean => kind === 'words' || /^\d{1,8}$/.test(text.trim())

interface PublicNames {
  /** Of organisations, places and things, which records repeat beside persons. */
  readonly isPublic: (value: number) => boolean
  /** Of organisations only, which records name as users who acted. */
  readonly isOrganisation: (value: number) => boolean
}

async function publicNames(engine: Engine): Promise<PublicNames> {
  const [numbers, named] = [new Numbers(), new Numbers()]
  for (const described of await engine.describedColumns([engine.schema('star')])) {
    const { table, column } = described
    if (!isText(described) || isOwn(column) || !table.startsWith('dim_') || people.has(table)) continue
    for await (const texts of textsOf(engine, `star.${quoteName(table)}`, column))
      for (const text of texts) {
        const value = telling(text)
        if (!value || !isName(text, value)) continue
        numbers.add(numberOf(value.normal))
        if (organisations.has(table) && column === 'name') named.add(numberOf(value.normal))
      }
  }
  return { isPublic: holder(numbers.done()), isOrganisation: holder(named.done()) }
}

interface Reading extends PublicNames {
  readonly ofPeople: Numbers
  readonly others: Numbers
}

/**
 * Adds what tells who somebody is; returns how many texts do not. Of texts that mostly name no person, only what is an address or a
 * number by its form is looked for.
 */
function take(texts: readonly string[], { table, name }: PiiColumn, reading: Reading): number {
  const { ofPeople, others, isPublic, isOrganisation } = reading
  const isOfPeople = people.has(table)
  let left = 0
  for (const part of texts.flatMap(parts)) {
    const value = telling(part)
    const number = value ? numberOf(value.normal) : 0
    const isNobody = isOfPeople ? isOrganisation(number) : isMixed(name) || isPublic(number)
    if (value && !(isName(part, value) && isNobody)) (isOfPeople ? ofPeople : others).add(number)
    else left += 1
  }
  return left
}

interface PiiColumn {
  /** Without `_history`: older versions are judged as the newest. */
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
      left += take(texts, judged, reading)
    const why = isMixed(judged.name) ? 'words that are no name' : 'too short, or the name of no person'
    if (left > 0) leftOut.push({ column: `pii.${table}.${column}`, values: left, why })
  }
  const [ofPeople, others] = [reading.ofPeople.done(), reading.others.done()]
  const [isPerson, isOther] = [holder(ofPeople), holder(others)]
  return {
    count: ofPeople.length + others.length,
    has: normal => isPerson(numberOf(normal)) || isOther(numberOf(normal)),
    leftOut,
  }
}
