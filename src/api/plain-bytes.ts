/** Returns the plain JSON bytes of an answer: decompressed, and without BOM, white space or NUL around it. */
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib'

type Decoder = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>

const gzip: Decoder = promisify(gunzip)
const deflated: Decoder = promisify(inflate)
/** Some servers send `deflate` without a header. */
const bare: Decoder = promisify(inflateRaw)
const brotli: Decoder = promisify(brotliDecompress)

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
/** RFC 1950: method 8, and a header that is a multiple of 31. */
const hasZlibHeader = (bytes: Buffer): boolean =>
  bytes.length > 1 && ((bytes[0] ?? 0) & 15) === 8 && bytes.readUInt16BE(0) % 31 === 0

/** A proxy may decompress a body but leave its header: a brace shows that it is JSON. */
function decoderOf(encoding: string, bytes: Buffer): Decoder | undefined {
  if (isGzip(bytes)) return gzip
  if (/^[\s\0\uFEFF]*[{[<]/.test(bytes.toString('utf8', 0, 64))) return undefined
  if (encoding === 'deflate') return hasZlibHeader(bytes) ? deflated : bare
  return encoding === 'br' ? brotli : undefined
}

/** Max layers of compression. */
const maxLayers = 3

/**
 * Undefined for more than `most` bytes; stops decompressing there. Returns a body unchanged if it cannot be decompressed, which
 * then fails as JSON.
 */
export async function plainBytes(
  received: Buffer,
  encodings: string | readonly string[] | undefined,
  max: number,
): Promise<Buffer | undefined> {
  const applied = String(encodings ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(name => name !== '' && name !== 'identity')
  let bytes = received
  for (let layer = 0; layer < maxLayers; layer += 1) {
    const decode = decoderOf(applied.pop() ?? '', bytes)
    if (!decode) break
    try {
      bytes = await decode(bytes, { maxOutputLength: max })
    } catch (error) {
      if (Object(error).code === 'ERR_BUFFER_TOO_LARGE') return undefined
      break
    }
  }
  return withoutEnvelope(bytes)
}

const isPadding = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === 0

const bom = Buffer.from([0xef, 0xbb, 0xbf])

/** Removes a BOM, white space and NUL bytes around it. */
function withoutEnvelope(bytes: Buffer): Buffer {
  let [from, to] = [0, bytes.length]
  for (;;) {
    if (isPadding(bytes[from])) from += 1
    else if (bytes.subarray(from, from + 3).equals(bom)) from += 3
    else break
  }
  while (to > from && isPadding(bytes[to - 1])) to -= 1
  return bytes.subarray(from, to)
}
