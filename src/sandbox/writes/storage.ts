/** The storage beside the API: upload links with the bytes that arrived, and the files of workers' documents. */
import { randomBytes } from 'node:crypto'
import type { FileType } from '../../lib/file-kind.ts'

/** Seconds for which a link and its token are valid. */
export const uploadSeconds = 900

/** Everything that a token is bound to. */
export interface Grant {
  /** The API key that asked. */
  readonly caller: string
  readonly resource: 'worker' | 'invoice'
  readonly recordId: string
  readonly purpose: string
  readonly agency?: string
  readonly fileName: string
  readonly contentType: FileType
  /** Bytes. */
  readonly size: number
}

export interface Upload extends Grant {
  readonly token: string
  /** The upload's part of the address. It allows uploading the bytes and nothing else. */
  readonly slot: string
  readonly expiresMs: number
  bytes?: Buffer
}

/** Granted uploads by token and by slot. */
export class Uploads {
  readonly #byToken = new Map<string, Upload>()
  readonly #bySlot = new Map<string, Upload>()

  grant(grant: Grant, nowMs: number): Upload {
    this.#forgetExpired(nowMs)
    const upload: Upload = {
      ...grant,
      token: randomBytes(24).toString('base64url'),
      slot: randomBytes(16).toString('hex'),
      expiresMs: nowMs + uploadSeconds * 1000,
    }
    this.#byToken.set(upload.token, upload)
    this.#bySlot.set(upload.slot, upload)
    return upload
  }

  withToken(token: string): Upload | undefined {
    return this.#byToken.get(token)
  }

  inSlot(slot: string): Upload | undefined {
    return this.#bySlot.get(slot)
  }

  /** An hour after they expire, so that a late upload is still told that its link has expired. */
  #forgetExpired(nowMs: number): void {
    for (const upload of this.#byToken.values()) {
      if (nowMs < upload.expiresMs + 3_600_000) break
      this.#byToken.delete(upload.token)
      this.#bySlot.delete(upload.slot)
    }
  }
}

interface KeptFile {
  readonly bytes: Buffer
  readonly type: FileType
}

/** A sandbox left running forgets the bytes of its oldest files. */
const mostBytes = 256 * 1024 * 1024

/** The bytes of files, and the addresses they are served at. */
export class FileStore {
  readonly #files = new Map<string, KeptFile>()
  #bytes = 0
  /** Scheme and host; known once the sandbox listens. */
  origin = ''

  /** Returns the address of the file. */
  keep(bytes: Buffer, type: FileType): string {
    const id = randomBytes(12).toString('hex')
    this.#files.set(id, { bytes, type })
    this.#bytes += bytes.length
    for (const [oldest, file] of this.#files) {
      if (this.#bytes <= mostBytes) break
      this.#files.delete(oldest)
      this.#bytes -= file.bytes.length
    }
    return `${this.origin}/storage/files/${id}`
  }

  get(id: string): KeptFile | undefined {
    return this.#files.get(id)
  }
}
