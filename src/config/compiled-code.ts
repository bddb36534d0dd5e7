/** Keeps compiled code from one start of the program to the next, where Node can: since 22.1. */
import * as module from 'node:module'
import { join } from 'node:path'
import { readEnvironment } from './environment.ts'

const { enableCompileCache: enable } = module as { enableCompileCache?: (folder: string) => unknown }

/** In the user's own folder: code in the shared folder for temporary files could be anybody's. A folder that cannot be written is no failure. */
export function keepCompiledCode(): void {
  const { XDG_CACHE_HOME, HOME } = readEnvironment()
  const caches = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'))
  if (caches) enable?.(join(caches, 'muster', 'compiled'))
}
