/** Reads a stream to its end, such as stdin: no more of it than a bound, and no longer than until somebody asks to stop. */
import { addAbortSignal, type Readable } from 'node:stream'
import { UsageError } from './errors.ts'

interface StreamRules {
  readonly mostBytes: number
  readonly signal: AbortSignal
}

async function bytesOf(stream: Readable, { mostBytes, signal }: StreamRules): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of addAbortSignal(signal, stream)) {
    chunks.push(Buffer.from(chunk))
    bytes += Buffer.byteLength(chunk)
    if (bytes > mostBytes) throw new UsageError({ what: `stdin has more than ${mostBytes} bytes` })
  }
  return Buffer.concat(chunks)
}

/** The text in UTF-8. Throws UsageError, or the reason of the signal. */
export async function readStreamText(stream: Readable, rules: StreamRules): Promise<string> {
  const bytes = await bytesOf(stream, rules).catch(error => {
    rules.signal.throwIfAborted()
    throw error
  })
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // A fatal decoder throws nothing but this.
    throw new UsageError({ what: 'stdin is not UTF-8' })
  }
}
