/** Temporary upload links: what each token was given out for, and the bytes that arrived. */
import { randomBytes } from 'node:crypto'
import type { FileType } from '../../lib/file-kind.ts'

/** Seconds that a link and its token are good for. */
export const UPLOAD_SECONDS = 900

/** All that a token is bound to. */
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
  /** Names the upload in its address; knowing it lets anyone put bytes there, nothing else. */
  readonly slot: string
  readonly expiresMs: number
  bytes?: Buffer
}

export class UploadDesk {
  readonly #byToken = new Map<string, Upload>()
  readonly #bySlot = new Map<string, Upload>()

  grant(grant: Grant, nowMs: number): Upload {
    this.#forgetExpired(nowMs)
    const upload: Upload = {
      ...grant,
      token: randomBytes(24).toString('base64url'),
      slot: randomBytes(16).toString('hex'),
      expiresMs: nowMs + UPLOAD_SECONDS * 1000,
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

  /** An hour late, so that whoever comes too late is told so. */
  #forgetExpired(nowMs: number): void {
    for (const upload of this.#byToken.values()) {
      if (nowMs < upload.expiresMs + 3_600_000) break
      this.#byToken.delete(upload.token)
      this.#bySlot.delete(upload.slot)
    }
  }
}
