/**
 * The journals of a landing in a bucket. Nothing can be appended to an object, so that each line is an object without bytes,
 * whose key says it: JOURNAL/NAME/ORDER-BYTES-SHA256. So a list reads a journal, and two machines never overwrite a line.
 */
import { systemClock } from '../../lib/clock.ts'
import { type FileSum, type Journal, journalOf } from '../journal.ts'
import type { Bucket } from './client.ts'

let lastOrder = 0

/** Grows within a process; between machines their clocks decide, which is enough for lines that are minutes apart. */
function nextOrder(): string {
  lastOrder = Math.max(lastOrder + 1, systemClock.now() * 1000)
  return String(lastOrder).padStart(17, '0')
}

/** A key may not be too long for it: a name of a page has 60 letters. */
const linePattern = /^(.+)\/(\d{17})-(\d+)-([0-9a-f]{64}|)$/
const gone = 'gone'

interface Line extends FileSum {
  readonly order: string
}

function parsed(text: string): Line | undefined {
  const [, name = '', order = '', bytes, sha256 = ''] = linePattern.exec(text) ?? []
  return bytes === undefined ? undefined : { name, order, bytes: Number(bytes), sha256 }
}

export async function noteIn(
  bucket: Bucket,
  journal: string,
  { name, bytes, sha256 }: FileSum,
): Promise<void> {
  await bucket.put(`${journal}/${name}/${nextOrder()}-${bytes}-${sha256}`, Buffer.alloc(0))
}

/** The lines of a landing that was a folder and was copied into a bucket are one object, which stays as it is. */
export async function noteGoneIn(bucket: Bucket, journal: string, name: string): Promise<void> {
  const { objects } = await bucket.list(`${journal}/${name}/`)
  const before = (await readOld(bucket, journal))?.kept.has(name) ?? false
  if (before) await bucket.put(`${journal}/${name}/${gone}`, Buffer.alloc(0))
  await bucket.remove(objects.map(({ key }) => key).filter(key => !key.endsWith(`/${gone}`)))
}

async function readOld(bucket: Bucket, journal: string): Promise<Journal | undefined> {
  const bytes = await bucket.get(journal)
  return bytes && journalOf(bytes.toString('utf8'))
}

export async function sumsIn(bucket: Bucket, journal: string): Promise<Journal | undefined> {
  const { objects } = await bucket.list(`${journal}/`)
  const old = await readOld(bucket, journal)
  if (objects.length === 0) return old
  const kept = new Map(old?.kept)
  let isDamaged = old?.isDamaged ?? false
  const texts = objects.map(({ key }) => key.slice(journal.length + 1))
  for (const text of texts) if (text.endsWith(`/${gone}`)) kept.delete(text.slice(0, -gone.length - 1))
  const lines = texts.filter(text => !text.endsWith(`/${gone}`)).map(parsed)
  isDamaged ||= lines.includes(undefined)
  for (const line of lines.flatMap(line => line ?? []).sort(byOrder))
    kept.set(line.name, { name: line.name, bytes: line.bytes, sha256: line.sha256 })
  return { kept, isDamaged }
}

const byOrder = (one: Line, other: Line): number => (one.order < other.order ? -1 : 1)
