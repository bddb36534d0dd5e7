/** The bytes of the files that workers' documents are made of, and the addresses they are served at. */
import { randomBytes } from 'node:crypto'
import type { FileType } from '../../lib/file-kind.ts'

interface Kept {
  readonly bytes: Buffer
  readonly type: FileType
}

/** A sandbox left running forgets the bytes of its oldest files. */
const KEPT_BYTES = 256 * 1024 * 1024

export class FileStore {
  readonly #files = new Map<string, Kept>()
  #bytes = 0
  /** Scheme and host; known once the sandbox listens. */
  origin = ''

  /** The address of the file from now on. */
  keep(bytes: Buffer, type: FileType): string {
    const id = randomBytes(12).toString('hex')
    this.#files.set(id, { bytes, type })
    this.#bytes += bytes.length
    for (const [oldest, file] of this.#files) {
      if (this.#bytes <= KEPT_BYTES) break
      this.#files.delete(oldest)
      this.#bytes -= file.bytes.length
    }
    return `${this.origin}/storage/files/${id}`
  }

  get(id: string): Kept | undefined {
    return this.#files.get(id)
  }
}
