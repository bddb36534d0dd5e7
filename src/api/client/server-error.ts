/**
 * The service's own words in an error body; only the 409 shape is in the contract, so others are read
 * tolerantly.
 */
import { type Hidden, harmless } from './redact.ts'

/**
 * `{error: {code, message}}`, `{error: 'text'}` or `{code, message}`; anything else gives nothing. Never
 * throws.
 */
export function serverWords(body: Buffer, hidden: Hidden): { code?: string; message?: string } {
  return wordsOf(parsed(body), hidden)
}

/** The same from a body that is parsed already. */
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
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
