/** Checks the envelope of a 2xx answer, `{success, data, meta?}`, without parsing the records if possible. */
import { isUtf8 } from 'node:buffer'
import { type BadAnswer, badAnswer, notTheService, type RequestFacts, type RetriableError } from './errors.ts'
import { type HiddenTexts, harmless } from './redact.ts'

/** Texts in the meta of an aggregate. */
const aggregateTexts = ['metric', 'groupBy', 'dateField', 'outlierRule'] as const

export interface Meta extends Readonly<Partial<Record<(typeof aggregateTexts)[number], string>>> {
  readonly page: number
  readonly limit: number
  readonly total: number
}

export interface Envelope {
  /** Present on lists. */
  readonly meta?: Meta
  /** True if a list has no rows on this page. */
  readonly empty: boolean
  /** True if such a page must have rows by the list's total: more than a few are hidden, or the answer is a slip. */
  readonly isHollow: boolean
  /** `data`, parsed again at every call so that no page stays in memory by accident. Throws RetriableError. */
  records(): unknown
}

interface ExpectedPaging {
  /** Both absent: not a list. */
  readonly page?: number
  readonly limit?: number
}

/** For messages only. */
interface EnvelopeSource extends HiddenTexts {
  readonly request: string
}

const headPattern = /^\s*\{\s*"success"\s*:\s*true\s*,\s*"data"\s*:\s*\[\s*(\S)/
const tailPattern =
  /^\]\s*,\s*"meta"\s*:\s*(\{\s*"[A-Za-z]+"\s*:\s*\d{1,15}\s*(?:,\s*"[A-Za-z]+"\s*:\s*\d{1,15}\s*)*\})\s*\}\s*$/
/** Bytes read at each end; a `meta` of three numbers has fewer than 100. */
const edgeBytes = 400

/**
 * Reads and checks the envelope; throws RetriableError if the answer breaks the contract or contradicts itself.
 *
 * For lists, the meta is taken from the last bytes if they look as expected (0.01 ms for a page of 400 kB; parsing
 * takes 0.6 to 2 ms). That is sound for valid JSON. The last brace closes the document; the brace before it closes the
 * last member, because a string would have ended in a quote. Backwards from there every token of `tailPattern` is
 * determined: a number, a colon, then a quote that ends a key; the letters of the key follow, then a quote without a
 * backslash before it, which begins the key. So the matched braces are the last top-level member, `"meta"` is its name,
 * and no record can imitate it inside a string. The loader reads every byte and finds invalid JSON elsewhere. A document
 * with two members `success` or `data` is not detected here.
 */
export function readEnvelope(
  bytes: Buffer,
  asked: ExpectedPaging,
  source: Partial<EnvelopeSource> = {},
): Envelope {
  const from: EnvelopeSource = { ...source, request: source.request ?? 'answer', secret: source.secret ?? '' }
  if (!isUtf8(bytes)) throw foreign(from, bytes)
  const isList = asked.page !== undefined || asked.limit !== undefined
  return isList ? readList(bytes, asked, from) : readRecord(bytes, from)
}

function readRecord(bytes: Buffer, from: EnvelopeSource): Envelope {
  const { data } = parse(bytes, from)
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw bad(from, 'data is not an object')
  return { empty: false, isHollow: false, records: () => parse(bytes, from).data }
}

function readList(bytes: Buffer, asked: ExpectedPaging, from: EnvelopeSource): Envelope {
  const edges = readEdges(bytes) ?? parseEdges(bytes, asked, from)
  const meta = checkedMeta(edges.meta, asked, from)
  const { empty } = edges
  const isHollow = empty && !isFew(meta, asked) && (meta.page - 1) * meta.limit < meta.total
  return { meta, empty, isHollow, records: () => rowsOf(parse(bytes, from), asked, from) }
}

interface EnvelopeEdges {
  readonly meta: unknown
  readonly empty: boolean
}

/** The fast path; undefined if the edges do not look as expected. In latin1 every byte is one character. */
function readEdges(bytes: Buffer): EnvelopeEdges | undefined {
  const head = headPattern.exec(bytes.toString('latin1', 0, edgeBytes))
  if (!head) return undefined
  const tail = bytes.toString('latin1', Math.max(0, bytes.length - edgeBytes))
  const start = tail.lastIndexOf('"meta"')
  const match = start === -1 ? null : tailPattern.exec(tail.slice(Math.max(0, tail.lastIndexOf(']', start))))
  // A number such as 007 matches tailPattern but is not JSON: the slow path rejects it.
  if (!match?.[1] || /\D0\d/.test(match[1])) return undefined
  return { meta: JSON.parse(match[1]), empty: head[1] === ']' }
}

/** The bytes between the brackets of `data`; undefined if the edges do not look as expected. */
export function rowsOfPage(bytes: Buffer): Buffer | undefined {
  const head = headPattern.exec(bytes.toString('latin1', 0, edgeBytes))
  const meta = bytes.lastIndexOf('"meta"')
  const end = bytes.lastIndexOf(']', meta)
  return head && meta > 0 && end > 0 ? bytes.subarray(bytes.indexOf('[') + 1, end) : undefined
}

function parseEdges(bytes: Buffer, asked: ExpectedPaging, from: EnvelopeSource): EnvelopeEdges {
  const body = parse(bytes, from)
  return { meta: body.meta, empty: rowsOf(body, asked, from).length === 0 }
}

function rowsOf(body: Record<string, unknown>, asked: ExpectedPaging, from: EnvelopeSource): unknown[] {
  const rows = body.data
  if (rows === null && hasNone(body.meta, asked)) return []
  if (!Array.isArray(rows)) throw bad(from, rows === undefined ? 'data is missing' : 'data is not an array')
  if (rows.length > (asked.limit ?? rows.length)) {
    throw bad(from, `${rows.length} records where ${asked.limit} were asked for`)
  }
  return rows
}

/** Whether the page has no rows by the list's total: some services write null instead of an empty list. */
function hasNone(meta: unknown, { page, limit }: ExpectedPaging): boolean {
  if (!isObject(meta) || page === undefined || limit === undefined) return false
  return isCount(meta.total) && (page - 1) * limit >= meta.total
}

function parse(bytes: Buffer, from: EnvelopeSource): Record<string, unknown> {
  const body = parsedOrNothing(bytes)
  if (!isServiceForm(200, body)) throw foreign(from, bytes)
  const envelope = body as Record<string, unknown>
  if (envelope.success === true) return envelope
  throw badAnswer({ request: from.request, status: 200, ...wordsOf(body, from) }, 'success is not true')
}

function checkedMeta(value: unknown, asked: ExpectedPaging, from: EnvelopeSource): Meta {
  if (typeof value !== 'object' || value === null) throw bad(from, 'meta is missing')
  const given = value as Record<string, unknown>
  // The contract has no page and limit in the meta of aggregates.
  const unsaid = typeof given.metric === 'string' ? asked : {}
  const { page = unsaid.page, limit = unsaid.limit, total } = given
  if (!isCount(page) || !isCount(limit) || !isCount(total))
    throw bad(from, 'page, limit and total are not all whole numbers')
  if (page !== (asked.page ?? page)) throw bad(from, `page ${page} instead of ${asked.page}`)
  // The service may return fewer rows per page than requested: scans adapt to its page size.
  if (limit > (asked.limit ?? limit)) throw bad(from, `limit ${limit} instead of ${asked.limit}`)
  if (page < 1 || limit < 1) throw bad(from, `meta says page ${page}, limit ${limit}`)
  const texts = aggregateTexts.flatMap(name => (typeof given[name] === 'string' ? [[name, given[name]]] : []))
  return { page, limit, total, ...Object.fromEntries(texts) }
}

/** A page of at most this many rows may be empty if the service hides records after cutting the pages. */
export const fewRows = 20

const isFew = ({ limit }: Meta, asked: ExpectedPaging): boolean => (asked.limit ?? limit) <= fewRows

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function bad(from: EnvelopeSource, what: string): BadAnswer {
  const facts: RequestFacts = { request: from.request, status: 200 }
  return badAnswer(facts, what)
}

/** Distinguishes foreign answers from damaged ones: a truncated answer of the service still begins like one. */
function foreign(from: EnvelopeSource, bytes: Buffer): RetriableError {
  const { request } = from
  if (/^\s*\{\s*"success"\s*:\s*true\s*,\s*"data"\s*:/.test(bytes.toString('latin1', 0, edgeBytes)))
    return bad(from, `${isUtf8(bytes) ? 'not JSON' : 'not UTF-8'}, ${bytes.length} bytes`)
  return notTheService({ request, status: 200 }, kindOfBody(bytes))
}

/**
 * Whether a body, parsed, is in the form of the contract: `{success: true, data}` or, with any status,
 * `{success: false, error: {code, message}}`. Anything else may come from a login page, a proxy, a firewall or a load
 * balancer, whatever its status: it says nothing about the key or a record.
 */
export function isServiceForm(status: number, body: unknown): boolean {
  if (!isObject(body)) return false
  if (body.success === true) return isSuccess(status) && Object.hasOwn(body, 'data')
  const { success, error } = body
  // The service redirects nowhere.
  if (status >= 300 && status < 400) return false
  return (
    success === false &&
    isObject(error) &&
    typeof error.code === 'string' &&
    typeof error.message === 'string'
  )
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/** Never quotes the body, which may contain personal data. */
function kindOfBody(bytes: Buffer): string {
  if (bytes.length === 0) return 'nothing'
  if (/^\s*</.test(bytes.toString('latin1', 0, edgeBytes))) return 'a page of HTML'
  const kind = parsedOrNothing(bytes) === undefined ? 'not JSON' : 'other JSON'
  return `${kind}, ${bytes.length} bytes`
}

/** Reads an answer with an error status: whether it comes from the service, and its message. Never throws. */
export function readRefusal(status: number, bytes: Buffer, hidden: HiddenTexts): RefusalBody {
  const body = parsedOrNothing(bytes)
  return {
    ...wordsOf(body, hidden),
    ...(!isServiceForm(status, body) && { foreign: kindOfBody(bytes) }),
  }
}

interface RefusalBody {
  readonly code?: string
  readonly message?: string
  /** The kind of a body that does not come from the service. */
  readonly foreign?: string
}

/** From `{error: {code, message}}`, `{error: 'text'}` or `{code, message}`: gateways give reasons too. */
function wordsOf(body: unknown, hidden: HiddenTexts): { code?: string; message?: string } {
  if (!isObject(body)) return {}
  const error = body.error
  const source = isObject(error)
    ? error
    : typeof error === 'string'
      ? { message: error, code: body.code }
      : body
  const code = source.code
  const message = source.message
  return {
    ...(typeof code === 'string' && code !== '' && { code: harmless(code, hidden) }),
    ...(typeof message === 'string' && message !== '' && { message: harmless(message, hidden) }),
  }
}

function parsedOrNothing(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // SyntaxError: proxies answer with HTML, and the status is enough.
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
