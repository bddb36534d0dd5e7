/** Only regular files are read: opening a pipe waits for somebody to write to it, and no signal is heard meanwhile. */
import { type Stats, statSync } from 'node:fs'

const absent = ['ENOENT', 'ENOTDIR', 'ELOOP']

/** Links are followed. Undefined for anything else, and for nothing. */
export function regularFile(path: string): Stats | undefined {
  try {
    const found = statSync(path)
    return found.isFile() ? found : undefined
  } catch (error) {
    if (absent.includes(String((error as NodeJS.ErrnoException).code))) return undefined
    throw error
  }
}
