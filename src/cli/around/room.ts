/** The reserve of the disk for commands that can do without settings: theirs, where there are some, or the usual one. */
import { dirname } from 'node:path'
import { reserveOf } from '../../app/connection/room.ts'
import { requireFree } from '../../temporary/free-space.ts'
import type { CommandContext } from '../context.ts'
import { readableSettings } from '../guarded.ts'

const usualBytes = 256 * 1_048_576

/** The largest of all connections, as nobody says which of them a file is for. */
function reserveIn(context: CommandContext): number {
  const connections = [...(readableSettings(context)?.connections.values() ?? [])]
  return connections.length === 0 ? usualBytes : Math.max(...connections.map(reserveOf))
}

/** Throws DiskFull when a file of so many bytes would take from the reserve. */
export function requireRoomFor(context: CommandContext, file: string, bytes = 0): void {
  requireFree(dirname(file), reserveIn(context) + bytes)
}
