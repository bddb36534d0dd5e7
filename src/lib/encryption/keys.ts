/** Keys for encryption as people keep them: 32 random bytes in hexadecimal or base64, one a line. */

const keyBytes = 32

function keyIn(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined
  return bytes?.length === keyBytes ? bytes : undefined
}

/** Undefined when one of them is none. The first one encrypts, all decrypt. */
export function keysIn(text: string): readonly Buffer[] | undefined {
  const keys = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(keyIn)
  return keys.length > 0 && keys.every(key => key !== undefined) ? keys : undefined
}
