/** Stores files beside the API: upload links with the bytes that arrived, and the files of workers' documents. */
import { randomBytes } from 'node:crypto'
import { hourMs } from '../../lib/dates.ts'
import type { FileType } from '../../lib/file-kind.ts'

/** Seconds for which a link and its token are valid. */
export const uploadSeconds = 900

/** Everything that a token is bound to. */
interface UploadGrant {
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

export interface GrantedUpload extends UploadGrant {
  readonly token: string
  /** The upload's part of the address. It allows uploading the bytes and nothing else. */
  readonly slot: string
  readonly expiresMs: number
  bytes?: Buffer
}

export class Uploads {
  #granted: readonly GrantedUpload[] = []

  grant(grant: UploadGrant, nowMs: number): GrantedUpload {
    const upload: GrantedUpload = {
      ...grant,
      token: randomBytes(24).toString('base64url'),
      slot: randomBytes(16).toString('hex'),
      expiresMs: nowMs + uploadSeconds * 1000,
    }
    // Links stay for an hour after they expire, so that the answer to a late upload can say that its link has expired.
    const known = this.#granted.filter(({ expiresMs }) => nowMs < expiresMs + hourMs)
    this.#granted = [...known, upload]
    return upload
  }

  withToken(token: string): GrantedUpload | undefined {
    return this.#granted.find(upload => upload.token === token)
  }

  inSlot(slot: string): GrantedUpload | undefined {
    return this.#granted.find(upload => upload.slot === slot)
  }
}

interface StorageFile {
  readonly bytes: Buffer
  readonly type: FileType
}

/** A sandbox left running forgets the bytes of its oldest files. */
const maxBytes = 256 * 1024 * 1024

/** The bytes of files, and the addresses they are served at. */
export class FileStore {
  readonly #files = new Map<string, StorageFile>()
  #bytes = 0
  /** Scheme and host; known once the sandbox listens. */
  origin = ''

  /** Returns the address of the file. */
  keep(bytes: Buffer, type: FileType): string {
    const id = randomBytes(12).toString('hex')
    this.#files.set(id, { bytes, type })
    this.#bytes += bytes.length
    for (const [oldest, file] of this.#files) {
      if (this.#bytes <= maxBytes) break
      this.#files.delete(oldest)
      this.#bytes -= file.bytes.length
    }
    return `${this.origin}/storage/files/${id}`
  }

  get(id: string): StorageFile | undefined {
    return this.#files.get(id)
  }
}
