/** The beginning and the end of a file of this machine. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { readAtOnce } from '../lib/input-file.ts'
import type { Edges } from './store.ts'

export function edgesOf(file: string, length: number): Edges {
  const opened = openSync(file, readAtOnce)
  try {
    const { size } = fstatSync(opened)
    const read = (position: number): string => {
      const room = Buffer.alloc(length)
      return room.toString('latin1', 0, readSync(opened, room, 0, length, Math.max(0, position)))
    }
    return { start: read(0), end: read(size - length) }
  } finally {
    closeSync(opened)
  }
}
