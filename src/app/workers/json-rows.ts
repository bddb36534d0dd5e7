/** Rows of JSON (one object or an array) and of NDJSON (an object a line), each found in the bytes and parsed by itself. */
import { formatNumber } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { linesOf } from '../../lib/input-file.ts'
import { deepestJson } from '../../lib/json-depth.ts'
import { Pause } from '../../lib/time/pause.ts'
import { ascii, JsonBytes, NotJson } from '../../load/page/json-bytes.ts'
import { type Problem, RowList, type Rows } from './row-list.ts'

const { quote, backslash, comma, openBrace, closeBrace, openBracket, closeBracket } = ascii

/** Bytes of one row: its request would be too large before. */
const largestRow = 64 * 1_048_576
/** Values in one row, documents included. */
const mostValues = 10_000

/** Of a row, before it is parsed: what the parser makes of many values is far larger than they are. */
function sizeProblem(bytes: Buffer): string | undefined {
  if (bytes.length > largestRow) return `has more than ${largestRow / 1_048_576} MB`
  let [values, depth] = [0, 0]
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === quote) at = endOfText(bytes, at)
    else if (byte === comma) values += 1
    else if (byte === openBrace || byte === openBracket) depth += 1
    else if (byte === closeBrace || byte === closeBracket) depth -= 1
    if (depth > deepestJson) return `is nested deeper than ${deepestJson}`
    if (values > mostValues) return `has more than ${formatNumber(mostValues)} values`
  }
  return undefined
}

/** Of its last byte. A text without an end is left to the parser. */
function endOfText(bytes: Buffer, from: number): number {
  let end = bytes.indexOf(quote, from + 1)
  while (end !== -1 && isEscaped(bytes, end)) end = bytes.indexOf(quote, end + 1)
  return end === -1 ? bytes.length : end
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at - 1
  while (bytes[before] === backslash) before -= 1
  return (at - before) % 2 === 0
}

const parsedAgain = (bytes: Buffer): unknown => JSON.parse(bytes.toString('utf8'))

/** What is wrong with the row before its fields are looked at; undefined when nothing is. Never quotes the row. */
function problemOf(bytes: Buffer): string | undefined {
  const problem = sizeProblem(bytes)
  if (problem !== undefined) return problem
  try {
    parsedAgain(bytes)
    return undefined
  } catch (error) {
    if (error instanceof SyntaxError) return notJson
    throw error
  }
}

const notJson = 'is not JSON'

function add(rows: RowList, row: number, bytes: Buffer): Problem | undefined {
  const what = problemOf(bytes)
  if (what === undefined) rows.add({ row, read: () => parsedAgain(bytes) })
  else return { row, field: '', what }
  return undefined
}

const isBlank = (line: Buffer): boolean => line.length < 1024 && line.toString('utf8').trim() === ''

export async function lineRows(bytes: Buffer, shown: string, signal: AbortSignal): Promise<Rows> {
  const rows = new RowList(shown)
  const pause = new Pause(signal)
  let row = 0
  for (const line of linesOf(bytes)) {
    row += 1
    const problem = isBlank(line) ? undefined : add(rows, row, line)
    if (problem) rows.refuse(problem)
    if (pause.isDue) await pause.take()
  }
  return rows
}

/** The items of the list that the bytes are, or all of them. Throws NotJson. */
function* itemsOf(bytes: Buffer): Generator<Buffer> {
  const json = new JsonBytes(bytes)
  const first = json.afterSpace(0)
  if (bytes[first] !== openBracket) {
    yield bytes
    return
  }
  let at = json.afterSpace(first + 1)
  while (bytes[at] !== closeBracket) {
    const end = json.afterValue(at)
    yield bytes.subarray(at, end)
    const behind = json.afterSpace(end)
    at = json.afterItem(end, closeBracket)
    if (at !== behind && bytes[at] === closeBracket) throw new NotJson('an item is missing')
  }
  if (json.afterSpace(at + 1) < bytes.length) throw new NotJson('more follows behind the list')
}

export async function jsonRows(bytes: Buffer, shown: string, signal: AbortSignal): Promise<Rows> {
  const rows = new RowList(shown)
  const pause = new Pause(signal)
  let row = 0
  try {
    for (const item of itemsOf(bytes)) {
      row += 1
      const problem = add(rows, row, item)
      if (problem?.what === notJson) throw new NotJson(notJson)
      if (problem) rows.refuse(problem)
      if (pause.isDue) await pause.take()
    }
  } catch (error) {
    if (!(error instanceof NotJson)) throw error
    throw new UsageError({ what: `${shown} is not JSON`, next: 'one object, or an array of them' })
  }
  return rows
}
