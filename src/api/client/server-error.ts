/** The code and message in an error body. The contract shows only the shape of a 409, so other shapes are accepted too. */
import { type Hidden, harmless } from './redact.ts'

/** Reads `{error: {code, message}}`, `{error: 'text'}` or `{code, message}`; empty for anything else. Never throws. */
export function serverWords(body: Buffer, hidden: Hidden): { code?: string; message?: string } {
  return wordsOf(parsed(body), hidden)
}

/** The same from a parsed body. */
export function wordsOf(body: unknown, hidden: Hidden): { code?: string; message?: string } {
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

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    // SyntaxError: proxies answer with HTML, and the status says enough.
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
