/**
 * Encrypted files of a landing: AES-256-GCM in chunks.
 *
 * A file is eight letters, the id of a key (8 bytes), a salt (16), and chunks, each with its tag (16). It has a key of its own,
 * made of the salt, so that nonces can count: chunk n has n, and whether it is the last. So chunks that are cut off, repeated or
 * in another order are found.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { keysIn } from '../lib/encryption/keys.ts'
import { ConfigError } from '../lib/errors.ts'
import type { LandingStore } from './store.ts'

const letters = Buffer.from('MUSTERE1')
const [idBytes, saltBytes, tagBytes] = [8, 16, 16]
const headerBytes = letters.length + idBytes + saltBytes
const chunkBytes = 1_048_576
const cipher = 'aes-256-gcm'

/** Says nothing about the key, as it is one way. */
const idOf = (key: Buffer): string =>
  createHmac('sha256', key).update('id of a key for landed pages').digest().toString('hex', 0, idBytes)

const fileKey = (key: Buffer, salt: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', key, salt, 'landed file', 32))

function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(index, 4)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** Where the chunks of so many bytes begin; nothing at all is one chunk as well. */
const starts = (bytes: number, step: number): number[] =>
  Array.from({ length: Math.max(1, Math.ceil(bytes / step)) }, (_, index) => index * step)

/** The id of the key in the header; undefined for bytes that are not encrypted by this program. */
const keyIdIn = (bytes: Buffer): string | undefined =>
  bytes.subarray(0, letters.length).equals(letters) && bytes.length >= headerBytes + tagBytes
    ? bytes.toString('hex', letters.length, letters.length + idBytes)
    : undefined

const damaged = (why: string, cause?: unknown): SyntaxError =>
  new SyntaxError(`it cannot be decrypted: ${why}`, { cause })

/** One clear line, as no page is damaged. */
function lacksKey(id: string, keys: LandingKeys | undefined): ConfigError {
  const has = keys ? `landingKey is another one (${keys.ids.join(', ')})` : 'there is no landingKey'
  return new ConfigError({
    what: `landed pages are encrypted with the key ${id}, and ${has}`,
    next: 'set landingKey or landingKeyFile to that key; a file may hold several, one a line, of which the first one encrypts',
  })
}

export class LandingKeys {
  readonly #keys: ReadonlyMap<string, Buffer>
  readonly #current: Buffer

  /** `text` was checked when the settings were read. */
  constructor(text: string) {
    const keys = keysIn(text) ?? []
    const [first] = keys
    if (!first) throw new ConfigError({ what: 'there is no key for landed pages', next: 'set landingKey' })
    this.#keys = new Map(keys.map(key => [idOf(key), key]))
    this.#current = first
  }

  get ids(): readonly string[] {
    return [...this.#keys.keys()]
  }

  /** Of the key that encrypts. */
  get id(): string {
    return idOf(this.#current)
  }

  has(id: string): boolean {
    return this.#keys.has(id)
  }

  encrypt(bytes: Buffer): Buffer {
    const salt = randomBytes(saltBytes)
    const header = Buffer.concat([letters, Buffer.from(this.id, 'hex'), salt])
    const key = fileKey(this.#current, salt)
    const parts = starts(bytes.length, chunkBytes).flatMap((from, index) => {
      const chunk = createCipheriv(cipher, key, nonceOf(index, from + chunkBytes >= bytes.length))
      chunk.setAAD(header)
      return [chunk.update(bytes.subarray(from, from + chunkBytes)), chunk.final(), chunk.getAuthTag()]
    })
    return Buffer.concat([header, ...parts])
  }

  /** Throws SyntaxError for bytes that are not as they were written, and ConfigError for those of a key that is not here. */
  decrypt(bytes: Buffer): Buffer {
    const id = keyIdIn(bytes)
    if (id === undefined) throw damaged('it does not begin as an encrypted file does')
    const key = this.#keys.get(id)
    if (!key) throw lacksKey(id, this)
    const header = bytes.subarray(0, headerBytes)
    const own = fileKey(key, header.subarray(-saltBytes))
    const body = bytes.subarray(headerBytes)
    const step = chunkBytes + tagBytes
    const parts = starts(body.length, step).map((from, index) => {
      const chunk = body.subarray(from, from + step)
      return decryptChunk(own, { chunk, header, nonce: nonceOf(index, from + step >= body.length) })
    })
    return Buffer.concat(parts)
  }
}

interface Chunk {
  readonly chunk: Buffer
  readonly header: Buffer
  readonly nonce: Buffer
}

function decryptChunk(key: Buffer, { chunk, header, nonce }: Chunk): Buffer {
  if (chunk.length < tagBytes) throw damaged('it breaks off')
  const decipher = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes })
  decipher.setAAD(header)
  decipher.setAuthTag(chunk.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(chunk.subarray(0, -tagBytes)), decipher.final()])
  } catch (error) {
    throw damaged('its bytes were changed, or it breaks off', error)
  }
}

/** How encrypted pages of a landing become what was received; without keys none do. */
export const decryptWith =
  (keys: LandingKeys | undefined) =>
  (bytes: Buffer): Buffer => {
    if (keys) return keys.decrypt(bytes)
    throw lacksKey(keyIdIn(bytes) ?? 'that is in none of them', keys)
  }

/** Of a file's first bytes as letters of Latin 1: whether the key that encrypts now has encrypted it. */
export const isOfKey = (start: string, keys: LandingKeys): boolean =>
  keyIdIn(Buffer.from(start, 'latin1')) === keys.id

/** As many bytes tell it. */
export const keyBytes = headerBytes + tagBytes

/** In a landing whose pages are encrypted: the key of the last one. Without it, a setting that is lost would go unnoticed. */
const noteName = 'encryption.json'

/** The id of the key of a landing; undefined when nothing was encrypted there. */
export async function notedKey(store: LandingStore): Promise<string | undefined> {
  const note = await store.read(noteName)
  if (!note) return undefined
  const [, id] = /"key": ?"([0-9a-f]{16})"/.exec(note.toString('utf8')) ?? []
  return id ?? `that ${noteName} names no more`
}

export async function noteKey(store: LandingStore, { id }: LandingKeys): Promise<void> {
  if ((await notedKey(store)) === id) return
  const text = JSON.stringify({
    key: id,
    cipher,
    note: 'pages and archives here are encrypted with this key',
  })
  // Several lists note it side by side, also of several processes.
  await store.replace(noteName, Buffer.from(text))
}

/** Throws ConfigError. */
export async function requireKey(store: LandingStore, keys: LandingKeys | undefined): Promise<void> {
  const id = await notedKey(store)
  if (id !== undefined && !keys?.has(id)) throw lacksKey(id, keys)
}
