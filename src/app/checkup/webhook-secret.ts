/** Whether a signing secret could be guessed: whoever has it can send events about any record. */
import { counted } from '../../lib/counted.ts'

/** 128 bits at best; services give 32 bytes or more. */
const leastBytes = 16
const leastCharacters = 8

const isVariable = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/
const placeholder = /change.?me|replace.?me|^your\b|placeholder|example/i

/** What is weak about it, without a character of it; undefined for one that is not known to be weak. */
export function weaknessOf(secret: string, headerPrefix: string): string | undefined {
  const bytes = Buffer.byteLength(secret)
  if (bytes < leastBytes) return `has ${counted(bytes, 'byte')}, fewer than ${leastBytes}`
  if (new Set(secret).size < leastCharacters) return `has fewer than ${leastCharacters} different characters`
  if (/^\d+$/.test(secret)) return 'has digits only'
  if (secret.toLowerCase().startsWith(headerPrefix.toLowerCase())) return 'begins like the headers'
  if (isVariable.test(secret)) return 'is the name of a variable'
  return placeholder.test(secret) ? 'is a placeholder' : undefined
}
